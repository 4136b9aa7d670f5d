/** Parts of a pattern: what each becomes, and what cannot be asked. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const head = "version: 1\nlattice: {groups: [team]}\nstores: {s: {}, t: {}}\n";
const load = (tier: string, when: string) =>
  loadPolicy(
    {
      file: "p.yaml",
      text: `${head}rules:\n  - {id: R, tier: ${tier}, why: w, when: {\n${when.replace(/^/gm, "      ")}}}`,
    },
    { loader: () => undefined, hash },
  );
const patternOf = (tier: string, when: string) => {
  const found = load(tier, when).policy?.ir.rules[0];
  return found?.kind === "plain" ? found.when : undefined;
};

/** Groups are `anyone`, `me`, `team`; bits of a label: sensitive 1, private 2, anyone 4, me 8, team 16, untrusted 32. */
it.each([
  ["tool: x", { tools: [{ server: "*", tool: "x" }] }],
  ["effect: [write.external, read]", { effects: ["read", "write.external"] }],
  ["flags: irreversible", { flags: { irreversible: true } }],
  ["flags: open_world", { flags: { openWorld: true } }],
  ["workspace: true", { predicates: [{ index: 0, holds: true }] }],
  ["workspace: false", { predicates: [{ index: 0, holds: false }] }],
  ["held: private", { held: { kind: "atLeast", bits: 3 } }],
  ["data: private", { data: [{ atom: { kind: "atLeast", bits: 3 } }] }],
  [
    "data: {trust: untrusted, roles: [command, path]}",
    { data: [{ atom: { kind: "atLeast", bits: 32 }, roles: ["command", "path"] }] },
  ],
  ["data: {trust: untrusted, args: [to]}", { data: [{ atom: { kind: "atLeast", bits: 32 }, names: ["to"] }] }],
  ["data: {trust: untrusted, audience: team}", { data: [{ atom: { kind: "atLeast", bits: 32 }, audience: 4 }] }],
  ["arg: {to: {label: {trust: untrusted}}}", { data: [{ atom: { kind: "atLeast", bits: 32 }, names: ["to"] }] }],
  ["store: {name: s}", { stores: [{ store: 0 }] }],
  ["store: {name: t, label: private}", { stores: [{ store: 1, label: { kind: "atLeast", bits: 3 } }] }],
  ["store: {name: t, audience: [anyone, team]}", { stores: [{ store: 1, audience: 5 }] }],
])("%s", (when, found) => {
  expect(patternOf("block", when)).toEqual({ predicates: [], data: [], stores: [], ...found });
});

it("a permission by the label of an argument asks that it is there, at its place among the other tests", () => {
  expect(patternOf("allow", "arg: {to: {label: {trust: trusted}}, n: x}, store: {name: t, label: sensitive}")).toEqual({
    predicates: [
      { index: 1, holds: true },
      { index: 2, holds: true },
    ],
    data: [{ atom: { kind: "atMost", forbidden: 32 }, names: ["to"] }],
    stores: [{ store: 1, label: { kind: "atMost", forbidden: 30 } }],
  });
});

it("arguments without a label restrict whatever they carry, which is warned about", () => {
  const { policy, diagnostics } = load("block", "data: {roles: [command]}");
  expect(policy?.ir.rules).toMatchObject([{ when: { data: [{ roles: ["command"], atom: { bits: 0 } }] } }]);
  expect(diagnostics).toMatchObject([{ code: "SG-POLICY-VACUOUS", severity: "warning" }]);
});

describe("what cannot be asked", () => {
  const whole = "`/to/0` is a place inside an argument, and arguments are labelled as a whole";
  const own = "write the argument's own name, the first part of the path";
  const level = ["`privat` is not a level of the lattice", "did you mean `private`?"] as const;
  const group = ["`teem` is not a group of the lattice", "did you mean `team`?"] as const;
  const stranger = [
    "a rule that permits cannot ask who can read a store",
    "say it in a restricting rule instead",
  ] as const;
  const unnamed = ["the condition names no label", "add `confidentiality` or `trust`"] as const;
  const unknown = ["`u` is not a declared store", "did you mean `s`?"] as const;
  it.each<[string, string, string, number, readonly [string, string]]>([
    ["block", "arg: {a: x,\n/to/0: {label: private}}", "LABEL", 7, [whole, own]],
    ["block", "data: [{confidentiality: private},\n{trust: untrusted, args: [/to/0]}]", "LABEL", 7, [whole, own]],
    ["block", "data: [{confidentiality: private},\n{confidentiality: privat}]", "LEVEL", 7, level],
    ["block", "arg: {to: {\nlabel: privat}}", "LEVEL", 7, level],
    ["block", "tool: x,\nheld: privat", "LEVEL", 7, level],
    ["block", "data: [{confidentiality: private}, {trust: untrusted,\naudience: teem}]", "GROUP", 7, group],
    ["block", "store: [{name: s}, {name: t,\nlabel: privat}]", "LEVEL", 7, level],
    ["block", "store: [{name: s}, {name: t,\naudience: teem}]", "GROUP", 7, group],
    ["block", "store: [{name: s}, {\nname: u}]", "STORE", 7, unknown],
    ["allow", "store: [{name: s},\n{name: t, audience: team}]", "AUDIENCE", 7, stranger],
    ["allow", "data: [{confidentiality: private},\n{audience: team}]", "ATOM", 7, unnamed],
    [
      "block",
      "arg: {a: x, b:\n{regex: '(?=x)'}}",
      "REGEX",
      7,
      ["`(?=x)` is not a linear-time expression", "use RE2 syntax: no look-around, no back-references"],
    ],
  ])("%s %j", (tier, when, code, line, [message, remedy]) => {
    const { policy, diagnostics } = load(tier, when);
    expect(policy).toBeUndefined();
    expect(diagnostics.filter(({ severity }) => severity === "error")).toMatchObject([
      { code: `SG-POLICY-${code}`, line, message, remedy },
    ]);
  });
});
