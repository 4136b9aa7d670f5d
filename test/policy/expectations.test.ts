/** Every `expect:` of the shipped packs and of the language's own example holds in the engine itself. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadedPolicy } from "../../src/cli/loaded-policy.ts";
import { replayTrace } from "../../src/cli/replay/decide.ts";
import { sha256 } from "../../src/cli/policy-source.ts";
import type { TraceStep } from "../../src/cli/replay/trace.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { splitSelector } from "../../src/policy/canonical/names.ts";
import { shippedPacks } from "../../src/policy/default-policy.ts";
import type { ExpectText, StepText } from "../../src/policy/document.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { parsePolicy } from "../../src/policy/parse.ts";
import { digest } from "../../src/wire/canonical.ts";
import { shippedOptions } from "./load-packs.ts";

const reference = /\{([A-Za-z0-9_.:-]+?)(\/[^{}]*)?\}/;

/** A value that has a unique text at a pointer; without a pointer the text alone. */
function valueAt(pointer: string | undefined, text: string): Json {
  if (pointer === undefined) return { content: [{ type: "text", text }], structuredContent: { content: text } };
  const inner = pointer
    .slice(1)
    .split("/")
    .reduceRight<Json>((value, part) => (/^[0-9]+$/.test(part) ? [value] : { [part]: value }), text);
  return { content: [], structuredContent: inner };
}

/** The calls of a trace, with results that hold whatever later steps refer to. */
function stepsOf(trace: readonly StepText[], server: string): readonly TraceStep[] {
  const calls = trace.map((step) => {
    const [name, args] = typeof step === "string" ? [step, {}] : (Object.entries(step)[0] ?? ["", {}]);
    const { server: named, tool } = splitSelector(name);
    return { server: named === "*" ? server : named, tool, args: args as JsonObject };
  });
  const secrets = new Map<string, { readonly pointer: string | undefined; readonly text: string }>();
  const filled = calls.map((call) => {
    const written = JSON.stringify(call.args).replace(
      new RegExp(reference, "g"),
      (whole, tool: string, pointer?: string) => {
        const source = calls.find((each) => each.tool === tool);
        if (source === undefined) return whole;
        const text = `planted text of ${tool} 7f3a9c15`;
        secrets.set(tool, { pointer, text });
        return text;
      },
    );
    return { ...call, args: JSON.parse(written) as JsonObject };
  });
  return filled.map(({ server: owner, tool, args }) => {
    const planted = secrets.get(tool);
    const result = planted === undefined ? valueAt(undefined, "done") : valueAt(planted.pointer, planted.text);
    return { kind: "call", server: owner, tool, arguments: args, result, isError: false };
  });
}

const strictness = ["allow", "confirm", "deny"];

function decide(text: string, expectation: ExpectText, server: string): { verdict: string; rules: readonly string[] } {
  const loaded = loadPolicy({ file: "expect.yaml", text }, shippedOptions);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const steps = stepsOf(expectation.trace, server);
  const servers = new Map<string, JsonObject[]>();
  for (const step of steps) {
    if (step.kind === "call") servers.set(step.server, [...(servers.get(step.server) ?? []), { name: step.tool }]);
  }
  const trace = { servers, labels: undefined, instruction: expectation.instruction, steps };
  const options = { consent: "once" as const, workspace: ["/work"], digest: (value: Json) => digest(value, sha256) };
  const rows = replayTrace(loadedPolicy(loaded.policy, "expect.yaml"), trace, options);
  const strictest = Math.max(...rows.map((row) => strictness.indexOf(row.verdict)));
  const deciding = rows.filter((row) => strictness.indexOf(row.verdict) === strictest);
  return { verdict: strictness[strictest] ?? "", rules: deciding.flatMap((row) => row.rules) };
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
  const expectations = loaded.policy?.policy.expect ?? [];

  test.each(expectations.map((each, index) => [index, each] as const))("expectation %i holds", (_, expectation) => {
    const found = decide(text, expectation, "calendar");
    expect(found.verdict).toBe(expectation.verdict);
    for (const by of typeof expectation.by === "string" ? [expectation.by] : (expectation.by ?? [])) {
      expect(found.rules).toContain(by);
    }
  });
});
