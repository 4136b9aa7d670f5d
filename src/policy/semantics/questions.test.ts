import { expect, test } from "vitest";
import { loadPolicy } from "../load.ts";
import { permitsQuestions } from "./questions.ts";

function permits(rules: string, server = "vault"): boolean {
  const text = `version: 1\nextends: []\nrules: [${rules}]`;
  const loaded = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash: (value) => value });
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return permitsQuestions(loaded.policy.ir, server);
}

const rule = (tier: string, when: string, more = "") => `{id: R, tier: ${tier}, why: w, when: ${when}${more}}`;

test.each([
  ["an allow-all rule", rule("allow", "{tool: '*'}"), true],
  ["a rule for the questions of the server", rule("allow", "{tool: vault.elicitation/create}"), true],
  ["a rule for the questions of another", rule("allow", "{tool: mail.elicitation/create}"), false],
  ["a rule for a tool of the server", rule("allow", "{tool: vault.read}"), false],
  ["a rule that only watches", rule("allow", "{tool: '*'}", ", mode: observe"), false],
  ["a rule that forbids", rule("block", "{tool: '*'}"), false],
  ["a rule for effects", rule("allow", "{tool: '*', effect: write}"), false],
  ["a rule for arguments", rule("allow", "{tool: '*', arg: {a: b}}"), false],
  ["a rule about order", "{id: R, tier: block, why: w, atMost: {of: vault.read, count: 1}}", false],
  ["no rule", "", false],
])("%s lets questions pass: %#", (_what, rules, expected) => {
  expect(permits(rules)).toBe(expected);
});
