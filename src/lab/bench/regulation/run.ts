/** `sluicegate bench regulation`: our scenarios, third-party corpora where present, and its cost. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Result, err, ok } from "../../../core/result.ts";
import { packageFolder, sha256 } from "../../../app/policy/policy-source.ts";
import { type DojoRow, runVariant } from "../agentdojo/agentdojo.ts";
import { type LatencyRow, type TokenRow, latencyRows } from "./latency.ts";
import { type EmuRow, type SwordRow, emuRows, swordRows } from "./outside-rows.ts";
import { readHandLabels, readToolEmu, readToolSword } from "./outside-tools.ts";
import type { Oracle } from "./play.ts";
import { readScenarios } from "./scenario.ts";
import { type ScenarioResult, type ScenarioRow, scenarioSuite } from "./suite.ts";
import type { Json } from "../../../core/json.ts";
import { digest } from "../../../wire/canonical.ts";
import { loadPolicyFor } from "../../../app/policy/named-policy.ts";
import { readSuite } from "../agentdojo/data.ts";
import { rulesOnly } from "./world.ts";
import { type PredictionContext, predictionKind } from "../../../core/questions/prediction.ts";
import { makeEmbedded } from "../../../oracles/foresight/embedded.ts";
import { asAdvice } from "../../../oracles/foresight/merge.ts";
import { shippedWeights } from "../../../app/oracles/shipped-weights.ts";

export const scenarioFolder = resolve(packageFolder, "scenarios/regulation");

/** Of the coin that the random filter throws. */
export const regulationSeed = 1;

export type RegulationRow = ScenarioRow | SwordRow | EmuRow | DojoRow | LatencyRow | TokenRow;

export type RegulationBench = {
  readonly rows: readonly RegulationRow[];
  /** Scenarios in which the whole engine deviates from the expected decisions. */
  readonly misses: readonly Pick<ScenarioResult, "scenario" | "prevented" | "kept" | "blocked" | "wrongLists">[];
  /** Suites and variants that could not be run, each with the reason. */
  readonly skipped: readonly string[];
};

export function regulationBench(data: string | undefined): Result<RegulationBench, string> {
  const scenarios = readScenarios(scenarioFolder);
  if (!scenarios.ok) return scenarios;
  const { oracle, skipped } = model();
  const suite = scenarioSuite(scenarios.value, { seed: regulationSeed, oracle });
  if (!suite.ok) return suite;
  const outside = outsideRows(data, oracle);
  if (!outside.ok) return outside;
  const whole = suite.value.details.get("regulate") ?? [];
  const misses = whole
    .filter(({ prevented, kept, wrongLists }) => !prevented || !kept || wrongLists.length > 0)
    .map(({ scenario, prevented, kept, blocked, wrongLists }) => ({ scenario, prevented, kept, blocked, wrongLists }));
  const rows = [...suite.value.rows, ...outside.value.rows];
  return ok({ rows, misses, skipped: [...skipped, ...outside.value.skipped] });
}

export function regulationLatency(): Result<RegulationBench, string> {
  const { oracle, skipped } = model();
  const rows = latencyRows(oracle);
  return rows.ok ? ok({ rows: rows.value, misses: [], skipped }) : rows;
}

function model(): { readonly oracle: Oracle | undefined; readonly skipped: readonly string[] } {
  const oracle = embeddedOracle();
  return oracle.ok
    ? { oracle: oracle.value, skipped: [] }
    : { oracle: undefined, skipped: [`regulate+embedded: ${oracle.error}`] };
}

type Outside = { readonly rows: readonly RegulationRow[]; readonly skipped: readonly string[] };

/** The corpora below the folder. One that is absent is named as such, never counted as passed. */
function outsideRows(data: string | undefined, oracle: Oracle | undefined): Result<Outside, string> {
  const rows: RegulationRow[] = [];
  const skipped: string[] = [];
  const present = (file: string): boolean => {
    if (data !== undefined && existsSync(join(data, file))) return true;
    const why =
      data === undefined ? "name the folder that holds it with --data" : "the folder given with --data lacks it";
    skipped.push(`${file}: ${why}`);
    return false;
  };
  const folder = data ?? "";
  if (present("toolsword/data_RC.json")) {
    const cases = readToolSword(folder);
    if (!cases.ok) return cases;
    const found = swordRows(cases.value, oracle);
    if (!found.ok) return found;
    rows.push(...found.value);
  }
  if (present("toolemu/all_toolkits.json")) {
    const kits = readToolEmu(folder);
    if (!kits.ok) return kits;
    const labels = readHandLabels(scenarioFolder);
    if (!labels.ok) return labels;
    const found = emuRows(kits.value, labels.value, oracle);
    if (!found.ok) return found;
    rows.push(...found.value);
  }
  if (present("agentdojo/banking.json") && present("agentdojo/slack.json")) {
    const found = dojoRows(folder);
    if (!found.ok) return found;
    rows.push(...found.value);
  }
  return ok({ rows, skipped });
}

const valueDigest = (value: Json): string => digest(value, sha256);

export function dojoRows(data: string): Result<readonly DojoRow[], string> {
  const rows: DojoRow[] = [];
  for (const part of ["banking", "slack"]) {
    const suite = readSuite(data, part);
    if (!suite.ok) return suite;
    for (const labels of ["hand", "inferred"] as const) {
      const file = resolve(packageFolder, "examples/agentdojo", labels === "hand" ? `${part}.yaml` : "inferred.yaml");
      const policy = loadPolicyFor(file, { flow: "provenance" });
      if (!policy.ok) return err(policy.error);
      const common = { instruction: true, digest: valueDigest };
      const bare = { ...policy.value, engine: rulesOnly(policy.value.engine) };
      rows.push(runVariant(suite.value, { ...common, name: `regulate, ${labels} labels`, policy: policy.value }));
      rows.push(runVariant(suite.value, { ...common, name: `rules only, ${labels} labels`, policy: bare }));
    }
  }
  return ok(rows);
}

export function embeddedOracle(): Result<Oracle, string> {
  const weights = shippedWeights();
  if (!weights.ok) return weights;
  const predict = makeEmbedded(weights.value);
  return ok((question) => {
    if (question.kind !== predictionKind) return undefined;
    // The question was made by regulation from such a context, and a prediction holds nothing but JSON values.
    return asAdvice(predict(question.content as unknown as PredictionContext)) as unknown as Json;
  });
}
