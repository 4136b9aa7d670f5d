import { defineConfig } from "vitest/config";

// Tests that pass on an old Node prove nothing about the Node that users run.
if (Number(process.versions.node.split(".")[0]) < 24) {
  throw new Error(
    `Sluicegate needs Node 24 or newer, this is ${process.versions.node}: run "npm rebuild node", then "npm test".`,
  );
}

/** What needs no process of its own: files run one after the other in one worker, whose modules are loaded once. */
const units = ["src/**/*.test.ts", "test/laws/**/*.test.ts", "test/policy/**/*.test.ts"];

// Programs, sockets and the kernel on a busy machine: the gate asks twice and the test command tells what needed it. A
// law that fails does so again, since all suites of a run have one seed.
const retry = process.env["SLUICEGATE_CI"] === "1" ? 1 : 0;

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "units", include: units, isolate: false } },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["test/**/*.test.ts"],
          exclude: units,
          // These wait for others half of their time.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    retry,
    setupFiles: ["test/setup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    coverage: {
      provider: "v8",
      include: ["src/{core,wire,policy,proof,mechanisms}/**/*.ts"],
      // Types alone run nothing; V8 would count such a file as not covered.
      exclude: [
        "**/*.test.ts",
        "**/*.d.ts",
        "src/core/{event,moment,run,settings}.ts",
        "src/policy/{document,document-later,document-judges,document-regulation,judges,regulation}.ts",
        "src/proof/game/arena.ts",
        "src/policy/canonical/form.ts",
        "src/wire/message.ts",
      ],
      reporter: ["text", "json-summary", "json"],
      thresholds: { perFile: true, lines: 100, statements: 92, functions: 80, branches: 65 },
    },
  },
});
