// Calls that overlap: whose effect came first is not known, so what unlocks must not gain by it, nor what is timed.
import { describe, expect, it } from "vitest";
import type { CallOption } from "../core/moment.ts";
import { contract, dispatch, frameOf, must, option, rule, start, tool } from "../../test/policy/scene.ts";
import type { Temporal } from "./ir.ts";
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
