/** Records of runs of the whole suite on this machine: durations, and tests that passed at the second attempt. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Flake } from "./outcome.ts";

export type PastRun = {
  readonly at: string;
  readonly seed: string;
  readonly sizes: "quick" | "full";
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly flakes: readonly Flake[];
};

/** How many runs a test is followed over. */
const runsFollowed = 10;

/** One run a line, the latest last. */
export function pastRuns(file: string): readonly PastRun[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => (line === "" ? [] : [JSON.parse(line) as PastRun])); // `keepRun` wrote them
}

export function keepRun(file: string, run: PastRun): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(run)}\n`);
}

/** In how many of the latest runs the test needed a second attempt. */
export function timesFlaky(runs: readonly PastRun[], flake: Flake): number {
  const same = (one: Flake): boolean => one.file === flake.file && one.test === flake.test;
  return runs.slice(-runsFollowed).filter((run) => run.flakes.some(same)).length;
}

export function minutes(seconds: number): string {
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
