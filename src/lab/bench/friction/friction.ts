/** `sluicegate bench friction` as a use case: which scenarios and configurations, where packages are kept, what is printed. */
import { resolve, join } from "node:path";
import { stateHome } from "../../../adapters/daemon/paths.ts";
import { packageFolder } from "../../../app/policy/policy-source.ts";
import { type Outcome, failure } from "../../../app/state/outcome.ts";
import { shown } from "../../../app/state/sentences.ts";
import type { Result } from "../../../core/result.ts";
import { handLabelFolder, readHandLabels } from "../labels/hand-labels.ts";
import { configurations } from "./configurations.ts";
import { type FrictionBench, frictionBench } from "./friction-run.ts";
import { readFrictionScenarios } from "./friction-scenario.ts";
import { frictionCauses, frictionText, frictionTotals } from "./friction-text.ts";

export type FrictionWords = {
  readonly servers?: string;
  readonly configurations?: string;
  readonly cache?: string;
  readonly detail?: string;
};

/** Writes a file of the user's; the error is a sentence. */
type Write = (file: string, content: string) => Result<undefined, string>;

/** Scenarios of the package, unless the tests bring their own. */
const scenarioFolder = join(packageFolder, "scenarios", "friction");

export async function frictionOutcome(words: FrictionWords, write: Write, folder = scenarioFolder): Promise<Outcome> {
  const read = readFrictionScenarios(folder);
  if (!read.ok) return failure("SG-BENCH-DATA", `${read.error}.`);
  const scenarios = chosen(read.value, words.servers);
  if (typeof scenarios === "string") return failure("SG-USAGE", notThere("server", scenarios, read.value));
  const ways = chosen(configurations, words.configurations);
  if (typeof ways === "string") return failure("SG-USAGE", notThere("configuration", ways, configurations));
  const labels = readHandLabels(handLabelFolder);
  if (!labels.ok) return failure("SG-BENCH-DATA", `${labels.error}.`);
  const cache = resolve(words.cache ?? join(stateHome(process.env), "bench", "friction"));
  const tell = (line: string): void => void process.stderr.write(`${line}\n`);
  const bench = await frictionBench(scenarios, { cache, configurations: ways, labels: labels.value, tell });
  if (words.detail !== undefined) {
    const written = write(words.detail, detailOf(bench));
    if (!written.ok) return failure("SG-BENCH-FAILED", written.error);
  }
  const totals = frictionTotals(bench);
  const json = { suite: "friction", seed: 0, totals, causes: frictionCauses(bench), ...bench };
  return { exitCode: 0, json, text: `${aboutText(ways)}\n\n${frictionText(bench)}` };
}

/** The named ones in their own order, all without names, or the first name that is none. */
function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  words: string | undefined,
): readonly T[] | string {
  if (words === undefined) return all;
  const names = words.split(",").map((one) => one.trim());
  const stranger = names.find((name) => !all.some((one) => one.name === name));
  return stranger ?? all.filter((one) => names.includes(one.name));
}

function notThere(kind: string, name: string, all: readonly { readonly name: string }[]): string {
  return `There is no ${kind} \`${shown(name, 40)}\`: choose among ${all.map((one) => one.name).join(", ")}.`;
}

function aboutText(ways: readonly { readonly name: string; readonly about: string }[]): string {
  return ways.map(({ name, about }) => `${name}: ${about}`).join("\n");
}

function detailOf({ rows }: FrictionBench): string {
  const lines = rows.flatMap(({ calls, ...row }): readonly object[] =>
    calls.length === 0
      ? [row]
      : calls.map((call) => ({ server: row.server, configuration: row.configuration, ...call })),
  );
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
