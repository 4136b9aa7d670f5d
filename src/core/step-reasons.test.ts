// What a decision says: which reasons, in which order, how many; and what is said of our own faults.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { engineOf, mechanism, model, reason, stepOf } from "../../test/kit/policy/small-engine.ts";
import { reasonsMax } from "./limits.ts";
import { begin } from "./mechanism.ts";
import { type Obligation, type Reason, settled } from "./opinion.ts";
import { evolve } from "./step.ts";
import type { Verdict } from "./verdict.ts";

const giving = (reasons: readonly Reason[], obligations: readonly Obligation[] = []) => {
  const found = stepOf(engineOf(mechanism("m", { consider: () => settled(reasons, obligations) })));
  if (found.kind !== "decided") throw new Error("nothing was asked");
  return found.decision;
};
const codes = (reasons: readonly Reason[]): readonly string[] => giving(reasons).reasons.map(({ code }) => code);

describe("reasons", () => {
  it("come with those that decided first and those that are only observed last, each part by name", () => {
    expect(
      codes([
        reason({ code: "A", observed: true }),
        reason({ code: "B", verdict: "confirm" }),
        reason({ code: "C" }),
        reason({ code: "D", verdict: "confirm" }),
        reason({ code: "E" }),
        reason({ code: "F", observed: true }),
      ]),
    ).toEqual(["C", "E", "B", "D", "A", "F"]);
  });

  it("law: their order does not depend on the order in which they are given", () => {
    const one = fc.record({
      code: fc.constantFrom("A", "B"),
      verdict: fc.constantFrom<Verdict>("confirm", "deny"),
      rule: fc.constantFrom("r1", "r2"),
    });
    fc.assert(
      fc.property(fc.array(one.map(reason), { maxLength: 6 }), (reasons) => {
        expect(giving(reasons.toReversed())).toEqual(giving(reasons));
      }),
    );
  });

  it("are one where they say the same, and two where rule, verdict, facts or their weight differ", () => {
    expect(codes([reason(), reason()])).toHaveLength(1);
    const other: readonly Partial<Reason>[] = [
      { rule: "R" },
      { verdict: "confirm" },
      { facts: { server: "s" } },
      { observed: true },
    ];
    for (const part of other) {
      const both = giving([reason(part), reason()]).reasons;
      expect(new Set(both)).toEqual(new Set([reason(), reason(part)]));
      expect(giving([reason(), reason(part)]).reasons).toEqual(both);
    }
    const rules = giving([reason({ rule: "B" }), reason({ rule: "A" }), reason()]).reasons;
    expect(rules.map(({ rule }) => rule)).toEqual([undefined, "A", "B"]);
  });

  it("that say the same but for what observing hides stay as they were given", () => {
    const observed = (verdict: Verdict) => reason({ verdict, observed: true });
    for (const given of [
      [observed("confirm"), observed("deny")],
      [observed("deny"), observed("confirm")],
    ])
      expect(giving(given).reasons).toEqual(given);
  });

  it("are cut at the limit, and never before what decided", () => {
    const many = Array.from({ length: reasonsMax + 1 }, (_, index) =>
      reason({ verdict: "confirm", rule: `r${index}` }),
    );
    const decision = giving([...many, reason({ code: "Z" })]);
    expect(decision.reasons).toHaveLength(reasonsMax);
    expect(decision.reasons[0]).toEqual(reason({ code: "Z" }));
  });

  it("of what is only observed say what the verdict would have been", () => {
    expect(giving([reason({ verdict: "confirm" }), reason({ code: "O", observed: true })])).toMatchObject({
      verdict: "confirm",
      enforcedVerdict: "deny",
    });
    expect(giving([])).toEqual({
      verdict: "allow",
      enforcedVerdict: "allow",
      reasons: [],
      obligations: [],
      option: expect.anything(),
    });
  });
});

it("obligations come in the order of their text, each as often as it was stated", () => {
  const hold = (rule: string): Obligation => ({ kind: "hold", rule, since: 0 });
  // A call is judged twice, also as an entry of the list.
  expect(giving([], ["b", "a"].map(hold)).obligations).toEqual(["a", "a", "b", "b"].map(hold));
});

describe("our own faults", () => {
  const fails = (thrown: unknown) => (): never => {
    throw thrown;
  };

  it("refuse, by the name of the mechanism that broke and with nothing else of it", () => {
    const found = stepOf(engineOf(mechanism("broken", { consider: fails(new Error("a bug")) })));
    expect(found).toEqual({
      kind: "decided",
      decision: {
        verdict: "deny",
        enforcedVerdict: "deny",
        reasons: [{ mechanism: "broken", code: "SG-INTERNAL", verdict: "deny", facts: { detail: "a bug" } }],
        obligations: [],
        option: expect.anything(),
      },
    });
  });

  it("before there is an option are those of the core, and say what could not be done", () => {
    const withModel = (part: Partial<typeof model>) => stepOf({ model: { ...model, ...part }, mechanisms: [] });
    const told = (detail: string) => ({
      decision: { verdict: "deny", option: undefined, reasons: [{ mechanism: "core", facts: { detail } }] },
    });
    expect(withModel({ classify: fails("a text") })).toMatchObject(
      told("the call could not be classified: unknown fault"),
    );
    expect(withModel({ unknownLabels: fails(new Error("no labels")) })).toMatchObject(
      told("the call could not be labelled: no labels"),
    );
  });
});

it("memories that stay the same are not copied, and one that changes leaves the run before it as it was", () => {
  const event = { at: 1, kind: "succeeded", call: "c1" } as const;
  const still = engineOf(mechanism("still"), mechanism("idle"));
  const run = begin(still, "r", undefined);
  const same = evolve(still, run, event);
  expect(same.ok && same.value.memories).toBe(run.memories);
  const counting = engineOf(mechanism("still"), mechanism("counts", { remember: (memory) => memory + 1 }));
  const before = begin(counting, "r", undefined);
  const after = evolve(counting, before, event);
  expect(after.ok && [...after.value.memories]).toEqual([
    ["still", 0],
    ["counts", 1],
  ]);
  expect(before.memories.get("counts")).toBe(0);
});
