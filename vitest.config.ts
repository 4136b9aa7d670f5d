import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { quickCases } from "./scripts/testing/sizes.ts";
import { SlowFirst } from "./scripts/testing/slow-first.ts";

// Tests that pass on an old Node prove nothing about the Node that users run.
if (Number(process.versions.node.split(".")[0]) < 24) {
  throw new Error(
    `Sluicegate needs Node 24 or newer, this is ${process.versions.node}: run "npm rebuild node", then "npm test".`,
  );
}

/** The pure layers. A run of everything measures what these tests reach, which no other test may add to. */
const pure = ["src/{core,wire,policy,proof,mechanisms}/**/*.test.ts", "test/policy/**/*.test.ts"];
/** Laws of the pure layers against plain models of them. */
const laws = ["test/laws/**/*.test.ts"];
/** What else needs no process of its own. */
const units = ["src/**/*.test.ts"];

/** Cases of a property, for tests that name no number. */
const cases = (quick: number) => ({ SLUICEGATE_RUNS: process.env["SLUICEGATE_RUNS"] ?? String(quick) });

// Programs, sockets and the kernel on a busy machine: the gate asks twice and the test command tells what needed it. A
// law that fails does so again, since all suites of a run have one seed.
const retry = process.env["SLUICEGATE_CI"] === "1" ? 1 : 0;

/** A property at its large size takes fifty times as long. */
const full = process.env["SLUICEGATE_FULL"] === "1";
/** More would cost memory and gain little: a few files take as long as all others. */
const cores = Math.min(4, Math.max(2, availableParallelism()));

export default defineConfig({
  test: {
    projects: [
      // Their files run one after the other in one worker, whose modules are loaded once.
      { extends: true, test: { name: "pure", include: pure, isolate: false, env: cases(quickCases.pure) } },
      { extends: true, test: { name: "laws", include: laws, isolate: false, env: cases(quickCases.laws) } },
      {
        extends: true,
        test: { name: "units", include: units, exclude: pure, isolate: false, env: cases(quickCases.units) },
      },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: [...pure, ...laws],
          env: cases(quickCases.whole),
          // These wait for others most of their time.
          maxWorkers: 2 * cores,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    retry,
    setupFiles: ["test/setup.ts"],
    sequence: { sequencer: SlowFirst },
    testTimeout: full ? 30 * 60_000 : 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: cores,
    coverage: {
      provider: "v8",
      include: ["src/{core,wire,policy,proof,mechanisms}/**/*.ts"],
      // Types alone run nothing; V8 would count such a file as not covered.
      exclude: [
        "**/*.test.ts",
        "**/*.d.ts",
        "src/core/{event,moment,run,settings}.ts",
        "src/proof/game/arena.ts",
        "src/policy/document/long-form.ts",
        "src/wire/message.ts",
      ],
      reporter: ["text", "json-summary", "json"],
      thresholds: { perFile: true, lines: 100, statements: 92, functions: 80, branches: 65 },
    },
  },
});
