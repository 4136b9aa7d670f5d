// What rules, automata, hazards and the default say of one call: at both ends, for each key, in a state that lost its past.
import { describe, expect, it } from "vitest";
import { type LabelRange, exactly } from "../../core/label.ts";
import { ruleKeysMax } from "../../core/limits.ts";
import {
  argument,
  contract,
  dispatch,
  frameOf,
  lattice,
  nothing,
  option,
  pattern,
  round,
  rule,
  secret,
  start,
  tool,
} from "../../../test/kit/policy/scene.ts";
import type { Hazard, Rule, Temporal } from "../ir/ir.ts";
import { type MonitorCell, type Q, globalKey } from "./state.ts";
import type { Frame } from "./transition.ts";
import { type PlainRule, badHazards, defaultAtEnds, firedRules, firedSlots, verdictAt } from "./verdicts.ts";

const act = contract("act", { does: ["write.local"] });
const other = contract("other", { does: ["read.local"] });
const maybe: LabelRange = { lo: nothing, hi: secret };
const key = { argument: "to", form: "id", foldLocalPart: false } as const;
const never = { lo: false, hi: false };
const surely = { lo: true, hi: true };
const possibly = { lo: false, hi: true };

const limited = (temporal: Temporal): Frame => frameOf({ rules: [rule("R", { tier: "block", temporal })] });
const called = (keys?: readonly string[], amount?: string) =>
  option(
    act,
    {},
    {
      ...(keys === undefined ? {} : { keys: { R: keys } }),
      ...(amount === undefined ? {} : { amounts: { R: amount } }),
    },
  );
/** At which ends the only automaton of a frame refuses a call. */
const fires = (frame: Frame, q: Q, x = called(), at = 5) =>
  firedSlots({ frame, q, option: x, at }, "rule")[0]?.at ?? never;

describe("plain rules that fire", () => {
  const holdsSecret = { data: [{ atom: { kind: "atLeast", bits: secret } }] } as const;
  const rules = (["block", "confirm"] as const).map(
    (tier) => rule(tier, { tier, when: pattern(tier === "block" ? holdsSecret : {}) }) as PlainRule, // it has `when`
  );
  const firedWith = (range: LabelRange, asked = rules) => {
    const frame = frameOf({ rules });
    const scene = { frame, q: start(frame), option: option(act, { a: range }), at: 1 };
    return firedRules(scene, asked).map(({ rule: { id }, at }) => [id, at]);
  };

  it("are told in the order of the policy, with the ends at which they do, and others are not told", () => {
    expect(firedWith(exactly(secret))).toEqual([
      ["block", surely],
      ["confirm", surely],
    ]);
    expect(firedWith(maybe)).toEqual([
      ["block", possibly],
      ["confirm", surely],
    ]);
    expect(firedWith(exactly(nothing))).toEqual([["confirm", surely]]);
    expect(firedWith(exactly(secret), [])).toEqual([]);
  });

  it("look at what calls in flight may bring", () => {
    const asked = rule("R", { tier: "block", when: pattern({ held: { kind: "atLeast", bits: secret } }) }) as PlainRule;
    const frame = frameOf({ rules: [asked] });
    const reads = option(contract("read", { output: { label: exactly(secret), fields: [] } }));
    const q = dispatch(frame, start(frame), reads, 1).q;
    expect(firedRules({ frame, q, option: option(act), at: 2 }, [asked]).map(({ at }) => at)).toEqual([surely]);
    expect(firedRules({ frame, q: start(frame), option: option(act), at: 2 }, [asked])).toEqual([]);
  });
});

it("the default is told at both ends", () => {
  const frame = frameOf({});
  const send = contract("send", {
    effects: { must: ["write.external"], may: ["write.external", "execute.local"] },
    rest: argument("recipient", true),
  });
  const labels = { to: { lo: lattice.untrustedBit as LabelRange["lo"], hi: lattice.top } };
  const { lo, hi } = defaultAtEnds({ frame, q: start(frame), option: option(send, labels), at: 1 });
  expect(lo).toEqual({ execute: false, outside: false, untrusted: true, bound: false, untraced: false });
  expect(hi).toEqual({ execute: true, outside: false, untrusted: true, bound: true, untraced: false });
});

it("what holds at both ends has the verdict, what holds at one asks", () => {
  expect(verdictAt(surely, "deny")).toBe("deny");
  expect(verdictAt(possibly, "deny")).toBe("confirm");
  expect(verdictAt(never, "deny")).toBe("allow");
  expect(verdictAt(surely, "confirm")).toBe("confirm");
});

describe("an automaton with keys", () => {
  const once = limited({ kind: "at-most", of: tool("act"), count: 1, key });
  const lock = limited({ kind: "absence", after: tool("other"), never: tool("act"), key, withinMs: 10 });
  const armed = (frame: Frame, keys: readonly string[], at = 1): Q =>
    round(frame, start(frame), option(other, {}, { keys: { R: keys } }), { at });

  it("follows each key by itself; of several keys one refused is enough", () => {
    const q = round(once, start(once), called(["x"]), { at: 1 });
    expect(fires(once, q, called(["x"]))).toEqual(surely);
    expect(fires(once, q, called(["y"]))).toEqual(never);
    expect(fires(once, q, called(["y", "x"]))).toEqual(surely);
    const locked = armed(lock, ["x"]);
    expect(fires(lock, locked, called(["x"]))).toEqual(surely);
    expect(fires(lock, locked, called(["y"]))).toEqual(never);
  });

  it("that an unreadable key armed may be meant for any key, until it expires; nobody knows for certain", () => {
    const q = armed(lock, []);
    expect(fires(lock, q, called(["x"]))).toEqual(possibly);
    expect(fires(lock, q, called(["x"]), 20)).toEqual(never);
    expect(fires(lock, armed(lock, ["x"]), called([]))).toEqual(possibly);
    expect(fires(lock, armed(lock, ["x"]), called([]), 20)).toEqual(never);
    expect(fires(lock, start(lock), called([]))).toEqual(never);
  });

  /** A state in which as many keys are followed as can be, all in the state of a run that has done nothing. */
  const full = (frame: Frame, count = ruleKeysMax): Q => {
    const q = start(frame);
    const opened = frame.slots[0]?.temporal.kind === "gate";
    const cell: MonitorCell = { bits: [opened], since: 1, times: [], amounts: [] };
    const cells = new Map(Array.from({ length: count }, (_, index) => [`k${index}`, cell]));
    return { ...q, monitors: { lo: [cells], hi: [cells] } };
  };
  const budget = limited({ kind: "budget", of: tool("act"), argument: "sum", limit: "10", key });
  const gate = limited({ kind: "gate", before: tool("act"), need: tool("other"), key });

  it("refuses a new key where no more can be followed: every lock closed, every counter full", () => {
    for (const frame of [once, lock, gate]) expect(fires(frame, full(frame), called(["new"]))).toEqual(surely);
    expect(fires(budget, full(budget), called(["new"], "1"))).toEqual(surely);
  });

  it("goes on for the keys that it follows, for the last new one, and where there is no key to read", () => {
    for (const frame of [once, lock, gate]) expect(fires(frame, full(frame), called(["k7"]))).toEqual(never);
    expect(fires(budget, full(budget), called(["k7"], "1"))).toEqual(never);
    for (const frame of [once, lock]) {
      expect(fires(frame, full(frame, ruleKeysMax - 1), called(["new"]))).toEqual(never);
      expect(fires(frame, full(frame), called([]))).toEqual(never);
    }
    expect(fires(gate, full(gate), called([]))).toEqual(surely);
  });

  it("counts under the key for all what has none of its own", () => {
    const q = round(once, start(once), called([]), { at: 1 });
    expect([...(q.monitors.hi[0]?.keys() ?? [])]).toEqual([globalKey]);
    expect(fires(once, q, called([]))).toEqual(surely);
    expect(fires(once, q, called(["x"]))).toEqual(never);
  });
});

describe("a budget", () => {
  const frame = limited({ kind: "budget", of: tool("act"), argument: "sum", limit: "10" });

  it("refuses the call with which it would be overdrawn, and one whose amount cannot be read", () => {
    const spent = round(frame, start(frame), called(undefined, "4"), { at: 1 });
    expect(fires(frame, spent, called(undefined, "6"))).toEqual(never);
    expect(fires(frame, spent, called(undefined, "6.01"))).toEqual(surely);
    expect(fires(frame, start(frame), called())).toEqual(surely);
    expect(fires(frame, start(frame), option(other, {}, { amounts: { R: "11" } }))).toEqual(never);
  });
});

describe("a run whose history was lost", () => {
  const lost = (temporal: Temporal, before?: typeof other) => {
    const frame = limited(temporal);
    const q: Q = { ...start(frame), lost: true };
    return fires(frame, before === undefined ? q : round(frame, q, option(before), { at: 1 }), called(undefined, "1"));
  };

  it("may have shut any lock and filled any counter, which nobody knows for certain", () => {
    expect(lost({ kind: "absence", after: tool("other"), never: tool("act") })).toEqual(possibly);
    expect(lost({ kind: "at-most", of: tool("act"), count: 3 })).toEqual(possibly);
    expect(lost({ kind: "budget", of: tool("act"), argument: "sum", limit: "10" })).toEqual(possibly);
    expect(lost({ kind: "at-most", of: tool("other"), count: 3 })).toEqual(never);
  });

  it("has opened nothing but what it opens from then on", () => {
    for (const kind of ["gate", "immediately"] as const) {
      expect(lost({ kind, before: tool("act"), need: tool("other") })).toEqual(surely);
      expect(lost({ kind, before: tool("act"), need: tool("other") }, other)).toEqual(never);
    }
  });
});

describe("hazards that a call could bring about", () => {
  const common = { loss: "", why: "", consent: "never", mode: "enforce" } as const;
  const after = (id: string, first: string): Hazard => ({
    ...common,
    id,
    kind: "temporal",
    temporal: { kind: "absence", after: tool(first), never: tool("act") },
  });
  const from = { atom: { kind: "atLeast", bits: secret } } as const;
  const flow: Hazard = { ...common, id: "flow", kind: "flow", from, to: tool("act") };
  const call: Hazard = { ...common, id: "call", kind: "call", call: tool("act") };
  const all = [flow, after("after other", "other"), call, after("after third", "third")];
  const rules: readonly Rule[] = [
    // A rule may have the name of a hazard, and fire where the hazard does not.
    rule("after third", { tier: "block", temporal: { kind: "at-most", of: pattern(), count: 0 } }),
  ];
  const frame = frameOf({ rules, hazards: all });
  const told = (q: Q, asked: readonly Hazard[], range = exactly(secret), of = act) =>
    badHazards({ frame, q, option: option(of, { a: range }), at: 5 }, asked).map(({ hazard, at }) => [hazard.id, at]);
  const first = round(frame, start(frame), option(other), { at: 1 });

  it("are told in their order with the ends at which they are, temporal ones by their own automata", () => {
    expect(told(first, all)).toEqual([
      ["flow", surely],
      ["after other", surely],
      ["call", surely],
    ]);
    expect(told(start(frame), all, maybe)).toEqual([
      ["flow", possibly],
      ["call", surely],
    ]);
    expect(told(first, all, exactly(secret), other)).toEqual([]);
  });

  it("are those that are asked about, and no others", () => {
    expect(told(first, [])).toEqual([]);
    expect(told(first, [call])).toEqual([["call", surely]]);
    expect(told(first, [after("after third", "third")])).toEqual([]);
    expect(told(first, [flow, call], exactly(nothing))).toEqual([["call", surely]]);
  });

  it("have automata of their own: those of rules are not theirs", () => {
    const scene = { frame, q: first, option: option(act), at: 5 };
    expect(firedSlots(scene, "rule").map(({ slot }) => slot.id)).toEqual(["after third"]);
    expect(firedSlots(scene, "hazard").map(({ slot }) => slot.id)).toEqual(["after other"]);
    expect(firedSlots(scene, "hazard", [])).toEqual([]);
  });
});
