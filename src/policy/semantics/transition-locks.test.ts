// Locks and permissions of a run: how long they last, for which keys, and what a call that names no readable key does to them.
import { describe, expect, it } from "vitest";
import {
  contract,
  dispatch,
  frameOf,
  must,
  option,
  pattern,
  round,
  rule,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import type { Temporal } from "../ir/ir.ts";
import { type Monitors, type Q, globalKey } from "./state.ts";
import type { Frame } from "./transition.ts";
import { firedSlots } from "./verdicts.ts";

const key = { argument: "to", form: "id", foldLocalPart: false } as const;
const limited = (...temporals: readonly Temporal[]): Frame =>
  frameOf({ rules: temporals.map((temporal, index) => rule(`R${index}`, { tier: "must", temporal })) });
const of = (name: string, keys?: readonly string[]) =>
  option(contract(name), {}, keys === undefined ? {} : { keys: { R0: keys, R1: keys } });
const fires = (frame: Frame, q: Q, x = of("act"), at = 0): readonly string[] =>
  firedSlots({ frame, q, option: x, at }, "rule").map(({ slot, at: { lo, hi } }) => `${slot.id} ${lo}/${hi}`);
const after = (frame: Frame, q: Q, name: string, how: { at: number; keys?: readonly string[] }): Q =>
  round(frame, q, of(name, how.keys), { at: how.at });
const bitsOf = (monitors: Monitors) => [...(monitors[0] ?? [])].map(([name, { bits }]) => [name, bits]);

describe("with time", () => {
  const lock = limited({ kind: "absence", after: tool("arm"), never: tool("act"), until: tool("open"), withinMs: 10 });
  const gate = limited({ kind: "gate", before: tool("act"), need: tool("ask"), relock: tool("close"), withinMs: 10 });

  it("a lock lasts from the last call that armed it, whatever comes in between", () => {
    const armed = after(lock, start(lock), "arm", { at: 1 });
    expect(fires(lock, armed, of("act"), 10)).toEqual(["R0 true/true"]);
    expect(fires(lock, armed, of("act"), 11)).toEqual([]);
    const later = after(lock, after(lock, armed, "look", { at: 4 }), "arm", { at: 6 });
    expect(fires(lock, later, of("act"), 15)).toEqual(["R0 true/true"]);
    expect(fires(lock, after(lock, armed, "look", { at: 6 }), of("act"), 11)).toEqual([]);
    expect(fires(lock, after(lock, armed, "open", { at: 6 }), of("act"), 7)).toEqual([]);
  });

  it("a permission lasts from the last success that gave it, and ends where it is taken back", () => {
    expect(fires(gate, start(gate))).toEqual(["R0 true/true"]);
    const given = after(gate, start(gate), "ask", { at: 1 });
    expect(fires(gate, given, of("act"), 10)).toEqual([]);
    expect(fires(gate, given, of("act"), 11)).toEqual(["R0 true/true"]);
    expect(fires(gate, after(gate, given, "ask", { at: 6 }), of("act"), 15)).toEqual([]);
    expect(fires(gate, after(gate, given, "look", { at: 6 }), of("act"), 11)).toEqual(["R0 true/true"]);
    expect(fires(gate, after(gate, given, "close", { at: 2 }), of("act"), 3)).toEqual(["R0 true/true"]);
  });

  it("a permission is not made longer by a call of which nobody knows that it gives one", () => {
    const need = { ...tool("ask"), predicates: [{ index: 5, holds: true }] };
    const asked = limited({ kind: "gate", before: tool("act"), need, withinMs: 10 });
    const ask = (q: Q, at: number, truths: ReadonlyMap<number, boolean>): Q =>
      round(asked, q, { ...of("ask"), class: { ...of("ask").class, truths } }, { at });
    const given = ask(start(asked), 1, new Map([[5, true]]));
    expect(fires(asked, given, of("act"), 10)).toEqual([]);
    expect(fires(asked, ask(given, 6, new Map()), of("act"), 12)).toEqual(["R0 true/true"]);
  });

  it("a permission comes with the success and no sooner", () => {
    const sent = dispatch(gate, start(gate), of("ask"), 1);
    expect(fires(gate, sent.q, of("act"), 2)).toEqual(["R0 true/true"]);
    const done = must(gate, sent.q, { at: 8, kind: "succeeded", call: sent.call });
    expect(fires(gate, done, of("act"), 17)).toEqual([]);
    const failed = must(gate, sent.q, { at: 8, kind: "failed", call: sent.call, noEffect: true });
    expect(fires(gate, failed, of("act"), 9)).toEqual(["R0 true/true"]);
  });

  it("a debt of several steps rises by one and is met at once", () => {
    const owed = limited({ kind: "owed", after: tool("arm"), owe: tool("pay"), within: 2 });
    const step = (q: Q, name: string) => round(owed, q, option(contract(name, { consequential: true })), { at: 1 });
    const armed = step(start(owed), "arm");
    expect(bitsOf(armed.monitors.hi)).toEqual([[globalKey, [true, false]]]);
    const used = step(armed, "act");
    expect(bitsOf(used.monitors.hi)).toEqual([[globalKey, [true, true]]]);
    expect(bitsOf(step(used, "pay").monitors.hi)).toEqual([[globalKey, [false, false]]]);
  });
});

describe("for keys", () => {
  const lock = limited({ kind: "absence", after: tool("arm"), never: tool("act"), key });
  const gate = limited({ kind: "gate", before: tool("act"), need: tool("ask"), relock: tool("close"), key });

  it("a call that names no readable key arms for all, and gives no permission", () => {
    const armed = after(lock, start(lock), "arm", { at: 1, keys: [] });
    expect([bitsOf(armed.monitors.hi), bitsOf(armed.monitors.lo)]).toEqual([[[globalKey, [true]]], []]);
    const asked = after(gate, start(gate), "ask", { at: 1, keys: [] });
    expect([bitsOf(asked.monitors.hi), bitsOf(asked.monitors.lo)]).toEqual([[], []]);
  });

  it("it takes every permission back that it may mean, though none for certain", () => {
    const given = after(gate, start(gate), "ask", { at: 1, keys: ["x", "y"] });
    expect(fires(gate, given, of("act", ["x"]), 2)).toEqual([]);
    const closed = after(gate, given, "close", { at: 2, keys: [] });
    for (const one of ["x", "y"]) expect(fires(gate, closed, of("act", [one]), 3)).toEqual(["R0 false/true"]);
    const named = after(gate, given, "close", { at: 2, keys: ["x"] });
    expect(fires(gate, named, of("act", ["x"]), 3)).toEqual(["R0 true/true"]);
    expect(fires(gate, named, of("act", ["y"]), 3)).toEqual([]);
  });

  it("a call that an automaton has nothing to do with leaves its cells as they are", () => {
    for (const frame of [lock, gate, limited({ kind: "at-most", of: tool("act"), count: 2, key })]) {
      for (const keys of [[], ["x"]]) {
        const q = start(frame);
        const moved = after(frame, q, "look", { at: 1, keys });
        expect(moved.monitors.hi[0]).toBe(q.monitors.hi[0]);
        expect(moved.monitors.lo[0]).toBe(q.monitors.lo[0]);
      }
    }
  });
});

it("a failure gives no count back whose pattern looks at the state, for the state has moved on", () => {
  const stores = [{ name: "box", audience: 1, initial: { lo: 0, hi: 0 } as never }];
  const counts = (part: Parameters<typeof pattern>[0]) => {
    const frame = frameOf({
      stores,
      rules: [rule("R", { tier: "block", temporal: { kind: "at-most", of: pattern(part), count: 1 } })],
    });
    const sent = dispatch(frame, start(frame), of("act"), 1);
    const failed = must(frame, sent.q, { at: 2, kind: "failed", call: sent.call, noEffect: true });
    return [bitsOf(failed.monitors.lo), bitsOf(failed.monitors.hi)].flat();
  };
  const taken = [globalKey, [true]];
  const given = [globalKey, [false]];
  expect(counts({})).toEqual([given, given]);
  // What is certain is given back all the same: it only says whether to refuse or to ask.
  expect(counts({ stores: [{ store: 0, audience: 1 }] })).toEqual([given, taken]);
});
