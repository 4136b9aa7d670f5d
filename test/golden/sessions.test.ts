// Golden sessions: what a client and the reference servers really said, saved with `replay --run KEY --save FILE`, and
// the verdicts on it; and the traces of the examples. A line that changes is a verdict that changes for users.
// `SLUICEGATE_GOLDEN=write` writes them anew.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadPolicyFor } from "../../src/app/policy/named-policy.ts";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import { replayTrace } from "../../src/app/replay/replay-trace.ts";
import { readTrace } from "../../src/app/replay/trace.ts";
import type { Json } from "../../src/core/json.ts";
import { digest } from "../../src/wire/canonical.ts";
import { unwrap } from "../kit/gateway/log-records.ts";

const folder = join(import.meta.dirname, "sessions");
const examples = join(import.meta.dirname, "../../examples");

type Case = { readonly name: string; readonly trace: string; readonly policy: string };

/** Sessions beside their verdicts, and the examples that users read. */
const cases: readonly Case[] = [
  ...readdirSync(folder).flatMap((file): readonly Case[] => {
    const name = file.slice(0, -".json".length);
    if (!file.endsWith(".json")) return [];
    return [{ name, trace: join(folder, file), policy: join(folder, `${name}.yaml`) }];
  }),
  ...readdirSync(examples).flatMap((name): readonly Case[] => {
    const trace = join(examples, name, "trace.json");
    if (!existsSync(trace)) return [];
    return [{ name: `example-${name}`, trace, policy: join(examples, name, "policy.yaml") }];
  }),
];

it.each(cases)("$name", ({ name, trace: traceFile, policy: policyFile }) => {
  const trace = unwrap(readTrace(JSON.parse(readFileSync(traceFile, "utf8")) as Json));
  const policy = unwrap(loadPolicyFor(policyFile));
  const options = {
    consent: "refuse",
    workspace: ["/workspace"],
    digest: (value: Json) => digest(value, sha256),
  } as const;
  const lines = replayTrace(policy, trace, options).map(({ tool, verdict, codes, path, release }) => {
    const from = [...new Set(path.map(({ argument, step, label }) => `${argument} from ${step} (${label})`))];
    return [`${tool}: ${verdict}`, ...codes, ...from, `release ${release}`].join("; ");
  });
  const file = join(folder, `${name}.txt`);
  const text = `${lines.join("\n")}\n`;
  if (process.env["SLUICEGATE_GOLDEN"] === "write") writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
});
