/** Resources used by the descendants of a process, from proc(5). Racy by nature: an estimate. */
import { attempt } from "../../attempt.ts";
import { readdirSync, readFileSync } from "node:fs";

/** Processes of one server that are looked at. */
const processesMax = 4_096;
/** Shared memory of a process below this counts whole: to ask for its part costs more than all other looks together. */
const sharedKibMin = 4_096;

/** `USER_HZ`: clock ticks per second in the times of `/proc`, the same on every architecture that runs Node. */
const ticksPerSecond = 100;

export type TreeUse = {
  /** Memory of their own, and their parts of what they share: it is counted once, however many map it. */
  readonly residentBytes: number;
  readonly threads: number;
  readonly processes: number;
  /** The maximum over the processes: seconds of processor time, and open descriptors. */
  readonly processorSecondsMost: number;
  readonly openFilesMost: number;
  /** The processes, those that were started first before their children. */
  readonly pids: readonly number[];
};

/** Sums the resources of `root` and its descendants, at most `processesMax` processes. */
export function processTree(root: number): TreeUse {
  const waiting = [root];
  const pids: number[] = [];
  let residentBytes = 0;
  let threads = 0;
  let processes = 0;
  let processorSecondsMost = 0;
  let openFilesMost = 0;
  for (let pid = waiting.pop(); pid !== undefined && processes < processesMax; pid = waiting.pop()) {
    processes += 1;
    pids.push(pid);
    residentBytes += resident(pid);
    processorSecondsMost = Math.max(processorSecondsMost, processorSeconds(pid));
    openFilesMost = Math.max(openFilesMost, namesIn(`/proc/${pid}/fd`).length);
    for (const task of namesIn(`/proc/${pid}/task`)) {
      threads += 1;
      waiting.push(...numbersIn(`/proc/${pid}/task/${task}/children`));
    }
  }
  return { residentBytes, threads, processes, processorSecondsMost, openFilesMost, pids };
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

/**
 * Bytes in memory. Files that are mapped are left out: libraries that all processes map would count many times, and can be
 * read again. Shared memory counts by the part of the process, where the kernel tells it and that is worth the look.
 */
function resident(pid: number): number {
  const status = textIn(`/proc/${pid}/status`);
  const shared = kibibytes(status, "RssShmem");
  const part = shared < sharedKibMin ? undefined : kibibytesIn(`/proc/${pid}/smaps_rollup`, "Pss_Shmem");
  return (kibibytes(status, "RssAnon") + (part ?? shared)) * 1_024;
}

function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0);
}

/** Undefined where the kernel does not tell it, or not to us. */
function kibibytesIn(file: string, name: string): number | undefined {
  const text = textIn(file);
  return text.includes(`${name}:`) ? kibibytes(text, name) : undefined;
}

function textIn(file: string): string {
  return attempt(() => readFileSync(file, "latin1"), "");
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}

function numbersIn(file: string): readonly number[] {
  return attempt(() => readFileSync(file, "latin1").trim().split(/\s+/).filter(Boolean).map(Number), []);
}
