/** `sluicegate bench regulation`: scenarios of ours, corpora of others where they are present, and what it costs. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Result } from "../../../core/result.ts";
import { ok } from "../../../core/result.ts";
import { packageFolder } from "../../policy-source.ts";
import type { DojoRow } from "../agentdojo.ts";
import { dojoRows } from "./dojo-rows.ts";
import type { LatencyRow, TokenRow } from "./latency.ts";
import { latencyRows } from "./latency.ts";
import { embeddedOracle } from "./oracle.ts";
import type { EmuRow, SwordRow } from "./outside-rows.ts";
import { emuRows, swordRows } from "./outside-rows.ts";
import { readHandLabels, readToolEmu, readToolSword } from "./outside-tools.ts";
import type { Oracle } from "./play.ts";
import { readScenarios } from "./scenario.ts";
import type { ScenarioResult, ScenarioRow } from "./suite.ts";
import { scenarioSuite } from "./suite.ts";

export const scenarioFolder = resolve(packageFolder, "scenarios/regulation");

/** Of the coin that the random filter throws. */
export const regulationSeed = 1;

export type RegulationRow = ScenarioRow | SwordRow | EmuRow | DojoRow | LatencyRow | TokenRow;

export type RegulationBench = {
  readonly rows: readonly RegulationRow[];
  /** Where the whole engine did not do what a scenario asks for. */
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
