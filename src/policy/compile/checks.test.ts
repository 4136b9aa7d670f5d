import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalPolicy } from "../canonical/canonical.ts";
import type { RuleText } from "../document/shapes-rules.ts";
import { lintPolicy } from "../lint/lint.ts";
import { loadCanonical, loadPolicy } from "../load.ts";
import { programUnitsMax } from "../values/limits.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const program = "/** Refuses at night. */\nexport const atNight = (call: { tool: string }) => call.tool === 'send';\n";
const files: Readonly<Record<string, string>> = {
  "checks.ts": program,
  "base.yaml":
    "version: 1\nrules:\n  - {id: B, tier: block, when: {tool: b}, predicate: 'checks.ts#atNight', why: w}\n",
};
const load = (text: string) =>
  loadPolicy(
    { file: "p.yaml", text: `version: 1\n${text}` },
    {
      loader: (name) => {
        const found = files[name];
        return found === undefined ? undefined : { file: name, text: found };
      },
      hash,
    },
  );
const rule = (predicate: string, more = "tier: block, when: {tool: send, data: private}"): string =>
  `rules: [{id: R, why: w, ${more}, predicate: ${predicate}}]`;

describe("a rule that asks a program", () => {
  test("is no rule of the model, and its program is part of the policy", () => {
    const { policy } = load(rule("'checks.ts#atNight'"));
    expect(policy?.ir.rules).toEqual([]);
    expect(policy?.ir.checks).toMatchObject([
      { name: "atNight", source: program, program: hash(program), rule: { id: "R", tier: "block", kind: "plain" } },
    ]);
    expect(load(rule(`{name: atNight, source: ${JSON.stringify(program)}}`)).policy?.digest).toBe(policy?.digest);
    const other = load(rule(`{name: atNight, source: ${JSON.stringify(`${program}\n`)}}`)).policy;
    expect(other?.digest).not.toBe(policy?.digest);
    expect(loadCanonical(policy?.canonical ?? "", hash)?.ir.checks).toEqual(policy?.ir.checks);
  });

  test("may come with a policy that is extended", () => {
    expect(load("extends: [base.yaml]").policy?.ir.checks.map((check) => check.rule.id)).toEqual(["B"]);
  });

  test.each([
    [rule("'none.ts#atNight'"), "there is no program `none.ts`"],
    [rule("'checks.ts#atDay'"), "exports no function `atDay`"],
    [rule("'checks.ts#Night'"), "exports no function `Night`"],
    [rule("'checks.ts'"), "such as `checks.ts#isBusy`"],
    [rule("'checks.ts#atNight'", "tier: confirm, when: {tool: send}"), "can only refuse"],
    [rule("'checks.ts#atNight'", "tier: allow, when: {tool: send}"), "can only refuse"],
    [rule("'checks.ts#atNight'", "tier: block, atMost: {of: send, count: 1}"), "of a `when`"],
    [rule(`{name: a, source: "${"x".repeat(programUnitsMax + 1)}"}`), `more than ${programUnitsMax}`],
  ])("%s is refused", (text, message) => {
    const { policy, diagnostics } = load(text);
    expect(policy).toBeUndefined();
    expect(diagnostics.map((found) => `${found.message} ${found.remedy}`).join("\n")).toContain(message);
    expect(diagnostics[0]?.line).toBe(2);
  });

  test("a document that was put together by hand must bring its program along", () => {
    const bare: RuleText = { id: "R", tier: "block", why: "w", when: "send", predicate: "checks.ts#atNight" };
    const { problems } = canonicalPolicy({ version: 1, rules: [bare] }, [], undefined);
    expect(problems.map(({ code }) => code)).toEqual(["SG-POLICY-PREDICATE"]);
  });

  test("makes what must stay possible a matter of the running gateway, which `policy check` says", () => {
    const owed = "{id: O, tier: must, why: w, owed: {after: open, owe: close, within: 3}}";
    const asks = "{id: R, tier: block, why: w, when: {tool: close}, predicate: 'checks.ts#atNight'}";
    const unproved = (text: string) => {
      const { policy } = load(text);
      if (policy === undefined) throw new Error(text);
      return lintPolicy(policy, {}, () => "").filter(({ code }) => code === "SG-POLICY-UNPROVED");
    };
    expect(unproved(`rules: [${owed}, ${asks}]`)).toMatchObject([{ severity: "info", path: ["rules", "R"] }]);
    expect(unproved(`rules: [${asks}]\nkeep: [{trace: [close], firm: true}]`)).toHaveLength(1);
    expect(unproved(`rules: [${asks}]\nkeep: [{trace: [close]}]`)).toEqual([]);
    expect(unproved(`rules: [${owed}]`)).toEqual([]);
  });
});
