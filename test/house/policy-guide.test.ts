// Each policy that the guide shows loads, is what it says, and keeps its own expectations.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { checkExpectations } from "../../src/app/policy/expectations.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";

const root = resolve(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/policy-guide.md"), "utf8");
const blocks = [...guide.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((found) => found[1] ?? "");

it("has a policy in each section", () => {
  expect(blocks.length).toBeGreaterThan(8);
  expect(guide.match(/^## \d /gm)).toHaveLength(6);
});

it.each(blocks)("C24: a policy of the guide loads:\n%s", (text) => {
  const compiled = compiledFrom({ file: "guide.yaml", text });
  expect(compiled.ok ? "" : compiled.error).toBe("");
  if (compiled.ok) expect(checkExpectations(compiled.value).filter(({ holds }) => !holds)).toEqual([]);
});
