// The test command: `npm test` (quick sizes), `npm run test:full [-- FILTER...]` (the large ones, then the coverage of
// the pure layers), `npm run cover` (that coverage alone). Prints the seed of all random suites, and with SLUICEGATE_CI=1
// refuses every skip that `.ci/skips` does not name, and fuzzes for longer.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const asked = process.argv.slice(2);
const full = asked.includes("--full");
const onlyCover = asked.includes("--cover");
const filters = asked.filter((argument) => argument !== "--full" && argument !== "--cover");
const seed = process.env["SLUICEGATE_SEED"] ?? String(Math.floor(Math.random() * 2 ** 31));
const data = resolve(root, "../shared/data");

/** How long each fuzz target runs. */
const fuzzMs = process.env["SLUICEGATE_CI"] === "1" || full ? 60_000 : 3_000;

// What tests leave behind lies in here and goes with it. Some run as other users, who use it like any temporary folder.
const folder = mkdtempSync(join(tmpdir(), "sgt-"));
chmodSync(folder, 0o1777);

const environment: NodeJS.ProcessEnv = {
  ...process.env,
  TMPDIR: folder,
  SLUICEGATE_SEED: seed,
  SLUICEGATE_RUNS: process.env["SLUICEGATE_RUNS"] ?? (full ? "10000" : "200"),
  SLUICEGATE_FUZZ_MS: process.env["SLUICEGATE_FUZZ_MS"] ?? String(fuzzMs),
  SLUICEGATE_FUZZ_SEED: process.env["SLUICEGATE_FUZZ_SEED"] ?? seed,
  ...(full ? { SLUICEGATE_FULL: "1" } : {}),
  ...(process.env["SLUICEGATE_DATA"] === undefined && existsSync(data) ? { SLUICEGATE_DATA: data } : {}),
};

const report = join(folder, "report.json");
console.log(`seed ${seed} (repeat with SLUICEGATE_SEED=${seed}), sizes: ${full ? "full" : "quick"}`);

function vitest(rest: readonly string[], env: NodeJS.ProcessEnv): number | null {
  const program = join(root, "node_modules/vitest/vitest.mjs");
  return spawnSync(process.execPath, [program, "run", ...rest], { cwd: root, env, stdio: "inherit" }).status;
}

/** What alone has to reach every line of the pure layers. */
const pureTests = ["src/core", "src/wire", "src/policy", "src/proof", "src/mechanisms", "test/policy"];

/** Asks which lines are reached, which large sizes do not change. */
const coverage = (): number | null =>
  vitest(["--coverage", ...pureTests], { ...environment, SLUICEGATE_RUNS: process.env["SLUICEGATE_RUNS"] ?? "50" });

if (onlyCover) {
  const status = coverage();
  rmSync(folder, { recursive: true, force: true });
  process.exit(status ?? 1);
}

const passed =
  vitest(["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, ...filters], environment) === 0;
const covered = !full || filters.length > 0 || coverage() === 0;

type Assertion = {
  readonly status: string;
  readonly fullName: string;
  /** Of each attempt that failed, also where a later one passed. */
  readonly failureMessages?: readonly string[];
};
type Report = {
  readonly testResults: readonly { readonly name: string; readonly assertionResults: readonly Assertion[] }[];
};

const found = existsSync(report) ? (JSON.parse(readFileSync(report, "utf8")) as Report) : { testResults: [] };
rmSync(folder, { recursive: true, force: true });
const all = found.testResults.flatMap((file) =>
  file.assertionResults.map((one) => ({ ...one, file: relative(root, file.name) })),
);
const skipped = all.filter((one) => one.status === "skipped" || one.status === "pending" || one.status === "todo");
const allowed = readFileSync(join(root, ".ci/skips"), "utf8")
  .split("\n")
  .flatMap((line) => (line.trim() === "" ? [] : [line.split(" ")[0] ?? ""]));
const refused = process.env["SLUICEGATE_CI"] === "1" ? skipped.filter((one) => !allowed.includes(one.file)) : [];
for (const one of skipped) console.log(`skipped: ${one.file}: ${one.fullName}`);
for (const one of refused)
  console.log(`not allowed to be skipped here: ${one.file} (name it in .ci/skips with a reason)`);
for (const one of all) {
  const [first] = one.failureMessages ?? [];
  if (one.status !== "passed" || first === undefined) continue;
  console.log(`passed at the second attempt: ${one.file}: ${one.fullName}: ${first.split("\n")[0]}`);
}
const count = (status: string): number => all.filter((one) => one.status === status).length;
console.log(`${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
process.exitCode = passed && covered && refused.length === 0 && all.length > 0 ? 0 : 1;
