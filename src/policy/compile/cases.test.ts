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
import { togetherMax } from "./cases.ts";
import { isAbove } from "./outputs.ts";

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
    const holding = (statement.cases ?? []).filter(({ predicates }) =>
      predicates.every((index) => {
        const asked = policy.ir.predicates[index];
        if (asked?.kind !== "argument") return false;
        return a === undefined ? asked.ifAbsent : evaluateTest(asked.test, a);
      }),
    );
    return {
      output: holding.find((one) => one.output !== undefined)?.output ?? statement.output,
      effects: holding.find((one) => one.effects !== undefined)?.effects ?? statement.effects,
    };
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

/** How a call without the argument is classed: a case that raises holds for it, one that lowers does not. */
function heldByAbsence(labels: string): boolean | undefined {
  const text = `version: 1\nlabels: {files.read: {${labels}}}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy.table.entries[0]?.statement.cases?.some(({ predicates }) =>
    predicates.every((index) => {
      const asked = policy.ir.predicates[index];
      return asked?.kind === "argument" && asked.ifAbsent;
    }),
  );
}

const label = (level: string): string => `{confidentiality: ${level}, trust: trusted}`;
const outputOf = (level: string, fields = ""): string =>
  `output: {confidentiality: ${level}, trust: trusted, fields: {${fields}}}`;
const when = "when: {arg: {path: {glob: '/open/**'}}}";

it.each<[string, string, boolean]>([
  [outputOf("public"), outputOf("private"), true],
  [outputOf("private"), outputOf("public"), false],
  [outputOf("public", `/a: ${label("public")}`), outputOf("public", `/a: ${label("private")}`), true],
  [outputOf("public", `/a: ${label("private")}`), outputOf("public", `/a: ${label("public")}`), false],
  // A field that is no longer named has the label of what is around it.
  [outputOf("public", `/a: ${label("private")}`), outputOf("public"), false],
  [outputOf("private"), outputOf("private", `/a: ${label("public")}`), false],
  [outputOf("public", `/a: ${label("public")}`), outputOf("private", `/b: ${label("private")}`), true],
  // An argument that no longer reaches a field takes its label with it.
  [outputOf("public"), outputOf("public", "/a: {confidentiality: public, trust: trusted, from: []}"), false],
  [
    outputOf("public", "/a: {confidentiality: public, trust: trusted, from: []}"),
    outputOf("public", "/a: {confidentiality: private, trust: trusted, from: [path]}"),
    true,
  ],
  ["effects: write.local", "effects: write.local.delete", true],
  ["effects: [write.local]", "effects: write", true],
  // Of what nothing is said anything could be: a case that says something lowers it, unless it names all there is.
  ["", outputOf("private"), false],
  ["effects: read.local", outputOf("public"), false],
  ["", "effects: {must: [], may: [read, write, execute]}", true],
  ["", "effects: [write.local]", false],
  [`${outputOf("private")}, effects: write.local`, `${outputOf("public")}, effects: []`, false],
  [`${outputOf("public")}, effects: read.local`, `${outputOf("private")}, effects: [read.local, write.local]`, true],
  // `write` is also `write.external`, which a case for local writes leaves out.
  ["effects: write", "effects: write.local", false],
])("a case of %s with %s holds for an absent argument: %s", (base, found, expected) => {
  expect(heldByAbsence(`${base === "" ? "" : `${base}, `}cases: [{${when}, ${found}}]`)).toBe(expected);
});

it("a case is two only where it is surer of something than what holds without it", () => {
  const casesOf = (labels: ToolText): unknown => {
    const document: PolicyDocument = { version: 1, labels: { "s.t": labels } };
    const { policy } = loadPolicy({ file: "p.ts", document }, { loader: () => undefined, hash });
    return policy?.table.entries[0]?.statement.cases;
  };
  const when = { arg: { a: "x" } };
  const may = ["write.external", "write.local"];
  const effects = { must: ["write.local"], may };
  expect(casesOf({ effects: "write.local", cases: [{ when, effects }] })).toEqual([{ predicates: [1], effects }]);
  expect(casesOf({ effects, cases: [{ when, effects: "write.local" }] })).toEqual([
    { predicates: [1], effects: { must: ["write.local"], may: ["write.local"] } },
  ]);
  expect(casesOf({ effects: [], cases: [{ when, effects }] })).toEqual([
    { predicates: [2], effects },
    { predicates: [1], effects: { must: [], may } },
  ]);
  const output = { label: { lo: 3, hi: 3 }, fields: [] };
  const said = { confidentiality: "private", categories: [], readers: ["me", "anyone"], trust: "trusted" as const };
  expect(casesOf({ output: { ...said, confidentiality: "public" }, cases: [{ when, output: said }] })).toEqual([
    { predicates: [1], output },
  ]);
});

it.each([
  ["{when:\n      {arg: {p: x, q: y}}}", "CASE", 6, "a case tests exactly one argument", "split it into several cases"],
  [
    "{when: {arg: {p: x}}, effects: [], output: private}",
    "CASE",
    5,
    "the case neither only raises nor only lowers the labels outside it",
    "make its output and effects both stricter, or both milder",
  ],
  ["{when: {arg: {p:\n      {cidr: x}}}}", "CIDR", 6, "`x` is no address block", "write a block such as `10.0.0.0/8`"],
  [
    "{when: {arg: {p: x}}, output:\n      privat}",
    "LEVEL",
    6,
    "`privat` is no level of the lattice",
    "did you mean `private`?",
  ],
])("%j is refused where it stands", (found, code, line, message, remedy) => {
  const tool = `a.b: {output: public, effects: read.local, cases: [{when: {arg: {p: y}}},\n    ${found}]}`;
  const text = `version: 1\nmode: enforce\nlabels:\n  ${tool}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  expect(policy).toBeUndefined();
  expect(diagnostics).toMatchObject([{ code: `SG-POLICY-${code}`, line, message, remedy }]);
});

describe("cases that raise together", () => {
  const letters = ["p", "q", "r", "s"];
  const some = fc.subarray(letters, { minLength: 1 });
  const level = fc.constantFrom("public", "sensitive", "private");
  const labels = fc.record({
    confidentiality: level,
    categories: fc.subarray(["x", "y"]),
    trust: fc.constant("trusted"),
  });
  const from = fc.subarray(["a", "b"]);
  const field = fc.record({ label: labels, from }, { requiredKeys: ["label"] });
  const output = fc
    .tuple(labels, fc.dictionary(fc.constantFrom("/i", "/j"), field, { maxKeys: 2 }))
    .map(([own, fields]) => ({
      ...own,
      fields: Object.fromEntries(
        Object.entries(fields).map(([pointer, one]) => [
          pointer,
          { ...one.label, ...(one.from === undefined ? {} : { from: one.from }) },
        ]),
      ),
    }));
  const reach = fc.subarray(["write.local", "write.local.delete", "write.external", "read.local"]);
  const raising = fc.record(
    {
      when: some.map((equals) => ({ arg: { a: { equals } } })),
      output,
      effects: fc.tuple(reach, reach).map(([must, may]) => ({ must, may })),
    },
    { requiredKeys: ["when"] },
  ) as fc.Arbitrary<CaseText>;
  const bottom = { confidentiality: "public", categories: [], trust: "trusted" as const };
  // Nothing is below these, so that every case raises.
  const base = {
    effects: { must: [], may: [] },
    output: { ...bottom, fields: { "/i": { ...bottom, from: [] }, "/j": { ...bottom, from: [] } } },
  };
  const held = (cases: readonly CaseText[], a: Json | undefined): Held => {
    const found = heldFor({ ...base, cases })?.(a);
    if (found === undefined) throw new Error("refused");
    return found;
  };
  const asked = fc.option(fc.oneof(some, fc.constantFrom(...letters)), { nil: undefined });

  it("law: all that hold count, whatever stands first, and none does more for sure than it says", () => {
    fc.assert(
      fc.property(fc.array(raising, { minLength: 1, maxLength: 4 }), asked, (cases, a) => {
        const together = held(cases, a);
        const other = held(cases.toReversed(), a);
        const alone = cases.map((one) => held([one], a));
        for (const one of alone) {
          expect(isAbove(together.output!, one.output!)).toBe(true);
          for (const each of one.effects!.may) expect(mayCover(each, together.effects!.may)).toBe(true);
        }
        for (const each of together.effects!.must)
          expect(
            mustCover(
              each,
              alone.flatMap((one) => one.effects!.must),
            ),
          ).toBe(true);
        expect(isAbove(together.output!, other.output!) && isAbove(other.output!, together.output!)).toBe(true);
        for (const each of together.effects!.may) expect(mayCover(each, other.effects!.may)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  const medical: CaseText = {
    when: { arg: { a: { equals: ["p"] } } },
    output: { confidentiality: "public", categories: ["x"], trust: "trusted" },
  };
  const finance: CaseText = {
    when: { arg: { a: { equals: ["q"] } } },
    output: { confidentiality: "public", categories: ["y"], trust: "trusted" },
  };
  const deletes: CaseText = { when: { arg: { a: { equals: ["q"] } } }, effects: "write.local.delete" };
  const sends: CaseText = { when: { arg: { a: { equals: ["p"] } } }, effects: "write.external" };

  it("regression: a list of which a part fits each of two categories has both", () => {
    const [one, two, both] = ["p", "q", ["p", "q"]].map((a) => held([medical, finance], a).output!.label.hi);
    expect(both).toBe(Number(one) | Number(two));
    expect([one, two]).not.toContain(both);
  });

  it("regression: what one says of the output hides nothing that another says of the effects", () => {
    for (const cases of [
      [medical, deletes],
      [deletes, medical],
    ]) {
      const { output: said, effects } = held(cases, ["p", "q"]);
      expect(said).toEqual(held([medical], "p").output);
      expect(effects?.may).toEqual(["write.local.delete"]);
    }
  });

  it("what each surely does is done where both surely fit, and what neither does alone is done by no part", () => {
    const same = { when: medical.when };
    const surely = held(
      [
        { ...same, effects: "write.external" },
        { ...same, effects: "write.local.delete" },
      ],
      "p",
    );
    expect(surely.effects?.must).toEqual(["write.external", "write.local.delete"]);
    expect(held([sends, deletes], ["p", "q"]).effects).toEqual({
      must: [],
      may: ["write.external", "write.local.delete"],
    });
  });

  it("what lowers is passed over by no set of cases that stand behind it", () => {
    const lowers: CaseText = {
      when: { arg: { a: { equals: ["r"] } } },
      output: { confidentiality: "public", trust: "trusted" },
    };
    const found = heldFor({
      output: { confidentiality: "sensitive", trust: "trusted" },
      effects: "read.local",
      cases: [
        lowers,
        { ...medical, output: { confidentiality: "private", categories: ["x"] } },
        { ...finance, output: { confidentiality: "private", categories: ["y"] } },
      ],
    });
    expect(found?.("r").output?.label.hi).toBeLessThan(Number(found?.("p").output?.label.hi));
  });

  it("more sets than the limit are refused where they stand, and as many as it are not", () => {
    const document = (count: number): PolicyDocument => {
      const names = Array.from({ length: count }, (_, index) => `c${index}`);
      const cases = names.map((name) => ({
        when: { arg: { a: name } },
        output: { confidentiality: "public", categories: [name], trust: "trusted" as const },
      }));
      return { version: 1, lattice: { categories: names }, labels: { "s.t": { ...base, cases } } };
    };
    const load = (count: number) =>
      loadPolicy({ file: "p.ts", document: document(count) }, { loader: () => undefined, hash });
    // Of six cases 57 sets can hold together, of seven 120.
    expect(load(6).policy?.table.entries[0]?.statement.cases).toHaveLength(63);
    expect(load(7).diagnostics).toMatchObject([
      { code: "SG-POLICY-CASE", message: `more than ${togetherMax} sets of its cases can hold together` },
    ]);
  });
});

describe("of two cases that raise the stricter counts, whichever is written first", () => {
  const team: CaseText = { when: { arg: { a: { path: "/team" } } }, output: { confidentiality: "sensitive" } };
  const own: CaseText = { when: { arg: { a: { path: "/private" } } }, output: { confidentiality: "private" } };
  const inside: CaseText = { when: { arg: { a: { path: "/team/pay" } } }, output: { confidentiality: "private" } };
  const labelled = (cases: readonly CaseText[], a: Json | undefined): Held | undefined =>
    heldFor({ output: { confidentiality: "public" }, effects: "read.local", cases })?.(a);

  it.each<[string, readonly CaseText[], Json | undefined, CaseText]>([
    ["a list of which a part fits each", [team, own], ["/team/a", "/private/x"], own],
    ["a place inside another", [team, inside], "/team/pay/june", inside],
    ["a call without the argument", [team, own], undefined, own],
    ["three of them", [team, inside, own], ["/team/a", "/private/x"], own],
    ["what only the milder fits", [team, own], "/team/a", team],
  ])("regression: %s", (_what, cases, a, wanted) => {
    const alone = labelled([wanted], a)?.output;
    expect(alone).toBeDefined();
    for (const order of [cases, cases.toReversed()]) expect(labelled(order, a)?.output).toEqual(alone);
  });

  it("what lowers stays where it is written", () => {
    const lowers: CaseText = { when: { arg: { a: { path: "/open" } } }, output: { confidentiality: "public" } };
    const raises: CaseText = { when: { arg: { a: { path: "/open/x" } } }, output: { confidentiality: "private" } };
    const of = (cases: readonly CaseText[]): Held | undefined =>
      heldFor({ output: { confidentiality: "sensitive" }, effects: "read.local", cases })?.("/open/x/1");
    expect(of([lowers, raises])?.output).not.toEqual(of([raises, lowers])?.output);
  });
});
