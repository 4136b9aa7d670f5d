/** Resources used by the descendants of a process, from proc(5). Racy by nature: an estimate. */
import { attempt } from "../../attempt.ts";
import { readdirSync, readFileSync } from "node:fs";

/** Processes of one server that are looked at. */
const processesMax = 4_096;
const pageBytes = 4_096;

/** `USER_HZ`: clock ticks per second in the times of `/proc`, the same on every architecture that runs Node. */
const ticksPerSecond = 100;

export type TreeUse = {
  readonly residentBytes: number;
  readonly threads: number;
  readonly processes: number;
  /** The maximum over the processes: seconds of processor time, and open descriptors. */
  readonly processorSecondsMost: number;
  readonly openFilesMost: number;
};

/** Sums the resources of `root` and its descendants, at most `processesMax` processes. */
export function processTree(root: number): TreeUse {
  const waiting = [root];
  let residentBytes = 0;
  let threads = 0;
  let processes = 0;
  let processorSecondsMost = 0;
  let openFilesMost = 0;
  for (let pid = waiting.pop(); pid !== undefined && processes < processesMax; pid = waiting.pop()) {
    processes += 1;
    residentBytes += resident(pid) * pageBytes;
    processorSecondsMost = Math.max(processorSecondsMost, processorSeconds(pid));
    openFilesMost = Math.max(openFilesMost, namesIn(`/proc/${pid}/fd`).length);
    for (const task of namesIn(`/proc/${pid}/task`)) {
      threads += 1;
      waiting.push(...numbersIn(`/proc/${pid}/task/${task}/children`));
    }
  }
  return { residentBytes, threads, processes, processorSecondsMost, openFilesMost };
}

/** Of all threads, those that have ended too. The name of the program, in parentheses, may hold anything. */
function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / ticksPerSecond;
  } catch {
    return 0;
  }
}

/** Pages that are in memory and not shared: libraries that all processes map would count many times. */
function resident(pid: number): number {
  const [, pages = 0, shared = 0] = numbersIn(`/proc/${pid}/statm`);
  return Math.max(0, pages - shared);
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}

function numbersIn(file: string): readonly number[] {
  return attempt(() => readFileSync(file, "latin1").trim().split(/\s+/).filter(Boolean).map(Number), []);
}
