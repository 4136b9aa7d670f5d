import { describe, expect, it } from "vitest";
import { callsInFlightMax } from "../../core/limits.ts";
import { err, ok } from "../../core/result.ts";
import type { Grant, RunEvent } from "../../core/event.ts";
import type { ToolContract } from "../../core/contract.ts";
import { exactly } from "../../core/label.ts";
import {
  contract,
  dispatch,
  frameOf,
  must,
  option,
  pattern,
  rule,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import { type Q, contextOf, reservedHeld } from "./state.ts";
import { type Frame, next } from "./transition.ts";
import { firedSlots } from "./verdicts.ts";

const frame = frameOf({});
const look = contract("look");
const plain = { kind: "at-most", of: tool("y"), count: 2 } as const;

describe("grants", () => {
  const grant = (purpose: string, expiresAt: number): Grant => ({
    kind: "consent",
    digest: "d",
    purpose,
    principal: "ann",
    expiresAt,
  });
  const granted = (one: Grant, at: number): RunEvent => ({ at, kind: "granted", grant: one });

  it("add up, and those that have ended are dropped when the next one comes", () => {
    const first = must(frame, start(frame), granted(grant("a", 10), 1));
    const second = must(frame, first, granted(grant("b", 30), 9));
    expect(second.grants.map(({ purpose }) => purpose)).toEqual(["a", "b"]);
    const third = must(frame, second, granted(grant("c", 40), 10));
    expect(third.grants.map(({ purpose }) => purpose)).toEqual(["b", "c"]);
  });
});

describe("what is in flight while automata step", () => {
  const privately = exactly(secret);
  const read = contract("read", { does: ["read.local"], output: { label: privately, fields: [] } });
  const holds = { kind: "atLeast", bits: secret } as const;
  const fires = (one: Frame, q: Q, of: ToolContract) =>
    firedSlots({ frame: one, q, option: option(of), at: 2 }, "rule").map(({ at }) => at);
  const release = (call: string): RunEvent => ({
    at: 2,
    kind: "released",
    call,
    server: "s",
    tool: "read",
    how: "pass",
    label: privately,
    fields: [],
  });

  it("arms what would be armed by its result: the read may return before the call acts", () => {
    const after = pattern({ tools: [{ server: "*", tool: "x" }], held: holds });
    const armed = frameOf({
      rules: [rule("R", { tier: "block", temporal: { kind: "absence", after, never: tool("y") } })],
    });
    const [x, y] = [contract("x"), contract("y")];
    const reading = dispatch(armed, start(armed), option(read), 1);
    const acted = dispatch(armed, reading.q, option(x), 1);
    expect(fires(armed, acted.q, y)).toEqual([{ lo: false, hi: true }]);
    // However the read ends, the call was sent while it could still return.
    expect(fires(armed, must(armed, acted.q, { at: 2, kind: "unknown", call: reading.call, cause: "x" }), y)).toEqual([
      { lo: false, hi: true },
    ]);
    expect(fires(armed, dispatch(armed, start(armed), option(x), 1).q, y)).toEqual([]);
    const held = must(armed, reading.q, release(reading.call));
    expect(fires(armed, dispatch(armed, held, option(x), 1).q, y)).toEqual([{ lo: true, hi: true }]);
  });

  it("unlocks nothing that its result would keep locked; a call has no result of its own to wait for", () => {
    const harmless = { kind: "atMost", forbidden: secret } as const;
    const need = pattern({ tools: [{ server: "*", tool: "read" }], held: harmless });
    const gated = frameOf({
      rules: [rule("R", { tier: "must", temporal: { kind: "gate", before: tool("y"), need } })],
    });
    const y = contract("y");
    const done = (q: Q, call: string): Q => must(gated, q, { at: 1, kind: "succeeded", call });
    const first = dispatch(gated, start(gated), option(read), 1);
    expect(fires(gated, done(first.q, first.call), y)).toEqual([]);
    const second = dispatch(gated, first.q, option(read), 1);
    expect(fires(gated, done(second.q, second.call), y)).toEqual([{ lo: false, hi: true }]);
  });

  it("a count that a failure gives back was surely taken: what the state decided then is not decided anew", () => {
    const of = pattern({ tools: [{ server: "*", tool: "y" }], held: holds });
    const limited = frameOf({
      rules: [rule("R", { tier: "block", temporal: { kind: "at-most", of, count: 1 } })],
      // Without a look at the state, the count is given back.
      hazards: [{ id: "H", loss: "", why: "", consent: "never", mode: "enforce", kind: "temporal", temporal: plain }],
    });
    const y = contract("y");
    const early = dispatch(limited, start(limited), option(y), 1);
    const read1 = dispatch(limited, early.q, option(read), 1);
    const held = must(limited, read1.q, release(read1.call));
    const counted = dispatch(limited, held, option(y), 1);
    expect(fires(limited, counted.q, y)).toEqual([{ lo: true, hi: true }]);
    // The first call matched nothing when it was sent, and must not take back what the second one counted.
    const failed = must(limited, counted.q, { at: 2, kind: "failed", call: early.call, noEffect: true });
    expect(fires(limited, failed, y)).toMatchObject([{ hi: true }]);
    const full = (q: Q) => firedSlots({ frame: limited, q, option: option(y), at: 2 }, "hazard").length;
    expect([full(counted.q), full(failed)]).toEqual([1, 0]);
  });
});

describe("calls in flight", () => {
  const allowed = (call: string): RunEvent => ({
    at: 1,
    kind: "dispatched",
    call,
    method: "tools/call",
    option: option(look),
    arguments: {},
    digest: "d",
  });

  it("are limited", () => {
    let q = start(frame);
    for (let index = 0; index < callsInFlightMax; index += 1) q = must(frame, q, allowed(`c${index}`));
    expect(next(frame, q, allowed("one more"))).toEqual(err(`more than ${callsInFlightMax} calls are in flight`));
    const settled = must(frame, must(frame, q, { at: 2, kind: "succeeded", call: "c0" }), {
      at: 2,
      kind: "unknown",
      call: "c0",
      cause: "x",
    });
    expect(next(frame, settled, allowed("one more"))).toMatchObject({ ok: true });
  });

  it("settle once, and only where they were allowed", () => {
    const first = must(frame, start(frame), allowed("c"));
    expect(next(frame, first, allowed("c"))).toEqual(err("call c was dispatched twice"));
    const done = { at: 2, kind: "succeeded", call: "c" } as const;
    const settled = must(frame, first, done);
    expect(settled.inFlight.get("c")).toMatchObject({ settled: true, at: 1 });
    expect(next(frame, settled, done)).toEqual(err("call c settled twice"));
    expect(next(frame, start(frame), done)).toEqual(err("call c settled without having been allowed"));
    const unknown = must(frame, first, { at: 2, kind: "unknown", call: "c", cause: "x" });
    expect([...unknown.inFlight.keys()]).toEqual([]);
    // Of a call that nobody allowed nothing is known already.
    expect(must(frame, unknown, { at: 2, kind: "unknown", call: "d", cause: "x" })).toBe(unknown);
  });

  it("leave the shared part and the automata as they are where they touch neither", () => {
    const q = start(frame);
    expect(must(frame, q, allowed("c"))).toMatchObject({ stores: q.stores, monitors: q.monitors });
    expect(must(frame, q, allowed("c")).stores).toBe(q.stores);
    expect(must(frame, q, allowed("c")).monitors).toBe(q.monitors);
  });

  it("are forgotten at the end of the run, after which only a late release is a move", () => {
    const sent = dispatch(frame, start(frame), option(look), 1);
    const ended = must(frame, sent.q, { at: 2, kind: "ended", cause: "closed" } as RunEvent); // any cause ends it
    expect(ended.inFlight.size).toBe(0);
    expect(next(frame, ended, allowed("late"))).toEqual(err("the run has ended, `dispatched` is not a move of it"));
    expect(next(frame, ended, { at: 3, kind: "succeeded", call: "c" })).toMatchObject({ ok: false });
    const late = { at: 3, kind: "released", server: "s", tool: "look", how: "withhold" } as const;
    const label = exactly(frame.ir.lattice.bottom);
    expect(next(frame, ended, { ...late, call: sent.call, label, fields: [] } as RunEvent)).toEqual(ok(ended)); // any that does not pass
  });

  it("are no matter of events that only tell: the state is the very same", () => {
    const q = start(frame);
    for (const kind of ["begun", "registered", "refused"] as const)
      expect(next(frame, q, { at: 1, kind } as RunEvent)).toEqual(ok(q)); // what else they tell is not looked at
  });
});

describe("what a release brings", () => {
  const privately = exactly(secret);
  const nothing = exactly(frame.ir.lattice.bottom);
  type Release = RunEvent & { readonly kind: "released" };
  const release = (part: Partial<Release> & Pick<Release, "call">): RunEvent => ({
    at: 2,
    kind: "released",
    server: "s",
    tool: "t",
    how: "pass",
    label: nothing,
    fields: [],
    ...part,
  });
  const tooMuch = err("the result would bring more than the call could bring when it was decided");

  it("is held once it passes, and not where it is kept back", () => {
    const read = contract("read", { output: { label: privately, fields: [] } });
    const sent = dispatch(frame, start(frame), option(read), 1);
    const passed = must(frame, sent.q, release({ call: sent.call, label: privately }));
    expect([passed.held, [...passed.inFlight.keys()]]).toEqual([[privately], []]);
    const kept = must(frame, sent.q, release({ call: sent.call, label: privately, how: "withhold" }));
    expect([kept.held, [...kept.inFlight.keys()]]).toEqual([[], []]);
    // What is held already is no change.
    const again = must(frame, passed, release({ call: undefined, label: privately }));
    expect(again).toBe(passed);
  });

  it("is no more than what the call could bring, or what is held already, in the result and in each field", () => {
    const sent = dispatch(frame, start(frame), option(look), 1);
    const field = { pointer: "/title", range: privately };
    expect(next(frame, sent.q, release({ call: sent.call, label: privately }))).toEqual(tooMuch);
    expect(next(frame, sent.q, release({ call: sent.call, fields: [field] }))).toEqual(tooMuch);
    const harmless = { pointer: "/body", range: nothing };
    expect(next(frame, sent.q, release({ call: sent.call, fields: [field, harmless] }))).toEqual(tooMuch);
    expect(next(frame, sent.q, release({ call: sent.call, fields: [harmless] }))).toMatchObject({ ok: true });
    const holding = { ...sent.q, held: [privately] };
    expect(next(frame, holding, release({ call: sent.call, label: privately }))).toMatchObject({ ok: true });
    // A call that is not in flight could bring nothing; what belongs to no call may bring anything.
    expect(next(frame, start(frame), release({ call: "gone", label: privately }))).toEqual(tooMuch);
    expect(must(frame, start(frame), release({ call: undefined, label: privately })).held).toEqual([privately]);
  });

  it("regression: a field that is more restricted than the rest of its result is held, too", () => {
    const nothing = exactly(frame.ir.lattice.bottom);
    const fields = [{ pointer: "/title", label: exactly(secret) }];
    const listing = contract("list", { does: ["read.local"], output: { label: nothing, fields } });
    const reading = dispatch(frame, start(frame), option(listing), 1);
    expect(contextOf(frame.ir, { ...reading.q, held: reservedHeld(frame.ir, reading.q) }).hi).toBe(secret);
    const passed = must(frame, reading.q, {
      at: 2,
      kind: "released",
      call: reading.call,
      server: "s",
      tool: "list",
      how: "pass",
      label: nothing,
      fields: [{ pointer: "/title", range: exactly(secret) }],
    });
    expect(contextOf(frame.ir, passed).hi).toBe(secret);
  });
});

it("a call over the count, let through all the same, takes no earlier one with it when it fails", () => {
  const once = rule("once", { tier: "confirm", temporal: { kind: "at-most", of: tool("y"), count: 1 } });
  const counting = frameOf({ rules: [once] });
  const again = option(contract("y"));
  const first = dispatch(counting, start(counting), again, 1);
  const second = dispatch(counting, first.q, again, 2);
  const failed = must(counting, second.q, { at: 3, kind: "failed", call: second.call, noEffect: true });
  expect(firedSlots({ frame: counting, q: failed, option: again, at: 4 }, "rule")).toHaveLength(1);
  const both = must(counting, failed, { at: 5, kind: "failed", call: first.call, noEffect: true });
  expect(firedSlots({ frame: counting, q: both, option: again, at: 6 }, "rule")).toHaveLength(0);
});
