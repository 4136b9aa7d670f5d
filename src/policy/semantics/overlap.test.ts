// Calls that overlap: whose effect came first is not known, so what unlocks must not gain by it, nor what is timed.
import { describe, expect, it } from "vitest";
import { exactly } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import { contract, dispatch, frameOf, must, option, rule, start, tool } from "../../../test/kit/policy/scene.ts";
import type { Temporal } from "../ir/ir.ts";
import type { Q } from "./state.ts";
import type { Frame } from "./transition.ts";
import { firedSlots } from "./verdicts.ts";

const key = { argument: "to", form: "id", foldLocalPart: false } as const;
const limited = (temporal: Temporal): Frame => frameOf({ rules: [rule("R", { tier: "must", temporal })] });
const of = (name: string, keys?: readonly string[]): CallOption =>
  option(contract(name, { consequential: true }), {}, keys === undefined ? {} : { keys: { R: keys } });
const done = (frame: Frame, q: Q, call: string, at = 2): Q => must(frame, q, { at, kind: "succeeded", call });
const fires = (frame: Frame, q: Q, x = of("act"), at = 3): readonly string[] =>
  firedSlots({ frame, q, option: x, at }, "rule").map(({ at: { lo, hi } }) => `${lo}/${hi}`);

/** What a call of `act` meets after `first` was sent, `second` was sent, and those of `settle` have succeeded in turn. */
function overlapping(
  frame: Frame,
  from: Q,
  [first, second]: readonly [CallOption, CallOption],
  settle: readonly ("first" | "second")[],
): Q {
  const one = dispatch(frame, from, first, 1);
  const two = dispatch(frame, one.q, second, 1);
  return settle.reduce((q, which) => done(frame, q, which === "first" ? one.call : two.call), two.q);
}

describe("a success is sure to unlock only where it did not overlap with what locks", () => {
  const gate = limited({ kind: "gate", before: tool("act"), need: tool("ask"), relock: tool("edit") });
  const lock = limited({ kind: "absence", after: tool("arm"), never: tool("act"), until: tool("clear") });
  const debt = limited({ kind: "owed", after: tool("pay"), owe: tool("tell"), within: 1 });
  const next = limited({ kind: "immediately", before: tool("act"), need: tool("ask") });

  it("regression: a permission is not given by a call that what takes it back overtook", () => {
    expect(fires(gate, overlapping(gate, start(gate), [of("ask"), of("edit")], ["first"]))).toEqual(["false/true"]);
    expect(fires(gate, overlapping(gate, start(gate), [of("ask"), of("edit")], ["second", "first"]))).toEqual([
      "false/true",
    ]);
    expect(fires(gate, overlapping(gate, start(gate), [of("ask"), of("look")], ["first"]))).toEqual([]);
  });

  it("regression: nor while what takes it back is still under way", () => {
    expect(fires(gate, overlapping(gate, start(gate), [of("edit"), of("ask")], ["second"]))).toEqual(["false/true"]);
    expect(fires(gate, overlapping(gate, start(gate), [of("edit"), of("ask")], ["first", "second"]))).toEqual([
      "false/true",
    ]);
  });

  it("regression: a lock is not lifted by a call that overlapped with the one that armed it", () => {
    expect(fires(lock, overlapping(lock, start(lock), [of("arm"), of("clear")], ["second"]))).toEqual(["false/true"]);
    expect(fires(lock, overlapping(lock, start(lock), [of("clear"), of("arm")], ["second", "first"]))).toEqual([
      "false/true",
    ]);
  });

  it("regression: a debt is not met by a call that was sent before it was made", () => {
    const early = overlapping(debt, start(debt), [of("tell"), of("pay")], ["first", "second"]);
    expect(fires(debt, early)).toEqual(["false/true"]);
    const due = overlapping(debt, start(debt), [of("pay"), of("tell")], ["second", "first"]);
    expect(fires(debt, due)).toEqual([]);
  });

  it("regression: what must come at once was not the last call if another was sent meanwhile", () => {
    expect(fires(next, overlapping(next, start(next), [of("ask"), of("look")], ["first"]))).toEqual(["false/true"]);
    expect(fires(next, overlapping(next, start(next), [of("look"), of("ask")], ["first", "second"]))).toEqual([]);
  });

  it("for keys: only those that the other call named, and all where it named none that can be read", () => {
    const keyed = limited({ kind: "gate", before: tool("act"), need: tool("ask"), relock: tool("edit"), key });
    const opened = (edit: readonly string[], order: "edit first" | "ask first"): readonly string[] => {
      const [ask, change] = [of("ask", ["x", "y"]), of("edit", edit)];
      const [sent, settle] =
        order === "ask first" ? ([[ask, change], ["first"]] as const) : ([[change, ask], ["second"]] as const);
      const q = overlapping(keyed, start(keyed), sent, settle);
      return ["x", "y"].filter((one) => fires(keyed, q, of("act", [one])).length === 0);
    };
    for (const order of ["edit first", "ask first"] as const) {
      expect(opened(["x"], order)).toEqual(["y"]);
      expect(opened(["z"], order)).toEqual(["x", "y"]);
      expect(opened([], order)).toEqual([]);
    }
  });

  it("however often it is overtaken, a call remembers no more than its own keys", () => {
    const sent = dispatch(gate, start(gate), of("ask"), 1);
    const often = [1, 2, 3].reduce((q, at) => dispatch(gate, q, of("edit"), at).q, sent.q);
    expect(often.inFlight.get(sent.call)?.overtakenBy).toEqual([{ slot: 0, keys: [""] }]);
    const late = dispatch(gate, often, of("ask"), 4);
    expect(late.q.inFlight.get(late.call)?.overtakenBy).toEqual([{ slot: 0, keys: [""] }]);
  });

  it("what has settled is no matter, and a call that comes once nothing is under way unlocks", () => {
    const edit = dispatch(gate, start(gate), of("edit"), 1);
    const asked = dispatch(gate, done(gate, edit.q, edit.call), of("ask"), 2);
    const open = done(gate, asked.q, asked.call);
    expect(fires(gate, open)).toEqual([]);
    // It has unlocked already: what comes now takes that back, and has nothing to keep it from.
    const again = dispatch(gate, open, of("edit"), 3);
    expect(again.q.inFlight.get(asked.call)?.overtakenBy).toEqual([]);
    expect(fires(gate, again.q)).toEqual(["true/true"]);
  });
});

describe("the time of a lock", () => {
  const lock = limited({ kind: "absence", after: tool("arm"), never: tool("act"), until: tool("clear"), withinMs: 10 });
  const release = (q: Q, call: string, at: number, how: "pass" | "reject" = "pass"): Q => {
    const label = exactly(lock.ir.lattice.bottom);
    return must(lock, q, { at, kind: "released", call, server: "s", tool: "arm", how, label, fields: [] });
  };
  const lost = (q: Q, call: string, at: number): Q => must(lock, q, { at, kind: "unknown", call, cause: "late" });

  it("regression: does not run while the call that armed it has no answer, however long its server takes", () => {
    const sent = dispatch(lock, start(lock), of("arm"), 1);
    expect(fires(lock, sent.q, of("act"), 500)).toEqual(["true/true"]);
    const settled = done(lock, sent.q, sent.call, 500);
    expect(fires(lock, settled, of("act"), 600)).toEqual(["true/true"]);
    for (const ended of [release(settled, sent.call, 600), lost(sent.q, sent.call, 600)]) {
      expect(fires(lock, ended, of("act"), 609)).toEqual(["true/true"]);
      expect(fires(lock, ended, of("act"), 610)).toEqual([]);
    }
  });

  it("begins once the last of several has ended", () => {
    const one = dispatch(lock, start(lock), of("arm"), 1);
    const other = dispatch(lock, one.q, of("arm"), 2);
    const first = lost(other.q, one.call, 5);
    expect(fires(lock, first, of("act"), 100)).toEqual(["true/true"]);
    const both = lost(first, other.call, 100);
    expect(fires(lock, both, of("act"), 109)).toEqual(["true/true"]);
    expect(fires(lock, both, of("act"), 110)).toEqual([]);
  });

  it("is over where another call has lifted the lock since, whenever the answer comes", () => {
    const sent = dispatch(lock, start(lock), of("arm"), 1);
    const armed = done(lock, sent.q, sent.call, 2);
    const clear = dispatch(lock, armed, of("clear"), 3);
    const lifted = done(lock, clear.q, clear.call, 4);
    expect(fires(lock, lifted, of("act"), 5)).toEqual([]);
    expect(fires(lock, release(lifted, sent.call, 6), of("act"), 7)).toEqual([]);
  });

  it("for keys: begins for each by itself, and for all where the call named none that can be read", () => {
    const keyed = limited({ kind: "absence", after: tool("arm"), never: tool("act"), withinMs: 10, key });
    const late = (q: Q, call: string, at: number): Q => must(keyed, q, { at, kind: "unknown", call, cause: "late" });
    const shut = (q: Q, at: number): readonly string[] =>
      ["x", "y", "z"].filter((one) => fires(keyed, q, of("act", [one]), at).length > 0);
    const one = dispatch(keyed, start(keyed), of("arm", ["x", "y"]), 1);
    const two = dispatch(keyed, one.q, of("arm", ["y"]), 2);
    const first = late(two.q, one.call, 5);
    expect([shut(first, 14), shut(first, 15)]).toEqual([["x", "y"], ["y"]]);
    const any = dispatch(keyed, late(first, two.call, 20), of("arm", []), 21);
    expect(shut(any.q, 99)).toEqual(["x", "y", "z"]);
    const ended = late(any.q, any.call, 99);
    expect([shut(ended, 108), shut(ended, 109)]).toEqual([["x", "y", "z"], []]);
  });
});
