// Every random suite of a run uses one seed, which the test command prints: a failure can be repeated with it.
import fc from "fast-check";
import { sharedCache } from "./kit/client/warm-home.ts";

const seed = Number(process.env["SLUICEGATE_SEED"]);
fc.configureGlobal({
  ...(Number.isInteger(seed) ? { seed } : {}),
  numRuns: Number(process.env["SLUICEGATE_RUNS"] ?? 200),
});

// Tests that are not about isolation start hundreds of servers, which write their records outside of any workspace.
process.env["SLUICEGATE_ISOLATION"] ??= "off";

// For the processes that tests start: this one runs already.
process.env["NODE_COMPILE_CACHE"] ??= sharedCache;
