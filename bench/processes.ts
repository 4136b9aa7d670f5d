import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks of /proc/PID/stat, which Linux fixes at 100 a second for user space. */
const microsecondsPerTick = 10_000;

export type ProcessFacts = {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
  readonly command: string;
};

function facts(pid: number): ProcessFacts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may hold spaces and brackets; the fields after the last bracket are plain.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return { pid, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), command };
  } catch {
    // It ended between the listing and the reading.
    return undefined;
  }
}

function hasVariable(pid: number, assignment: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "utf8")}`.includes(`\0${assignment}\0`);
  } catch {
    return false;
  }
}

/**
 * The processes under test: everything below `root` and everything that carries the environment variable (a daemon has
 * left the tree), without the server behind them and its children.
 */
export function underTest(root: number, assignment: string | undefined): readonly ProcessFacts[] {
  const all = new Map<number, ProcessFacts>();
  for (const name of readdirSync("/proc")) {
    const found = /^\d+$/.test(name) ? facts(Number(name)) : undefined;
    if (found !== undefined) all.set(found.pid, found);
  }
  const belongs = (found: ProcessFacts): boolean => {
    for (let at: ProcessFacts | undefined = found; at !== undefined; at = all.get(at.parent)) {
      if (at.pid === root) return true;
    }
    return assignment !== undefined && hasVariable(found.pid, assignment);
  };
  const isServer = (found: ProcessFacts): boolean =>
    / \S*echo-server\.ts /.test(found.command) && !found.command.includes(" -- ");
  return [...all.values()].filter((found) => belongs(found) && (found.pid === root || !isServer(found)));
}

/** CPU time that these processes have used so far, user and system, in microseconds. */
export function cpuMicroseconds(root: number, assignment: string | undefined): number {
  return underTest(root, assignment).reduce((sum, found) => sum + found.ticks, 0) * microsecondsPerTick;
}

/** Resident memory of a process in kilobytes. */
export function residentKilobytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
}
