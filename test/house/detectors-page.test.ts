// docs/detectors.md lists every rule with the sentence that users see.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ruleTexts } from "../../src/mechanisms/pin/rule-texts.ts";
import { formRules, wordRules } from "../../src/mechanisms/pin/rules.ts";
import { repository } from "../kit/client/command.ts";

it("the page has each rule, and each rule has a sentence", () => {
  const page = readFileSync(join(repository, "docs/detectors.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([a-z.-]+)` +\| (.+?) +\|$/gm)].map(([, id, text]) => [id, text]);
  expect(rows).toEqual([...ruleTexts]);
  for (const { id } of [...wordRules, ...formRules]) expect(ruleTexts.has(id), id).toBe(true);
});
