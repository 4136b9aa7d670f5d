/**
 * Limits of a projection that the kernel enforces, and its reports about them. With a control group of our own the
 * counts are exact; without one, resource limits hold for each process, and the memory of all of them is looked at in
 * turns.
 */
import { readFileSync } from "node:fs";
import type { LimitScope } from "../../../core/isolation/scope.ts";
import type { ServerProcess } from "../../process/server-process.ts";
import { cgroupBase } from "./cgroup.ts";
import { joinGroup, type ServerGroup } from "./cgroup-group.ts";
import type { FatalLimit, LimitWatch, Sighting } from "../parts.ts";
import { type InMemory, bytesInMemory } from "./memory-folders.ts";
import { processTree } from "./process-tree.ts";
import { countsEveryMs } from "./session-limits.ts";
import type { Support } from "../launch/support.ts";

/** Between two looks at the memory of a server that has no control group. */
const lookMs = 200;
/** Exit codes and signals of a process that used up its limit, as a shell reports them: SIGXCPU and SIGXFSZ. */
const endings: ReadonlyMap<string | number | undefined, string> = new Map<string | number | undefined, string>([
  [128 + 24, "cpu"],
  [128 + 25, "file-size"],
  ["SIGXCPU", "cpu"],
  ["SIGXFSZ", "file-size"],
]);

export type LimitOrder = {
  /** First process of the chain; what it becomes and starts later is limited with it. */
  readonly pid: number;
  readonly limits: LimitScope;
  readonly server: ServerProcess;
  readonly now: () => number;
  /** Version of the control groups that can be made; `none` where none can. */
  readonly cgroup: Support["cgroup"];
  /** Folders in memory that only this server has. A control group counts what is in them; a look has to ask. */
  readonly inMemory?: InMemory | undefined;
};

/** The hard limit of open files of this process (proc_pid_limits(5)). */
export function openFilesMax(): number {
  const line = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  return line?.[1] === undefined ? Number.MAX_SAFE_INTEGER : Number(line[1]);
}

/** Begins to watch the limits. Where no control group can be made, periodic looks at the processes take its place. */
export function watchLimits(order: LimitOrder): LimitWatch {
  const base = order.cgroup === "none" ? undefined : cgroupBase();
  const group = base === undefined ? undefined : joinGroup(base, order.pid, order.limits);
  return group === undefined ? new LookedAt(order) : new Grouped(order, group);
}

abstract class Watch implements LimitWatch {
  protected readonly order: LimitOrder;
  fatal: FatalLimit | undefined;
  #memoryWasHit = false;
  readonly #waiting: Sighting[] = [];

  constructor(order: LimitOrder) {
    this.order = order;
    void order.server.ended.then(({ code, signal }) => {
      const detail = endings.get(signal) ?? endings.get(code);
      if (detail !== undefined) this.hit(detail);
      this.close();
      const killed = signal === "SIGKILL" || code === 128 + 9;
      if (detail !== undefined) this.fatal = detail === "cpu" ? "cpuSeconds" : "fileMb";
      else if (killed && this.#memoryWasHit) this.fatal = "memoryMb";
    });
  }

  drain(): readonly Sighting[] {
    return this.#waiting.splice(0);
  }

  abstract close(): void;

  protected hit(detail: string): void {
    const { now, pid } = this.order;
    if (detail === "memory") this.#memoryWasHit = true;
    this.#waiting.push({ at: now(), action: "limit-hit", outcome: "denied", grade: "kernel", process: pid, detail });
  }
}

/** Reads the counters of the group on demand: two small files, without a timer. */
class Grouped extends Watch {
  #group: ServerGroup | undefined;
  #memory = 0;
  #processes = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(order: LimitOrder, group: ServerGroup) {
    super(order);
    this.#group = group;
  }

  override drain(): readonly Sighting[] {
    const now = this.order.now();
    if (now - this.#readAt >= countsEveryMs) {
      this.#readAt = now;
      this.#read();
    }
    return super.drain();
  }

  close(): void {
    // The counters vanish with the group, so they are read once more.
    this.#read();
    this.#group?.remove();
    this.#group = undefined;
  }

  #read(): void {
    if (this.#group === undefined) return;
    const { memory, processes } = this.#group.hits();
    if (memory > this.#memory) this.hit("memory");
    if (processes > this.#processes) this.hit("processes");
    this.#memory = memory;
    this.#processes = processes;
  }
}

class LookedAt extends Watch {
  readonly #timer: NodeJS.Timeout;
  /** Limits that are reached at the moment, so that each is reported once. */
  readonly #reached = new Set<string>();

  constructor(order: LimitOrder) {
    super(order);
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const { pid, limits, server, inMemory } = this.order;
    const { residentBytes, threads, processorSecondsMost, openFilesMost, pids } = processTree(pid);
    this.#tell("processes", threads >= limits.processes);
    // The kernel ends such a process a second later; one that does not ignore the first signal is gone before a look.
    this.#tell("cpu", processorSecondsMost >= limits.cpuSeconds);
    this.#tell("open-files", openFilesMost >= limits.openFiles);
    const filedBytes = inMemory === undefined ? 0 : bytesInMemory(pids, inMemory);
    if (residentBytes + filedBytes <= limits.memoryMb * 1_048_576) return;
    this.hit("memory");
    this.close();
    try {
      process.kill(-server.processGroup, "SIGKILL");
    } catch {
      // Gone in this instant.
    }
  }

  #tell(limit: string, reached: boolean): void {
    if (reached && !this.#reached.has(limit)) this.hit(limit);
    if (reached) this.#reached.add(limit);
    else this.#reached.delete(limit);
  }
}
