import { describe, expect, it } from "vitest";
import type { CallOption } from "../../core/moment.ts";
import { contract, dispatch, frameOf, must, option, round, rule, start, tool } from "../../../test/kit/policy/scene.ts";
import { ruleKeysMax } from "../../core/limits.ts";
import { holdOf, mayMeet } from "./outbox.ts";
import { type Q, initialState } from "./state.ts";
import { contextAt } from "./transition.ts";
import { sceneAt } from "./verdicts.ts";

const hold = { kind: "by-end", after: tool("del"), by: tool("log"), action: "hold" } as const;
const key = { argument: "id", form: "id", foldLocalPart: false } as const;
const frame = frameOf({ rules: [rule("R", { tier: "must", temporal: hold })] });
const keyed = frameOf({ rules: [rule("R", { tier: "must", temporal: { ...hold, key } })] });
const del = contract("del", { does: ["write.local"] });
const log = contract("log", { does: ["write.local"] });
const look = contract("look", { does: ["read.local"] });
const on = (of: typeof del, ...keys: readonly string[]) => option(of, {}, { keys: { R: keys } });

const held = (of: typeof frame, q: Q, x: CallOption, heldSince?: number) => {
  const [slot] = of.slots;
  const { context: _, ...scene } = sceneAt({ frame: of, q, option: x, at: 9 }, "hi");
  return slot && holdOf(slot, { q, option: x, heldSince }, { context: contextAt(of, "hi"), scene });
};

describe("a rule that holds calls", () => {
  it("counts the dispatches that could let one go, and no other", () => {
    expect([log, look, del].map((of) => mayMeet(frame.slots, option(of)))).toEqual([true, false, false]);
    const report = frameOf({ rules: [rule("R", { tier: "must", temporal: { ...hold, action: "report" } })] });
    expect(mayMeet(report.slots, option(log))).toBe(false);
    expect(dispatch(frame, start(frame), option(look), 1).q.dispatches).toBe(0);
    expect(dispatch(frame, start(frame), option(log), 1).q.dispatches).toBe(1);
  });

  it("holds each call that is asked for, and lets it go by a later success alone", () => {
    const logged = round(frame, start(frame), option(log), { at: 1 });
    expect(held(frame, logged, option(del))).toEqual({ since: 1 });
    expect(held(frame, logged, option(del), 1)).toEqual({ since: 1 });
    expect(held(frame, logged, option(del), 0)).toBeUndefined();
    expect(held(frame, logged, option(look))).toBeUndefined();
  });

  it("a success of a call that was sent before does not count, however late it comes", () => {
    const sent = dispatch(frame, start(frame), option(log), 1);
    const since = held(frame, sent.q, option(del))?.since;
    const late = must(frame, sent.q, { at: 2, kind: "succeeded", call: sent.call });
    expect(held(frame, late, option(del), since)).toEqual({ since: 1 });
  });

  it("an older success that comes last takes nothing back", () => {
    const first = dispatch(frame, start(frame), option(log), 1);
    const second = dispatch(frame, first.q, option(log), 1);
    const newer = must(frame, second.q, { at: 2, kind: "succeeded", call: second.call });
    const both = must(frame, newer, { at: 3, kind: "succeeded", call: first.call });
    expect(held(frame, both, option(del), 1)).toBeUndefined();
  });

  it("a dispatch of what it holds does not overtake a success for others that wait", () => {
    const met = round(frame, start(frame), option(log), { at: 1 });
    const again = dispatch(frame, met, option(log), 2);
    const left = dispatch(frame, again.q, option(del), 2);
    const done = must(frame, left.q, { at: 3, kind: "succeeded", call: again.call });
    expect(held(frame, done, option(del), 1)).toBeUndefined();
  });

  it("each key waits for its own, a list for all of its keys, and what has no key for ever", () => {
    const logged = round(keyed, start(keyed), on(log, "a"), { at: 1 });
    expect([on(del, "a"), on(del, "b"), on(del, "a", "b"), on(del)].map((x) => held(keyed, logged, x, 0))).toEqual([
      undefined,
      { since: 0 },
      { since: 0 },
      { since: 0 },
    ]);
    const unread = round(keyed, start(keyed), on(log), { at: 1 });
    expect(held(keyed, unread, on(del, "a"), 0)).toEqual({ since: 0 });
  });

  it("a key beyond those that are followed is never met", () => {
    const all = Array.from({ length: ruleKeysMax }, (_, index) => `k${index}`);
    const full = round(keyed, round(keyed, start(keyed), on(log, ...all), { at: 1 }), on(log, "new"), { at: 2 });
    expect(held(keyed, full, on(del, "k0"), 0)).toBeUndefined();
    expect(held(keyed, full, on(del, "new"), 0)).toEqual({ since: 0 });
  });

  it("after a lost history the first success that is known lets an older call go", () => {
    const lost = { ...initialState(frame.ir, frame.slots, undefined), lost: true };
    expect(held(frame, lost, option(del), 5)).toEqual({ since: 5 });
    expect(held(frame, round(frame, lost, option(log), { at: 1 }), option(del), 5)).toBeUndefined();
  });
});
