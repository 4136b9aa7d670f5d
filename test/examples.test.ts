// The examples check themselves: each trace is decided as its expected.json says.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPolicyFor } from "../src/app/policy/named-policy.ts";
import type { Json } from "../src/core/json.ts";
import { replayTrace } from "../src/app/replay/replay-trace.ts";
import { readTrace } from "../src/app/replay/trace.ts";
import { sha256 } from "../src/app/policy/policy-source.ts";
import { digest } from "../src/wire/canonical.ts";

const folder = resolve(import.meta.dirname, "../examples");
const examples = readdirSync(folder).filter((name) => existsSync(join(folder, name, "trace.json")));

type Expected = { readonly tool: string; readonly verdict: string; readonly rule?: string };

describe("examples", () => {
  it("are there", () => expect(examples).toEqual(expect.arrayContaining(["calendar", "github"])));

  it.each(examples)("%s is decided as expected", (name) => {
    const read = (file: string): Json => JSON.parse(readFileSync(join(folder, name, file), "utf8"));
    const trace = readTrace(read("trace.json"));
    if (!trace.ok) throw new Error(trace.error);
    const policy = loadPolicyFor(join(folder, name, "policy.yaml"));
    if (!policy.ok) throw new Error(policy.error);
    const options = { consent: "refuse" as const, workspace: [], digest: (value: Json) => digest(value, sha256) };
    const steps = replayTrace(policy.value, trace.value, options);
    const expected = read("expected.json") as readonly Expected[];
    expect(steps.map(({ tool, verdict }) => ({ tool, verdict }))).toEqual(
      expected.map(({ tool, verdict }) => ({ tool, verdict })),
    );
    expected.forEach(({ rule }, index) => {
      if (rule !== undefined) expect(steps[index]?.rules).toContain(rule);
    });
  });
});
