// The test command: `npm test [-- FILTER...]` (quick sizes), `npm run test:full [-- PART|FILTER...]` (the large ones),
// `npm run cover` (the tests of the pure layers, with their coverage). A run of everything measures that coverage in
// the run that tests these layers. Prints the seed of all random suites. With SLUICEGATE_CI=1 it refuses every skip that
// `.ci/skips` does not allow here, and fuzzes for longer; SLUICEGATE_REQUIRE=userns,z3,... names what must not be missing
// (`testing/requirements.ts`; where it is not set, the gate requires what it finds).
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fullRunLines, partOf, partsOf, readFullRuns, treeOf, writeFullRuns } from "./testing/full-runs.ts";
import { count, type Flake, flakesIn, statuses, type Tested, testedIn, unplayed } from "./testing/outcome.ts";
import { keepRun, minutes, pastRuns, timesFlaky } from "./testing/past-runs.ts";
import {
  detected,
  readSkips,
  refusal,
  type Requirement,
  requirements,
  requirementsIn,
} from "./testing/requirements.ts";
import { fullCases, fuzzMs, quickMinutes } from "./testing/sizes.ts";

const root = resolve(import.meta.dirname, "..");
const options = ["--full", "--cover"];
const asked = process.argv.slice(2);
const full = asked.includes("--full");
const onlyCover = asked.includes("--cover");
const gate = process.env["SLUICEGATE_CI"] === "1";
const seed = process.env["SLUICEGATE_SEED"] ?? String(Math.floor(Math.random() * 2 ** 31));
const data = resolve(root, "../shared/data");

const parts = partsOf(root);
const words = asked.filter((word) => !options.includes(word));
const filters = words.flatMap((word) => (full ? parts.find((part) => part.name === word)?.tests : undefined) ?? [word]);
const everything = filters.length === 0 && !onlyCover;

// What tests leave behind lies in here and goes with it. Some run as other users, who use it like any temporary folder.
const folder = mkdtempSync(join(tmpdir(), "sgt-"));
chmodSync(folder, 0o1777);

const environment: NodeJS.ProcessEnv = {
  ...process.env,
  TMPDIR: folder,
  SLUICEGATE_SEED: seed,
  SLUICEGATE_FUZZ_MS: process.env["SLUICEGATE_FUZZ_MS"] ?? String(fuzzMs[full ? "full" : gate ? "gate" : "newcomer"]),
  SLUICEGATE_FUZZ_SEED: process.env["SLUICEGATE_FUZZ_SEED"] ?? seed,
  ...(full ? { SLUICEGATE_FULL: "1", SLUICEGATE_RUNS: process.env["SLUICEGATE_RUNS"] ?? String(fullCases) } : {}),
  ...(process.env["SLUICEGATE_DATA"] === undefined && existsSync(data) ? { SLUICEGATE_DATA: data } : {}),
};

type Run = { readonly passed: boolean; readonly tested: readonly Tested[] };

/** Runs Vitest with these words. */
function vitest(...rest: readonly string[]): Run {
  const report = join(mkdtempSync(join(folder, "report-")), "report.json");
  const program = join(root, "node_modules/vitest/vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const args = [program, "run", ...reporters, ...rest];
  const { status } = spawnSync(process.execPath, args, { cwd: root, env: environment, stdio: "inherit" });
  return { passed: status === 0, tested: testedIn(root, [report]) };
}

/** Undefined after a message, where the list names something unknown. */
function requiredHere(): readonly Requirement[] | undefined {
  const listed = process.env["SLUICEGATE_REQUIRE"];
  if (listed === undefined) return gate ? detected(environment["SLUICEGATE_DATA"]) : [];
  const found = requirementsIn(listed);
  if (found === undefined) console.log(`SLUICEGATE_REQUIRE=${listed}: it may name ${requirements.join(", ")}`);
  return found;
}

/** Prints every skipped test; the number of those that must not be skipped. */
function reportSkips(tested: readonly Tested[], required: readonly Requirement[]): number {
  const skips = readSkips(readFileSync(join(root, ".ci/skips"), "utf8"));
  let refused = 0;
  for (const { file, fullName } of tested.filter((one) => one.status === "skipped")) {
    const why = refusal(skips, required, { file, unlisted: !gate });
    console.log(`skipped: ${file}: ${fullName}${why === undefined ? "" : `\n  not allowed here: ${why}`}`);
    if (why !== undefined) refused += 1;
  }
  return refused;
}

const historyFile = process.env["SLUICEGATE_FLAKES"] ?? join(root, ".cache/test-runs.jsonl");

function reportFlakes(flakes: readonly Flake[]): void {
  for (const flake of flakes) {
    const times = timesFlaky(pastRuns(historyFile), flake);
    const before = times > 1 ? ` (in ${times} of the last runs)` : "";
    console.log(`passed at the second attempt${before}: ${flake.file}: ${flake.test}: ${flake.failure}`);
  }
}

/** Prints the recorded transcripts whose tests did not run; their number. */
function reportUnplayed(tested: readonly Tested[]): number {
  const lost = unplayed(readFileSync(join(root, "test/golden/transcripts.jsonl"), "utf8"), tested);
  for (const name of lost) console.log(`no test has this name, so its transcript is compared with nothing: ${name}`);
  return lost.length;
}

/**
 * Puts on record which parts ran whole at full sizes, and are what lies here still. Where Vitest failed, no part counts
 * as passed: an error outside of any test belongs to none.
 */
function recordFullRuns({ passed, tested }: Run, trees: ReadonlyMap<string, string>): void {
  const cases = Number(environment["SLUICEGATE_RUNS"]);
  const date = new Date().toISOString().slice(0, 10);
  const records = parts.flatMap((part) => {
    const own = tested.filter((one) => partOf(parts, one.file)?.name === part.name);
    const [good, failed, skipped] = [count(own, "passed"), count(own, "failed"), count(own, "skipped")];
    const ranWhole = part.tests.every((path) => everything || filters.includes(path)) && good + failed > 0;
    const tree = treeOf(root, part.about);
    if (!ranWhole || tree !== trees.get(part.name) || (!passed && failed === 0) || cases < fullCases) return [];
    const result = `${good} passed, ${failed} failed, ${skipped} skipped`;
    return [[part.name, { tree, date, cases, seed, result }] as const];
  });
  writeFullRuns(root, { ...readFullRuns(root), ...Object.fromEntries(records) });
  console.log(`.ci/full-runs.json: ${records.map(([name]) => name).join(", ") || "nothing new"}`);
}

function printFullRuns(): void {
  console.log("full sizes (npm run test:full -- PART):");
  for (const line of fullRunLines(parts, readFullRuns(root), (part) => treeOf(root, part.about)))
    console.log(`  ${line}`);
}

function announce(): void {
  const past = pastRuns(historyFile).findLast((run) => run.sizes === (full ? "full" : "quick"));
  const last = past === undefined ? "" : `; here the last time ${minutes(past.seconds)}`;
  if (everything && full) console.log(`full sizes take hours${last}`);
  else if (everything) console.log(`this takes about ${quickMinutes} minutes on two cores${last}`);
  console.log(`seed ${seed} (repeat with SLUICEGATE_SEED=${seed}), sizes: ${full ? "full" : "quick"}`);
}

/** A run of everything tests the pure layers first: their tests alone have to reach every line of them. */
function run(): Run {
  if (onlyCover) return vitest("--project=pure", "--coverage");
  if (!everything) return vitest(...filters);
  const pure = vitest("--project=pure", "--coverage", "--coverage.reporter=text-summary");
  const others = vitest("--project=laws", "--project=units", "--project=whole");
  return { passed: pure.passed && others.passed, tested: [...pure.tested, ...others.tested] };
}

function main(): boolean {
  const required = requiredHere();
  if (required === undefined) return false;
  announce();
  const started = performance.now();
  const trees = new Map(full ? parts.map((part) => [part.name, treeOf(root, part.about)]) : []);
  const done = run();
  const flakes = flakesIn(done.tested);
  const [passed = 0, failed = 0, skipped = 0] = statuses.map((status) => count(done.tested, status));
  const seconds = Math.round((performance.now() - started) / 1000);
  const sizes = full ? "full" : "quick";
  if (everything) keepRun(historyFile, { at: new Date().toISOString(), seed, sizes, seconds, passed, failed, flakes });
  const refused = reportSkips(done.tested, required);
  const lost = everything ? reportUnplayed(done.tested) : 0;
  reportFlakes(flakes);
  if (full) recordFullRuns(done, trees);
  if (gate) printFullRuns();
  const second = `${flakes.length} at the second attempt${everything ? ` (kept in ${historyFile})` : ""}`;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped, ${second}; ${minutes(seconds)}`);
  return done.passed && refused === 0 && lost === 0 && done.tested.length > 0;
}

try {
  process.exitCode = main() ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
