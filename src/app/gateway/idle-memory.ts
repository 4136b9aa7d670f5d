/**
 * Memory that a burst of work needed goes back when the daemon has nothing to do. V8 collects when something is allocated,
 * and an idle process allocates nothing: it would keep what a 5 MB result took until the next one.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Time between two looks. */
export const idleLookMs = 2_500;

/** CPU that an idle daemon uses between two looks at most, and what must have been used since the last collection. */
const idleCpuUsMax = 40_000;
const workedCpuUsMin = 300_000;

/** Looks once: collects where much was done before and nothing is done now. `cpuUs` is what the process used so far. */
export function idleLook(cpuUs: () => number, collect: () => void): () => void {
  let last = cpuUs();
  let collected = 0;
  return () => {
    const now = cpuUs();
    const isIdle = now - last < idleCpuUsMax;
    last = now;
    if (!isIdle || now - collected < workedCpuUsMin) return;
    collect();
    // The cost of collecting does not count as work.
    last = cpuUs();
    collected = last;
  };
}

/** The collector, also of a process that was started without `--expose-gc`: a new context has what the flag gives. */
function collector(): NodeJS.GCFunction | undefined {
  if (globalThis.gc !== undefined) return globalThis.gc;
  setFlagsFromString("--expose-gc");
  const found: unknown = runInNewContext("gc");
  return typeof found === "function" ? (found as NodeJS.GCFunction) : undefined; // V8 gives this function that name
}

/** Starts looking. */
export function giveBackMemory(): void {
  const gc = collector();
  if (gc === undefined) return;
  const cpuUs = (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  };
  const look = idleLook(cpuUs, () => gc({ type: "major", execution: "sync", flavor: "last-resort" }));
  setInterval(look, idleLookMs).unref();
}
