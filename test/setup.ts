// Every random suite of a run uses one seed, which the test command prints: a failure can be repeated with it.
import fc from "fast-check";

const seed = Number(process.env["SLUICEGATE_SEED"]);
fc.configureGlobal({
  ...(Number.isInteger(seed) ? { seed } : {}),
  numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200),
});
