/** What the descendants of a process use, from proc(5). Racy by nature: a look, not a measurement. */
import { readdirSync, readFileSync } from "node:fs";

/** Processes of one server that are looked at. */
const processesMax = 4_096;
const pageBytes = 4_096;

export type TreeUse = { readonly residentBytes: number; readonly threads: number; readonly processes: number };

export function processTree(root: number): TreeUse {
  const waiting = [root];
  let residentBytes = 0;
  let threads = 0;
  let processes = 0;
  for (let pid = waiting.pop(); pid !== undefined && processes < processesMax; pid = waiting.pop()) {
    processes += 1;
    residentBytes += resident(pid) * pageBytes;
    for (const task of tasksOf(pid)) {
      threads += 1;
      waiting.push(...numbersIn(`/proc/${pid}/task/${task}/children`));
    }
  }
  return { residentBytes, threads, processes };
}

/** Pages that are in memory and not shared: libraries that all processes map would count many times. */
function resident(pid: number): number {
  const [, pages = 0, shared = 0] = numbersIn(`/proc/${pid}/statm`);
  return Math.max(0, pages - shared);
}

function tasksOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

function numbersIn(file: string): readonly number[] {
  try {
    return readFileSync(file, "latin1").trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
