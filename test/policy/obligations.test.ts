// Debts, order, budgets and outboxes: M1, M2, M4 and counters of formal.md 4.3 at run time.
import { describe, expect, it } from "vitest";
import type { CallOption } from "../../src/core/moment.ts";
import { ruleKeysMax } from "../../src/core/limits.ts";
import { begin, seal } from "../../src/core/mechanism.ts";
import { step } from "../../src/core/step.ts";
import { makeSequence, openDebts } from "../../src/mechanisms/sequence/sequence.ts";
import type { Temporal } from "../../src/policy/ir/ir.ts";
import { type Q, stateOf } from "../../src/policy/semantics/state.ts";
import { type Frame, next } from "../../src/policy/semantics/transition.ts";
import { firedSlots } from "../../src/policy/semantics/verdicts.ts";
import { contract, dispatch, frameOf, must, option, pattern, round, rule, start, tool } from "../kit/policy/scene.ts";
import type { ModelState } from "../../src/core/run.ts";

const pay = contract("pay", { does: ["write.external.pay"] });
const notify = contract("notify", { does: ["write.external.send"] });
const note = contract("note", { does: ["write.local"] });
const look = contract("look", { does: ["read.local"] });

const frameWith = (temporal: Temporal): Frame => frameOf({ rules: [rule("R", { tier: "must", temporal })] });
const refused = (frame: Frame, q: Q, x: CallOption, at = 0): boolean =>
  firedSlots({ frame, q, option: x, at }, "rule").some(({ at: ends }) => ends.hi);

describe("owed before the next calls", () => {
  const frame = frameWith({ kind: "owed", after: tool("pay"), owe: tool("notify"), within: 2 });

  it("lets through what is left of the allowance, reads, and the owed call itself", () => {
    const paid = round(frame, start(frame), option(pay), { at: 1 });
    expect(refused(frame, paid, option(note))).toBe(false);
    const noted = round(frame, paid, option(note), { at: 2 });
    expect(refused(frame, noted, option(note))).toBe(true);
    expect(refused(frame, noted, option(look))).toBe(false);
    expect(refused(frame, noted, option(notify))).toBe(false);
    const told = round(frame, noted, option(notify), { at: 3 });
    expect(refused(frame, told, option(note))).toBe(false);
  });

  it("a failed discharge meets nothing", () => {
    const paid = round(frame, start(frame), option(pay), { at: 1 });
    const tried = round(frame, paid, option(notify), { at: 2, outcome: "failed" });
    expect(openDebts(frame, tried, 3).map((slot) => slot.id)).toEqual(["R"]);
  });

  it("a debt before one sink binds only there", () => {
    const sinkOnly = frameWith({ kind: "owed", after: tool("pay"), owe: tool("notify"), before: tool("note") });
    const paid = round(sinkOnly, start(sinkOnly), option(pay), { at: 1 });
    expect(refused(sinkOnly, paid, option(note))).toBe(true);
    expect(refused(sinkOnly, paid, option(pay))).toBe(false);
  });
});

describe("counters", () => {
  it("at most so many in a window, counted from dispatch", () => {
    const frame = frameWith({ kind: "at-most", of: tool("pay"), count: 2, withinMs: 1_000 });
    const one = dispatch(frame, start(frame), option(pay), 0);
    const two = dispatch(frame, one.q, option(pay), 500);
    expect(refused(frame, two.q, option(pay), 900)).toBe(true);
    expect(refused(frame, two.q, option(pay), 1_000)).toBe(false);
  });

  it("a failure with surely no effect gives back, any other does not", () => {
    const frame = frameWith({ kind: "at-most", of: tool("pay"), count: 1 });
    const sent = dispatch(frame, start(frame), option(pay), 0);
    const none = must(frame, sent.q, { at: 1, kind: "failed", call: sent.call, noEffect: true });
    const some = must(frame, sent.q, { at: 1, kind: "failed", call: sent.call, noEffect: false });
    expect(refused(frame, none, option(pay))).toBe(false);
    expect(refused(frame, some, option(pay))).toBe(true);
  });

  it("too many keys refuse, they do not forget", () => {
    const key = { argument: "to", form: "id", foldLocalPart: true } as const;
    const frame = frameWith({ kind: "at-most", of: tool("pay"), count: 1, key });
    const to = (id: string) => option(pay, {}, { keys: { R: [id] } });
    let q = start(frame);
    for (let index = 0; index < ruleKeysMax; index += 1)
      q = dispatch(frame, round(frame, q, to(`k${index}`), { at: 0 }), option(look), 0).q;
    expect(refused(frame, { ...q, inFlight: new Map() }, to("new"))).toBe(true);
    expect(refused(frame, { ...q, inFlight: new Map() }, to("k0"))).toBe(true);
  });

  it("what takes a permission back takes it from every key where it names none, and unlocks none", () => {
    const key = { argument: "to", form: "id", foldLocalPart: false } as const;
    const frame = frameWith({ kind: "gate", before: tool("pay"), need: tool("look"), relock: tool("note"), key });
    const on = (of: typeof pay, keys: readonly string[]) => option(of, {}, { keys: { R: keys } });
    const looked = round(frame, start(frame), on(look, ["a", "b"]), { at: 1 });
    expect([["a"], ["b"], ["c"], []].map((keys) => refused(frame, looked, on(pay, keys)))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const named = round(frame, looked, on(note, ["a"]), { at: 2 });
    expect([["a"], ["b"]].map((keys) => refused(frame, named, on(pay, keys)))).toEqual([true, false]);
    const unread = round(frame, looked, on(note, []), { at: 2 });
    expect([["a"], ["b"]].map((keys) => refused(frame, unread, on(pay, keys)))).toEqual([true, true]);
    // Neither a success without a key nor one on a key that looks like all of them opens anything else.
    for (const keys of [[], ["*"]]) {
      const tried = round(frame, start(frame), on(look, keys), { at: 1 });
      expect(refused(frame, tried, on(pay, []))).toBe(true);
      expect(refused(frame, tried, on(pay, ["a"]))).toBe(true);
    }
  });

  it("a success on a key beyond those that are followed opens nothing", () => {
    const key = { argument: "to", form: "id", foldLocalPart: false } as const;
    const frame = frameWith({ kind: "gate", before: tool("pay"), need: tool("look"), key });
    const on = (of: typeof pay, keys: readonly string[]) => option(of, {}, { keys: { R: keys } });
    const all = Array.from({ length: ruleKeysMax }, (_, index) => `k${index}`);
    const full = round(frame, start(frame), on(look, all), { at: 1 });
    const more = round(frame, full, on(look, ["new"]), { at: 2 });
    expect(refused(frame, more, on(pay, ["k0"]))).toBe(false);
    expect(refused(frame, more, on(pay, ["new"]))).toBe(true);
    expect(refused(frame, more, on(pay, []))).toBe(true);
  });

  it("budgets sum exactly", () => {
    const frame = frameWith({ kind: "budget", of: tool("pay"), argument: "amount", limit: "0.3" });
    const spend = (amount: string) => option(pay, {}, { amounts: { R: amount } });
    let q = start(frame);
    q = round(frame, q, spend("0.1"), { at: 1 });
    expect(refused(frame, q, spend("0.2"))).toBe(false);
    q = round(frame, q, spend("0.2"), { at: 2 });
    expect(refused(frame, q, spend("0.0001"))).toBe(true);
    expect(refused(frame, start(frame), spend("-1"))).toBe(true);
    expect(refused(frame, start(frame), option(pay))).toBe(true);
  });
});

describe("order", () => {
  it("immediately before means no other call in between", () => {
    const frame = frameWith({ kind: "immediately", before: tool("pay"), need: tool("look") });
    const looked = round(frame, start(frame), option(look), { at: 1 });
    expect(refused(frame, looked, option(pay))).toBe(false);
    expect(refused(frame, round(frame, looked, option(note), { at: 2 }), option(pay))).toBe(true);
  });

  it("a gate locks again, and its permission ends", () => {
    const frame = frameWith({
      kind: "gate",
      before: tool("pay"),
      need: tool("look"),
      relock: tool("note"),
      withinMs: 100,
    });
    const looked = round(frame, start(frame), option(look), { at: 0 });
    expect(refused(frame, looked, option(pay), 99)).toBe(false);
    expect(refused(frame, looked, option(pay), 100)).toBe(true);
    expect(refused(frame, dispatch(frame, looked, option(note), 1).q, option(pay), 2)).toBe(true);
    const again = round(frame, looked, option(look), { at: 90 });
    expect(refused(frame, again, option(pay), 150)).toBe(false);
  });

  it("an absence ends with the call that lifts it", () => {
    const frame = frameWith({ kind: "absence", after: tool("look"), never: tool("pay"), until: tool("note") });
    const looked = round(frame, start(frame), option(look), { at: 1 });
    expect(refused(frame, looked, option(pay))).toBe(true);
    expect(refused(frame, round(frame, looked, option(note), { at: 2 }), option(pay))).toBe(false);
  });
});

describe("what the gateway must do itself", () => {
  const engineOf = (frame: Frame) => ({
    mechanisms: [seal(makeSequence(frame))],
    model: {
      initial: () => start(frame),
      classify: () => option(pay).class,
      unknownLabels: () => new Map(),
      next: (q: ModelState, event: Parameters<typeof next>[2]) => next(frame, stateOf(q), event),
    },
  });
  const call = {
    kind: "call",
    at: 1,
    call: "c",
    method: "tools/call",
    contract: pay,
    arguments: {},
    workspace: [],
    digest: "d",
  } as const;

  it("M3: performs the injected call first", () => {
    const frame = frameWith({
      kind: "inject",
      before: tool("pay"),
      server: "s",
      tool: "snapshot",
      arguments: { of: "ledger" },
    });
    const engine = engineOf(frame);
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    expect(found).toMatchObject({
      decision: { verdict: "allow", obligations: [{ kind: "perform", tool: "snapshot" }] },
    });
  });

  it("M4 hold: keeps the call until the other one succeeded", () => {
    const frame = frameWith({ kind: "by-end", after: tool("pay"), by: tool("notify"), action: "hold" });
    const engine = engineOf(frame);
    const run = begin(engine, "r", undefined);
    expect(step(engine, run, call, new Map())).toMatchObject({
      decision: { obligations: [{ kind: "hold", rule: "R" }] },
    });
    const told = { ...run, q: round(frame, stateOf(run.q), option(notify), { at: 1 }) };
    const waiting = { ...call, heldSince: 0 };
    expect(step(engine, told, waiting, new Map())).toMatchObject({ decision: { obligations: [] } });
  });

  it("M4 report: what is still owed when the run ends is said", () => {
    const frame = frameWith({ kind: "by-end", after: tool("pay"), by: tool("notify"), action: "report" });
    const engine = engineOf(frame);
    const run = { ...begin(engine, "r", undefined), q: round(frame, start(frame), option(pay), { at: 1 }) };
    const end = { kind: "reflect", at: 2, server: undefined, cause: "end" } as const;
    expect(step(engine, run, end, new Map())).toMatchObject({
      decision: { verdict: "confirm", reasons: [{ code: "SG-BY-END" }] },
    });
  });
});

describe("moves", () => {
  const frame = frameWith({ kind: "at-most", of: pattern(), count: 1 });

  it("R3: an event that is no move is an error", () => {
    const q = start(frame);
    const sent = dispatch(frame, q, option(pay), 0);
    expect(next(frame, q, { at: 1, kind: "succeeded", call: "never" }).ok).toBe(false);
    const done = must(frame, sent.q, { at: 1, kind: "succeeded", call: sent.call });
    expect(next(frame, done, { at: 1, kind: "failed", call: sent.call, noEffect: false }).ok).toBe(false);
    const ended = must(frame, q, { at: 2, kind: "ended", cause: "closed" });
    expect(next(frame, ended, { at: 3, kind: "registered", text: { source: "operator", value: 1 } }).ok).toBe(false);
  });

  it("an unknown outcome restricts and unlocks nothing", () => {
    const gate = frameWith({ kind: "gate", before: tool("pay"), need: tool("look") });
    const sent = dispatch(gate, start(gate), option(look), 0);
    const lost = must(gate, sent.q, { at: 1, kind: "unknown", call: sent.call, cause: "crash" });
    expect(refused(gate, lost, option(pay))).toBe(true);
    expect(lost.inFlight.size).toBe(0);
  });
});
