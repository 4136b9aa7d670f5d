// Golden sessions: what a client and the reference servers really said, saved with `replay --run KEY --save FILE`, and
// the verdicts on it. A line that changes is a verdict that changes for users. `SLUICEGATE_GOLDEN=write` writes them anew.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadPolicyFor } from "../../src/cli/loaded-policy.ts";
import { sha256 } from "../../src/cli/policy-source.ts";
import { replayTrace } from "../../src/cli/replay/decide.ts";
import { readTrace } from "../../src/cli/replay/trace.ts";
import type { Json } from "../../src/core/json.ts";
import { digest } from "../../src/wire/canonical.ts";
import { unwrap } from "../store/fixture.ts";

const folder = join(import.meta.dirname, "sessions");
const sessions = readdirSync(folder).flatMap((name) =>
  name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
);

it.each(sessions)("%s", (name) => {
  const trace = unwrap(readTrace(JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8")) as Json));
  const policy = unwrap(loadPolicyFor(join(folder, `${name}.yaml`)));
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
