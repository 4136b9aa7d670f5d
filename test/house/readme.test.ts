// What the README shows can be used as it stands: its policy loads, its configuration is accepted.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { configOf } from "../../src/app/gateway/config.ts";
import { compiledFrom } from "../../src/app/policy/named-policy.ts";

const root = resolve(import.meta.dirname, "../..");
const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(
  (found) => found[1] ?? "",
);

describe("README", () => {
  it("shows a configuration that is accepted", () => {
    const [shown, ...more] = blocks.filter((block) => block.includes("command:"));
    expect(more).toEqual([]);
    expect(configOf(parse(shown ?? ""), "sluicegate.yaml")).toMatchObject({ ok: true });
  });

  it("shows a policy that loads", () => {
    const [shown, ...more] = blocks.filter((block) => block.includes("rules:"));
    expect(more).toEqual([]);
    const compiled = compiledFrom({ file: "README.md", text: shown ?? "" });
    expect(compiled.ok ? "" : compiled.error).toBe("");
  });
});
