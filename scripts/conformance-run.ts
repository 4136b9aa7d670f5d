import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { startChild } from "../test/kit/client/child.ts";
import { repositoryFolder } from "../test/kit/server/run-fixture.ts";

const packageFolder = join(repositoryFolder, "node_modules", "@modelcontextprotocol", "conformance");

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

/** The result of one run of the suite against one server. */
export type SuiteRun = {
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
  /** `scenario`, check id and status, joined by tabs. */
  readonly triples: ReadonlySet<string>;
  /** Scenarios that this requirement set scores. */
  readonly scored: readonly string[];
};

export type Difference = {
  readonly scenario: string;
  readonly check: string;
  readonly direct: string;
  readonly guarded: string;
  readonly why: string;
};

async function scoredScenarios(requirements: string): Promise<readonly string[]> {
  const text = await readFile(join(packageFolder, "requirements", `${requirements}.yaml`), "utf8");
  // The file belongs to the pinned package; its `server` list excludes scenarios that are not scored.
  const { server } = parse(text) as { readonly server: readonly string[] };
  return server;
}

/** Folders are called `server-SCENARIO-TIMESTAMP`. */
function scenarioOf(folder: string): string {
  return folder.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, "");
}

async function readChecks(output: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const scenarios = new Map<string, readonly Check[]>();
  for (const folder of (await readdir(output)).sort()) {
    const text = await readFile(join(output, folder, "checks.json"), "utf8");
    // Written a moment ago by the pinned package.
    scenarios.set(scenarioOf(folder), JSON.parse(text) as readonly Check[]);
  }
  return scenarios;
}

/** Runs every scenario of a requirement set against the server at `url`. */
export async function runSuite(url: string, requirements: string): Promise<SuiteRun> {
  const output = await mkdtemp(join(tmpdir(), "conformance-"));
  const program = join(packageFolder, "dist", "index.js");
  try {
    const args = [program, "server", "--url", url, "--requirements", requirements, "-o", output];
    const child = startChild([process.execPath, ...args]);
    child.process.stdout?.resume();
    await once(child.process, "close");
    const scenarios = await readChecks(output);
    const triples = new Set<string>();
    for (const [scenario, checks] of scenarios) {
      for (const check of checks) triples.add([scenario, check.id, check.status].join("\t"));
    }
    return { scenarios, triples, scored: await scoredScenarios(requirements) };
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** Scored scenarios that did not run or have a check that is neither passed nor merely informative. */
export function scoredFailures(run: SuiteRun): readonly string[] {
  return run.scored.filter((scenario) => {
    const checks = run.scenarios.get(scenario);
    return checks === undefined || checks.length === 0 || checks.some((check) => check.status === "FAILURE");
  });
}

function statuses(run: SuiteRun, scenario: string, id: string): string {
  const found = (run.scenarios.get(scenario) ?? []).filter((check) => check.id === id).map((check) => check.status);
  return [...new Set(found)].sort().join(" ") || "absent";
}

function why(run: SuiteRun, scenario: string, id: string): string {
  const found = (run.scenarios.get(scenario) ?? []).find(
    (check) => check.id === id && check.errorMessage !== undefined,
  );
  return (found?.errorMessage ?? "").slice(0, 160);
}

/** Every (scenario, check) whose statuses are not the same in both runs. */
export function differences(direct: SuiteRun, guarded: SuiteRun): readonly Difference[] {
  const keys = new Set<string>();
  for (const run of [direct, guarded]) {
    for (const triple of run.triples) {
      const other = run === direct ? guarded : direct;
      if (!other.triples.has(triple)) keys.add(triple.slice(0, triple.lastIndexOf("\t")));
    }
  }
  return [...keys].sort().map((key) => {
    const [scenario = "", check = ""] = key.split("\t");
    return {
      scenario,
      check,
      direct: statuses(direct, scenario, check),
      guarded: statuses(guarded, scenario, check),
      why: why(guarded, scenario, check),
    };
  });
}
