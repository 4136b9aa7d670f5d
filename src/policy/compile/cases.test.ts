/** Cases of a tool's labels, seen from the calls: what holds for an argument that fits a case, in part or not at all. */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mayCover, mustCover } from "../../core/effect.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { atMost } from "../../core/label.ts";
import { type ToolText, heldFor } from "../../../test/kit/policy/held-labels.ts";
import type { CaseText, EffectsText } from "../document/shapes-labels.ts";
import type { PolicyDocument } from "../canonical/policy-document.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

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

describe("a case of several arguments", () => {
  const when = { arg: { a: "go", b: { present: false } } };
  const mayOf = (base: EffectsText, effects: EffectsText, given: JsonObject): readonly string[] | undefined =>
    heldFor({ effects: base, cases: [{ when, effects }] })?.(given["a"], given).effects?.may;

  it.each<[string, JsonObject, boolean, boolean]>([
    ["all fit", { a: "go" }, true, true],
    ["one does not", { a: "go", b: 1 }, false, false],
    ["another does not", { a: "stop" }, false, false],
    ["one is missing", {}, false, true],
    ["one fits in part", { a: ["go", "stop"] }, false, true],
  ])("%s: it lowers where all surely fit, and raises where all may", (_name, given, lowers, raises) => {
    expect(mayOf(["write.local", "read.local"], "read.local", given)?.length).toBe(lowers ? 1 : 2);
    const more = { must: [], may: ["write.external"] };
    const raised = mayOf({ must: [], may: [] }, more, given);
    expect(raised).toEqual(raises ? ["write.external"] : []);
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

it.each<[string, string, boolean | undefined]>([
  [outputOf("public"), outputOf("public", `/a: ${label("public")}`), false],
  [outputOf("public"), outputOf("sensitive", `/a: ${label("private")}`), true],
  [outputOf("public"), outputOf("sensitive", `/a: ${label("sensitive")}`), undefined],
  // What the store brings is in neither field.
  [outputOf("public", `/a: ${label("public")}`), outputOf("sensitive", `/a: ${label("public")}`), true],
])("regression: a field is no part of what a store brings: %s and %s holds for an absent argument: %s", (...row) => {
  const [outside, found, expected] = row;
  const stores = "stores: {notes: {audience: [me], label: {confidentiality: private, trust: trusted}}}";
  const tool = `files.read: {reads: [notes], ${outside}, cases: [{${when}, ${found}}]}`;
  const text = `version: 1\n${stores}\nlabels: {${tool}}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  const index = policy?.table.entries[0]?.statement.cases?.[0]?.predicates[0];
  const asked = index === undefined ? undefined : policy?.ir.predicates[index];
  expect(asked?.kind === "argument" ? asked.ifAbsent : undefined).toBe(expected);
  expect(diagnostics.map(({ code }) => code)).toEqual(expected === undefined ? ["SG-POLICY-CASE"] : []);
});

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
  ["{when:\n      {arg: {}}}", "CASE", 6, "the case tests no argument", "name an argument and its test"],
  [
    "{when: {arg: {p: x}}, effects: [], output: private}",
    "CASE",
    5,
    "the case neither only raises nor only lowers the labels outside it",
    "make its output and effects both stricter, or both milder",
  ],
  [
    "{when: {arg: {p:\n      {cidr: x}}}}",
    "CIDR",
    6,
    "`x` is not an address block",
    "write a block such as `10.0.0.0/8`",
  ],
  [
    "{when: {arg: {p: x}}, output:\n      privat}",
    "LEVEL",
    6,
    "`privat` is not a level of the lattice",
    "did you mean `private`?",
  ],
])("%j is refused where it stands", (found, code, line, message, remedy) => {
  const tool = `a.b: {output: public, effects: read.local, cases: [{when: {arg: {p: y}}},\n    ${found}]}`;
  const text = `version: 1\nmode: enforce\nlabels:\n  ${tool}\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash });
  expect(policy).toBeUndefined();
  expect(diagnostics).toMatchObject([{ code: `SG-POLICY-${code}`, line, message, remedy }]);
});
