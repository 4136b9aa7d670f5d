// Mutation testing of the pure layers: `npm run mutate [-- src/policy/semantics/patterns.ts src/wire ... --force]`, without a
// target `src/core`. Each file is changed in one place after another; a change that no test of that file notices is
// printed, with its place. Results are kept in `.cache/mutation` and only what changed is tried again, unless --force
// is given: a changed import of the file does not count as such. Exit 1 where too few changes were noticed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Report, type Score, judged, percent, scoreText, sum } from "./mutation/mutants.ts";
import { type Importers, importersIn, pureFolders, runsSomething, sourcesIn } from "./mutation/sources.ts";
import { nearestTests } from "./mutation/nearest-tests.ts";

const root = resolve(import.meta.dirname, "..");
const home = join(root, "scripts/mutation");
const cache = join(root, ".cache/mutation");
const program = join(home, "node_modules/@stryker-mutator/core/bin/stryker.js");

const { values, positionals } = parseArgs({
  options: { force: { type: "boolean", default: false } },
  allowPositionals: true,
});

/** The settings of one run are those that the repository has, and what differs from file to file. */
type Settings = { readonly thresholds: { readonly break: number } };
const settings = JSON.parse(readFileSync(join(home, "stryker.json"), "utf8")) as Settings;

function filesOf(target: string): readonly string[] | undefined {
  const path = relative(root, resolve(target));
  const pure = pureFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
  if (!pure || !existsSync(join(root, path))) return undefined;
  const all = statSync(join(root, path)).isDirectory() ? sourcesIn(root, path) : [path];
  const code = all.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  return code.filter((file) => runsSomething(readFileSync(join(root, file), "utf8")));
}

/** Stryker brings many packages that nothing else here needs, so a checkout comes without it. */
function install(): boolean {
  if (existsSync(program)) return true;
  console.log("Stryker is not installed: installing the packages of scripts/mutation, once.");
  const done = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: home, stdio: "inherit" });
  if (done.status !== 0) console.error("Stryker could not be installed: run `npm ci` in scripts/mutation to see why.");
  return done.status === 0;
}

/** Tries every mutant of a file; undefined where Stryker gave up. */
function tried(file: string, importers: Importers): Score | undefined {
  const name = join(cache, file.replaceAll("/", "-"));
  const report = `${name}.report.json`;
  const config = `${name}.config.json`;
  const own = { mutate: [file], incrementalFile: `${name}.known.json`, jsonReporter: { fileName: report } };
  rmSync(report, { force: true });
  writeFileSync(config, JSON.stringify({ ...settings, ...own, force: values.force }));
  const tests = nearestTests(file, importers);
  const env = {
    ...process.env,
    SLUICEGATE_MUTATION_TESTS: tests.join(","),
    // One seed and size, so that a mutant has one fate.
    SLUICEGATE_SEED: process.env["SLUICEGATE_SEED"] ?? "1",
    SLUICEGATE_RUNS: process.env["SLUICEGATE_RUNS"] ?? "100",
  };
  console.log(`${file}, with ${tests.join(", ")}`);
  const stryker = spawnSync(process.execPath, [program, "run", config], { cwd: root, env, encoding: "utf8" });
  if (!existsSync(report)) {
    console.log(`  Stryker gave up, and said:\n${stryker.stdout}${stryker.stderr}`);
    return undefined;
  }
  const { score, survivors } = judged(JSON.parse(readFileSync(report, "utf8")) as Report);
  for (const survivor of survivors) console.log(`  survived: ${survivor}`);
  console.log(`  ${scoreText(score)}`);
  return score;
}

function run(): number {
  const files: string[] = [];
  for (const target of positionals.length > 0 ? positionals : ["src/core"]) {
    const found = filesOf(target);
    if (found === undefined || found.length === 0) {
      console.error(`${target} is not mutated: name a file or folder of ${pureFolders.join(", ")}.`);
      return 2;
    }
    files.push(...found);
  }
  if (!install()) return 2;
  mkdirSync(cache, { recursive: true });
  const importers = importersIn(root);
  const scores = [...new Set(files)].map((file) => tried(file, importers));
  const known = scores.filter((score) => score !== undefined);
  const all = sum(known);
  const wanted = settings.thresholds.break;
  console.log(`all: ${scoreText(all)}, at least ${wanted} % are wanted`);
  if (known.length < scores.length) console.log(`${scores.length - known.length} files could not be tried`);
  return percent(all) >= wanted && known.length === scores.length ? 0 : 1;
}

process.exitCode = run();
