/** Cases of a tool's labels, seen from the calls: what holds for an argument that fits a case, in part or not at all. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutputContract } from "../../core/contract.ts";
import type { EffectRange } from "../../core/effect.ts";
import { mayCover, mustCover } from "../../core/effect.ts";
import type { Json } from "../../core/json.ts";
import { atMost } from "../../core/label.ts";
import { evaluateTest } from "../argument-tests.ts";
import type { CaseText, EffectsText, PolicyDocument } from "../document.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

type ToolText = NonNullable<PolicyDocument["labels"]>[string];
type Held = { readonly output: OutputContract | undefined; readonly effects: EffectRange | undefined };

/** What holds for a call by its argument `a`, undefined for a call without it; undefined where the labels are refused. */
function heldFor(labels: ToolText): ((a: Json | undefined) => Held) | undefined {
  const document: PolicyDocument = { version: 1, lattice: { categories: ["x", "y"] }, labels: { "s.t": labels } };
  const { policy } = loadPolicy({ file: "p.ts", document }, { loader: () => undefined, hash });
  const statement = policy?.table.entries[0]?.statement;
  if (policy === undefined || statement === undefined) return undefined;
  return (a) => {
    const found = statement.cases?.find(({ predicate }) => {
      const asked = policy.ir.predicates[predicate];
      if (asked?.kind !== "argument") return false;
      return a === undefined ? asked.ifAbsent : evaluateTest(asked.test, a);
    });
    return { output: found?.output ?? statement.output, effects: found?.effects ?? statement.effects };
  };
}

describe("what a raising case does for sure", () => {
  const may = ["write.external", "write.local.delete"];
  const caseOf = (effects: EffectsText, a: CaseText["when"]["arg"][string] = "delete"): readonly CaseText[] => [
    { when: { arg: { a } }, effects },
  ];
  const mustOf = (base: EffectsText, cases: readonly CaseText[], a: Json | undefined): unknown =>
    heldFor({ effects: base, cases })?.(a).effects?.must;

  it("is sure where every part of the argument fits, and neither for a mixed list nor without it", () => {
    const cases = caseOf({ must: ["write.local.delete"], may });
    const base = { must: [], may };
    expect(mustOf(base, cases, "delete")).toEqual(["write.local.delete"]);
    expect(mustOf(base, cases, ["delete", "delete"])).toEqual(["write.local.delete"]);
    expect(mustOf(base, cases, ["delete", "send"])).toEqual([]);
    expect(mustOf(base, cases, undefined)).toEqual([]);
    expect(mustOf(base, cases, "send")).toEqual([]);
  });

  it.each<[EffectsText, EffectsText, readonly string[]]>([
    ["write.local", "write.local.delete", ["write.local"]],
    ["write.local.send", { must: ["write.local.delete"], may: ["write"] }, ["write.local"]],
    ["read.local", ["read.local", "write.local"], ["read.local"]],
    ["write.local", { must: ["write.local"], may: ["write"] }, ["write.local"]],
    ["write.local", { must: [], may: ["write"] }, []],
    [{ must: ["write.local"], may: ["execute"] }, { must: ["read.local"], may: ["execute", "write.local"] }, []],
  ])("is for a missing argument what is done with and without it: %j and %j", (base, effects, must) => {
    expect(mustOf(base, caseOf(effects), undefined)).toEqual(must);
  });

  it("is sure of a call without the argument where that is what the case asks", () => {
    const cases = caseOf({ must: ["write.local.delete"], may }, { present: false });
    expect(mustOf({ must: [], may }, cases, undefined)).toEqual(["write.local.delete"]);
    expect(mustOf({ must: [], may }, cases, "x")).toEqual([]);
  });
});

describe("a case", () => {
  const letters = ["p", "q", "r"];
  const some = fc.subarray(letters, { minLength: 1 });
  const reach = fc.subarray(["write.local", "write.local.delete", "write.external"]);
  const output = (confidentiality: string, ...categories: readonly string[]) => ({
    confidentiality,
    categories,
    trust: "trusted" as const,
  });
  const one: fc.Arbitrary<CaseText> = fc.record(
    {
      when: fc
        .oneof(
          some.map((equals) => ({ equals })),
          some.map((equals) => ({ not: { equals } })),
        )
        .map((a) => ({ arg: { a } })),
      output: fc
        .tuple(fc.constantFrom("public", "sensitive", "private"), fc.subarray(["x", "y"]))
        .map(([level, categories]) => output(level, ...categories)),
      effects: fc.tuple(reach, reach).map(([must, may]) => ({ must, may })),
    },
    { requiredKeys: ["when"] },
  );
  const base = {
    effects: { must: ["write.local"], may: ["write.local", "write.external"] },
    output: output("sensitive", "x"),
  };

  it("law: labels a list, and a call without the argument, no milder than any value, and makes neither do more for sure", () => {
    fc.assert(
      fc.property(one, some, (found, list) => {
        const held = heldFor({ ...base, cases: [found] });
        if (held === undefined) return; // it would both raise and lower
        for (const mixed of [held([...list]), held(undefined)]) {
          for (const value of list) {
            const alone = held(value);
            expect(atMost(alone.output!.label.hi, mixed.output!.label.hi)).toBe(true);
            for (const each of alone.effects!.may) expect(mayCover(each, mixed.effects!.may)).toBe(true);
            for (const each of mixed.effects!.must)
              expect(mustCover(each, [...alone.effects!.must, ...base.effects.must])).toBe(true);
          }
        }
      }),
      { numRuns: runs },
    );
  });
});
