/** Rules of every kind: which tiers they may have, which way each of their patterns is read, and what they carry on. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Pattern } from "../ir/ir.ts";
import { loadPolicy } from "../load.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const load = (text: string) =>
  loadPolicy({ file: "p.yaml", text: `version: 1\n${text}` }, { loader: () => undefined, hash });
const rulesOf = (rule: string) => load(`rules: [{id: R, why: w, ${rule}}]`).policy?.ir.rules;

/** Each kind in its least form, with the tiers that it may have. */
const kinds = {
  when: ["when: a", ["block", "confirm", "allow"]],
  gate: ["gate: {before: a, need: b}", ["must"]],
  owed: ["owed: {after: a, owe: b, within: 1}", ["must"]],
  inject: ["inject: {before: a, call: {tool: log.write}}", ["must"]],
  immediately: ["immediately: {before: a, need: b}", ["must"]],
  byEnd: ["byEnd: {after: a, by: b, action: report}", ["must"]],
  absence: ["absence: {after: a, never: b}", ["block", "confirm"]],
  atMost: ["atMost: {of: a, count: 1}", ["block", "confirm"]],
  exactlyOnce: ["exactlyOnce: {of: a}", ["block", "confirm"]],
  budget: ["budget: {of: a, argument: n, limit: 1}", ["block", "confirm"]],
} as const satisfies { readonly [kind: string]: readonly [string, readonly string[]] };

describe.each(Object.entries(kinds))("a rule with `%s`", (kind, [body, legal]) => {
  const tiers: readonly string[] = legal;
  it.each(["block", "must", "confirm", "allow"])("and the tier `%s`", (tier) => {
    const { policy, diagnostics } = load(`rules:\n  - id: R\n    why: w\n    tier: ${tier}\n    ${body}\n`);
    if (tiers.includes(tier)) {
      expect(policy?.ir.rules).toMatchObject([{ id: "R", tier }]);
      return;
    }
    const message =
      kind === "when"
        ? "a must rule says what must happen, not only when"
        : `\`${kind}\` cannot have the tier \`${tier}\``;
    const remedy =
      kind === "when"
        ? "write `gate`, `owed`, `inject`, `immediately` or `byEnd`, or use `block`"
        : `write \`tier: ${tiers.join("` or `tier: ")}\``;
    expect(policy).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: "SG-POLICY-TIER", line: 5, message, remedy }]);
  });
});

/** `LEAF` is a pattern, and its place in the rule is where a wrong word in it is shown. */
const places: readonly (readonly [string, "atLeast" | "atMost"])[] = [
  ["tier: block, when: LEAF", "atLeast"],
  ["tier: confirm, when: LEAF", "atLeast"],
  ["tier: allow, when: LEAF", "atMost"],
  ["tier: must, gate: {before: LEAF, need: b}", "atLeast"],
  ["tier: must, gate: {before: a, need: LEAF}", "atMost"],
  ["tier: must, gate: {before: a, need: b, unless: LEAF}", "atLeast"],
  ["tier: block, absence: {after: LEAF, never: b}", "atLeast"],
  ["tier: block, absence: {after: a, never: LEAF}", "atLeast"],
  ["tier: block, absence: {after: a, never: b, until: LEAF}", "atMost"],
  ["tier: must, immediately: {before: LEAF, need: b}", "atLeast"],
  ["tier: must, immediately: {before: a, need: LEAF}", "atMost"],
  ["tier: block, atMost: {of: LEAF, count: 1}", "atLeast"],
  ["tier: block, budget: {of: LEAF, argument: n, limit: 1}", "atLeast"],
  ["tier: block, exactlyOnce: {of: LEAF}", "atLeast"],
  ["tier: block, exactlyOnce: {of: a, after: LEAF}", "atLeast"],
  ["tier: must, owed: {after: LEAF, owe: b, within: 1}", "atLeast"],
  ["tier: must, owed: {after: a, owe: LEAF, within: 1}", "atMost"],
  ["tier: must, owed: {after: a, owe: b, before: LEAF}", "atLeast"],
  ["tier: must, inject: {before: LEAF, call: {tool: log.write}}", "atLeast"],
  ["tier: must, byEnd: {after: LEAF, by: b, action: hold}", "atLeast"],
  ["tier: must, byEnd: {after: a, by: LEAF, action: hold}", "atMost"],
];

describe("a pattern that forbids, counts or arms is read strictly, and one that permits, unlocks or pays the other way", () => {
  const patterns = (value: unknown): readonly Pattern[] => {
    if (typeof value !== "object" || value === null) return [];
    if ("stores" in value) return [value as Pattern]; // only patterns have them
    return Object.values(value).flatMap(patterns);
  };

  it.each(places)("%s: %s", (rule, kind) => {
    const found = patterns(rulesOf(rule.replace("LEAF", "{tool: leaf, held: sensitive}")));
    expect(found.filter(({ held }) => held !== undefined).map(({ held }) => held?.kind)).toEqual([kind]);
  });

  it.each(places)("%s: a wrong word is shown where it stands", (rule) => {
    const { diagnostics } = load(`rules: [{id: R, why: w, ${rule.replace("LEAF", "{\n    held: sensitiv}")}}]`);
    expect(diagnostics).toMatchObject([{ code: "SG-POLICY-LEVEL", line: 3, column: 11 }]);
  });

  it("what happens exactly once is counted when it may be it, and done when it surely is", () => {
    const found = rulesOf("tier: block, exactlyOnce: {of: {tool: leaf, held: sensitive}, after: b}");
    expect(patterns(found).map(({ held }) => held?.kind)).toEqual(["atLeast", undefined, "atMost"]);
  });
});

it("a rule carries on what is said of it; what is reported at the end of a run is owed, whatever the tier", () => {
  const head = { id: "R", why: "w", serves: ["H", "S"], mode: "observe" };
  const said = "serves: [S, H], mode: observe, tier: confirm";
  expect(rulesOf(`${said}, when: a`)).toMatchObject([{ ...head, tier: "confirm", kind: "plain" }]);
  expect(rulesOf(`${said}, exactlyOnce: {of: a, after: b}`)).toMatchObject([
    { ...head, tier: "confirm", kind: "temporal" },
    { ...head, id: "R/end", tier: "must", kind: "temporal" },
  ]);
});

it.each([
  ["tier: must, gate: {before: a, need: b, key: {argument: to, form: email}}", false],
  ["tier: block, budget: {of: a, argument: n, limit: 1, key: {argument: to, form: email}}", true],
  ["tier: block, exactlyOnce: {of: a, key: {argument: to, form: email}}", true],
  ["tier: block, atMost: {of: a, count: 1, key: {argument: to, form: email}}", true],
  ["tier: block, absence: {after: a, never: b, key: {argument: to, form: email}}", true],
  ["tier: must, gate: {before: a, need: b, key: {argument: to, form: email, exact: false}}", true],
  ["tier: block, budget: {of: a, argument: n, limit: 1, key: {argument: to, form: email, exact: true}}", false],
])("%s folds the name in an address: %s", (rule, foldLocalPart) => {
  expect(rulesOf(rule)).toMatchObject([{ temporal: { key: { argument: "to", form: "email", foldLocalPart } } }]);
});

describe("what could never work is refused", () => {
  it.each([
    ["within: 2", { within: 2 }],
    ["before: c", { before: { tools: [{ server: "*", tool: "c" }] } }],
  ])("and a debt falls due by %s alone", (due, found) => {
    const [rule] = rulesOf(`tier: must, owed: {after: a, owe: b, ${due}}`) ?? [];
    expect(rule).toMatchObject({ temporal: { kind: "owed", ...found } });
    expect(rule?.kind === "temporal" && Object.keys(rule.temporal)).toHaveLength(4);
  });

  it.each([
    [
      "owed:\n      {after: a, owe: b}",
      "OWED",
      "the debt never falls due",
      "add `within: N` calls or `before:` a call",
    ],
    ...["write", "log.wr*te", "l*g.write"].map((tool) => [
      `inject: {before: a, call: {\n      tool: ${tool}}}`,
      "INJECT",
      "the gateway cannot tell which server it should call",
      "write `server.tool`",
    ]),
  ])("%s", (body, code, message, remedy) => {
    const { policy, diagnostics } = load(`rules:\n  - id: R\n    why: w\n    tier: must\n    ${body}\n`);
    expect(policy).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: `SG-POLICY-${code}`, message, remedy, line: 7 }]);
  });
});
