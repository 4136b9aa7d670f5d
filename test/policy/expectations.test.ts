/** Every `expect:` of the shipped packs and of the language's own example holds in the engine itself. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Judged, checkExpectations, judgeExpectation } from "../../src/app/policy/expectations.ts";
import type { ExpectText } from "../../src/policy/document/shapes-rules.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { parsePolicy } from "../../src/policy/canonical/policy-document.ts";
import { shippedOptions, shippedPacks } from "../kit/policy/load-packs.ts";

function decide(text: string, expectation: ExpectText, server: string): Judged {
  const loaded = loadPolicy({ file: "expect.yaml", text }, shippedOptions);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  return judgeExpectation(loaded.policy, expectation, server);
}

describe.each(shippedPacks)("pack %s", (name) => {
  const parsed = parsePolicy(readFileSync(new URL(`../../packs/${name}.yaml`, import.meta.url), "utf8"), name);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const expectations = parsed.value.document.expect ?? [];

  test("has expectations", () => expect(expectations.length).toBeGreaterThan(0));

  test.each(expectations.map((each, index) => [index, each] as const))("expectation %i holds", (_, expectation) => {
    const text = `version: 1\nextends: [default]\nservers: {it: {pack: ${name}}}\n`;
    expect(decide(text, expectation, "it").verdict).toBe(expectation.verdict);
  });
});

describe("the example of the language", () => {
  const text = readFileSync(new URL("../fuzz/corpus/policy/calendar.yaml", import.meta.url), "utf8");
  const loaded = loadPolicy({ file: "calendar.yaml", text }, shippedOptions);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));

  test.each(checkExpectations(loaded.policy))("expectation $index holds", ({ holds }) => expect(holds).toBe(true));

  test("an expectation that does not hold is seen", () => {
    const wrong = text.replace("verdict: deny, by: R1", "verdict: deny, by: R2");
    expect(wrong).not.toBe(text);
    const changed = loadPolicy({ file: "calendar.yaml", text: wrong }, shippedOptions);
    if (changed.policy === undefined) throw new Error(JSON.stringify(changed.diagnostics));
    expect(checkExpectations(changed.policy).map(({ holds }) => holds)).toEqual([false, true]);
  });
});
