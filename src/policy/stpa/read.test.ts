import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { sha256 } from "../../app/policy/policy-source.ts";
import { type Change, changed, smallText } from "../../../test/kit/policy/stpa-document.ts";
import { diagnosticsMax } from "../values/limits.ts";
import { stpaEntriesMax, stpaNamesMax, stpaTextUnitsMax } from "./document.ts";
import { readStpa } from "./read.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

type Said = readonly [code: string, line: number, column: number, message: string, remedy: string];

function said(text: string): readonly Said[] {
  const read = readStpa(text, "stpa.yaml", sha256);
  if (read.ok) return [];
  return read.error.map((found) => [found.code, found.line, found.column, found.message, found.remedy]);
}

const many = (count: number, entry: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => entry(index)).join("");

test("the small document reads", () => expect(said(smallText)).toEqual([]));

type Row = readonly [name: string, change: Change, code: string, at: string, message: string, remedy: string];

const ref = "SG-STPA-REFERENCE";

/** The code of the first finding, the text at its place, a part of its sentence and of its remedy. */
const rows: readonly Row[] = [
  ["a loss that is not declared", ["losses: L1", "losses: L7"], ref, "L7}", "`L7` is not declared", "`L1`"],
  ["a value that is not declared", ["harms: V1", "harms: [V2]"], ref, "V2]", "`V2`", "`V1`"],
  ["another kind", ["losses: L1", "losses: U1"], ref, "U1}", "an unsafe control action, and a loss", "L1"],
  ["a feedback for a controller", ["to: agent", "to: F1"], ref, "F1,", "is feedback, and a controller", "agent"],
  ["an unknown hazard", ["hazards: H1, context", "hazards: [H2], context"], ref, "H2]", "`H2`", "`H1`"],
  ["an unknown action", ["action: A1", "action: A9"], ref, "A9,", "`A9`", "`A1`"],
  ["an unknown controller", ["by: agent", "by: agnet"], ref, "agnet", "`agnet`", "did you mean `agent`?"],
  ["an unknown process", ["on: mail", "on: mial"], ref, "mial", "a process or a controller", "did you mean `mail`?"],
  ["a scenario of nothing", ["ucas: U1, cause", "ucas: U8, cause"], ref, "U8,", "`U8`", "`U1`"],
  ["a requirement of nothing", ["ucas: [U1]", "ucas: [SR1]"], ref, "SR1]", "a requirement, and an unsafe", "`U1`"],
  ["an id used twice", ["S1: {ucas", "U1: {ucas"], "SG-STPA-ID", "U1: {ucas", "an unsafe control action", "own id"],
  ["a key twice", ["  U1: {c", "  U1: {}\n  U1: {c"], "SG-POLICY-DUPLICATE", "U1: {c", "twice", "keep one"],
  [
    "another controller than the action's",
    ["controller: agent", "controller: owner-here"],
    "SG-STPA-CONTROLLER",
    "owner-here,",
    "given by `agent`",
    "write `agent`",
  ],
  [
    "a requirement that refines itself",
    ["tier: block", "refines: SR1\n    tier: block"],
    "SG-STPA-CYCLE",
    "SR1",
    "`SR1` refines itself",
    "remove one link",
  ],
  ["an unknown form", ["form: provided", "form: provide"], "SG-POLICY-WORD", "provide,", "not a form", "`provided`?"],
  ["an unknown tier", ["tier: block", "tier: blok"], "SG-POLICY-WORD", "blok", "not a tier", "did you mean `block`?"],
  ["an unknown kind", ["kind: direct", "kind: indrect"], "SG-POLICY-WORD", "indrect", "not a kind", "`indirect`?"],
  ["an unknown key", ["reason: it", "raeson: it"], "SG-POLICY-KEY", "raeson", "`raeson`", "did you mean `reason`?"],
  ["a key of the policy alone", ["consent: never", "loss: L1"], "SG-POLICY-KEY", "loss: L1", "`loss`", "use"],
  [
    "a level that does not exist",
    ["from: {confidentiality: private}", "from: {confidentiality: privat}"],
    "SG-POLICY-LEVEL",
    "privat}",
    "privat",
    "did you mean `private`?",
  ],
  [
    "a level that does not exist, in a rule",
    ["data: {confidentiality: private}", "data: {confidentiality: top}"],
    "SG-POLICY-LEVEL",
    "{confidentiality: top}",
    "top",
    "use",
  ],
  [
    "a category that does not exist",
    ["from: {confidentiality: private}", "from: {categories: [credentails]}"],
    "SG-POLICY-CATEGORY",
    "[credentails",
    "credentails",
    "did you mean `credentials`?",
  ],
  ["a foreign tool", ["to: mail.send", "to: mail.sned"], "SG-POLICY-TOOL", "mail.sned", "sned", "`send`?"],
  [
    "a store that the structure does not have",
    ["when: {tool", 'when: {store: {name: "mail:outbix"}, tool'],
    "SG-POLICY-STORE",
    '{name: "mail:outbix"',
    "mail:outbix",
    "did you mean `mail:outbox`?",
  ],
  [
    "a tier that does not fit the rule",
    ["when: {tool: mail.send, data: {confidentiality: private}}", "gate: {before: mail.send, need: mail.list}"],
    "SG-POLICY-TIER",
    "{id: R1",
    "`gate` cannot have the tier",
    "tier: must",
  ],
  ["two rules of one name", ["id: R1", "id: H1"], "SG-STPA-ID", "H1, when", "`H1` names two", "own id"],
  [
    "a rule without a form",
    ["when: {tool: mail.send, data: {confidentiality: private}}", "why: x"],
    "SG-POLICY-CHOICE",
    "{id: R1",
    "a rule has none of",
    "exactly one",
  ],
  ["an empty sentence", ["no secret in a mail", '" "'], "SG-POLICY-FORM", '" "', "not a sentence", "write a sentence"],
  [
    "a sentence that is a book",
    ["no secret in a mail", "x".repeat(stpaTextUnitsMax + 1)],
    "SG-POLICY-FORM",
    "xxx",
    "not a sentence",
    "write",
  ],
  [
    "more names than anybody reads",
    ["ucas: [U1]", `ucas: [${many(stpaNamesMax + 1, () => "U1,")}]`],
    "SG-POLICY-LENGTH",
    "[U1,",
    "entries",
    "1 to",
  ],
  [
    "a section without end",
    ["  S1: {", `${many(stpaEntriesMax, (index) => `  X${index}: {ucas: U1, cause: c}\n`)}  S1: {`],
    "SG-STPA-SIZE",
    "X0:",
    "scenarios has 501 entries",
    "split",
  ],
  ["a version of tomorrow", ["version: 1", "version: 2"], "SG-POLICY-WORD", "2", "`2`", "write `1`"],
  ["broken YAML", ["losses:", "losses: ["], "SG-POLICY-SYNTAX", "", "YAML", "fix"],
];

/** The text from a place to the end of its line. */
function textAt(text: string, line: number, column: number): string {
  return (text.split("\n")[line - 1] ?? "").slice(column - 1);
}

describe("what is wrong has a place and a remedy:", () => {
  it.each(rows)("%s", (_name, change, code, at, message, remedy) => {
    const text = changed(smallText, change);
    const [first] = said(text);
    if (first === undefined) throw new Error("nothing is found");
    const [foundCode, line, column, foundMessage, foundRemedy] = first;
    expect(foundCode).toBe(code);
    expect(textAt(text, line, column).slice(0, at.length)).toBe(at);
    expect(line).toBeGreaterThan(0);
    expect(foundMessage).toContain(message);
    expect(foundRemedy).toContain(remedy);
  });

  it("nothing at all", () => expect(said("")[0]?.[3]).toBe("the STPA document is empty"));

  it("a lattice that cannot be made", () => {
    const lattice = `lattice: {categories: [${many(40, (index) => `c${index},`)}]}\n`;
    const [first] = said(changed(smallText, ["stakeholders:", `${lattice}stakeholders:`]));
    expect(first?.slice(0, 2)).toEqual(["SG-POLICY-LATTICE", 2]);
  });

  it("a hazard that the requirement is not about", () => {
    const text = changed(
      smallText,
      ["hazards:\n", "hazards:\n  H2: {says: other, losses: L1}\n"],
      ["id: H1\n", "id: H2\n"],
    );
    expect(said(text)[0]?.slice(0, 3)).toEqual(["SG-STPA-ID", 27, 11]);
    expect(said(text)[0]?.[4]).toBe("add `H2` to its hazards, or rename the property");
  });

  it("a kind of which there is nothing", () => {
    const text = changed(smallText, ["losses:\n  L1: {says: a secret is out, harms: V1}", "losses: {}"]);
    expect(said(text)[0]?.[4]).toBe("declare a loss first");
  });
});

describe("cycles", () => {
  const requirement = (id: string, refines: string): string =>
    `  ${id}: {says: s, hazards: H1, refines: ${refines}, tier: block, reason: r}\n`;

  it("of several requirements are named once", () => {
    const text = smallText + requirement("A", "B") + requirement("B", "C") + requirement("C", "[SR1, A]");
    expect(said(text).map(([code, line]) => [code, line])).toEqual([["SG-STPA-CYCLE", 32]]);
  });

  it("are not seen where two ways lead to one requirement", () => {
    expect(said(smallText + requirement("A", "[B, C]") + requirement("B", "SR1") + requirement("C", "SR1"))).toEqual(
      [],
    );
  });

  it("of the longest chain are found without a deep stack", () => {
    const chain = many(stpaEntriesMax - 2, (index) => requirement(`N${index}`, `N${index + 1}`));
    const text = smallText + chain + requirement(`N${stpaEntriesMax - 2}`, "N0");
    expect(said(text).map(([code]) => code)).toEqual(["SG-STPA-CYCLE"]);
  });
});

test("a flood of mistakes is cut", () => {
  const text = changed(smallText, ["ucas: [U1]", `ucas: [${many(stpaNamesMax, () => "UX,")}]`]);
  expect(said(text)).toHaveLength(diagnosticsMax);
});

test("a structure that leaves tools open does not call others mistakes", () => {
  const open: Change = ["tools: mail.send", 'tools: "mail.*"'];
  expect(said(changed(smallText, open, ["to: mail.send", "to: mail.sned"]))).toEqual([]);
  const silent: readonly Change[] = [
    ["tools: mail.send, ", ""],
    ["tools: [mail.list], ", ""],
  ];
  expect(said(changed(smallText, ...silent, ["to: mail.send", "to: mail.sned"]))).toEqual([]);
});

test("labels of its own lattice may be used", () => {
  const text = changed(
    smallText,
    ["stakeholders:", "lattice: {categories: [trade]}\nstakeholders:"],
    ["from: {confidentiality: private}", "from: {categories: [trade]}"],
  );
  expect(said(text)).toEqual([]);
});

test("law: whatever becomes of a document, it is read or refused at a place in it", () => {
  const places = fc.nat(smallText.length);
  const pieces = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("\n", ": ", "- ", "{", "]", "&a ", "*a", "H1", "U1", "SR1", "__proto__", "constructor", "!!set "),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(places, fc.nat(12), pieces), { minLength: 1, maxLength: 4 }), (edits) => {
      const text = edits.reduce((all, [at, cut, piece]) => all.slice(0, at) + piece + all.slice(at + cut), smallText);
      const lines = text.split("\n").length;
      for (const [code, line, column, message, remedy] of said(text)) {
        expect(code).toMatch(/^SG-(STPA|POLICY)-[A-Z]+$/);
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(lines);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(message.length * remedy.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: runs },
  );
});
