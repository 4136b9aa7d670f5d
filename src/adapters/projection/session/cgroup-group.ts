/** The control group of one server. */
import { attempt } from "../../attempt.ts";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LimitScope } from "../../../core/isolation/scope.ts";
import type { CgroupBase } from "./cgroup.ts";

const prefix = "sluicegate-";
/** A group can be removed when its last process was reaped, which is a moment after its end. */
const removalsMax = 50;
const removalWaitMs = 100;

export type ServerGroup = {
  /** How often a limit was hit since the group was made. */
  readonly hits: () => { readonly memory: number; readonly processes: number };
  /** Removes the group as soon as it is empty; ends nothing. */
  readonly remove: () => void;
};

/** Puts a process into a group of its own; undefined where that fails, and then it is where it was. */
export function joinGroup(base: CgroupBase, pid: number, limits: LimitScope): ServerGroup | undefined {
  const name = `${prefix}${process.pid}-${pid}`;
  const memory = join(base.memory, name);
  const pids = join(base.pids, name);
  const folders = [...new Set([memory, pids])];
  const counters: Counter[] = [];
  const remove = (): void => {
    for (const counter of counters.splice(0)) counter.close();
    for (const folder of folders) removeSoon(folder, removalsMax);
  };
  sweep(base);
  const bytes = String(limits.memoryMb * 1_048_576);
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    if (base.version === "v2") {
      writeFileSync(join(memory, "memory.max"), bytes);
      tryWrite(join(memory, "memory.swap.max"), "0");
      // A server that lost only one of its processes would go on in an undefined state.
      tryWrite(join(memory, "memory.oom.group"), "1");
    } else {
      writeFileSync(join(memory, "memory.limit_in_bytes"), bytes);
      tryWrite(join(memory, "memory.memsw.limit_in_bytes"), bytes);
    }
    writeFileSync(join(pids, "pids.max"), String(limits.processes));
    for (const folder of folders) writeFileSync(join(folder, "cgroup.procs"), String(pid));
    const ended = new Counter(join(memory, base.version === "v2" ? "memory.events" : "memory.oom_control"), "oom_kill");
    const refused = new Counter(join(pids, "pids.events"), "max");
    counters.push(ended, refused);
    return { hits: () => ({ memory: ended.read(), processes: refused.read() }), remove };
  } catch {
    remove();
    return undefined;
  }
}

/** Bytes that are read of a counter file, which has a few short lines. */
const counterBytesMax = 1_024;

/** One number of a file of `name number` lines. It is looked at in every call, so it stays open. */
class Counter {
  readonly #line: RegExp;
  readonly #bytes = Buffer.alloc(counterBytesMax);
  #descriptor: number | undefined;

  constructor(file: string, name: string) {
    this.#line = new RegExp(`^${name} (\\d+)$`, "m");
    this.#descriptor = opened(file);
  }

  /** 0 if it does not exist, as after the end or in older kernels. */
  read(): number {
    if (this.#descriptor === undefined) return 0;
    try {
      const length = readSync(this.#descriptor, this.#bytes, 0, counterBytesMax, 0);
      return Number(this.#line.exec(this.#bytes.toString("latin1", 0, length))?.[1] ?? 0);
    } catch {
      return 0;
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function opened(file: string): number | undefined {
  return attempt(() => openSync(file, "r"), undefined);
}

function tryWrite(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch {
    // Not every kernel counts swap.
  }
}

function removeSoon(folder: string, tries: number): void {
  try {
    rmdirSync(folder);
  } catch {
    if (tries > 0 && existsSync(folder)) setTimeout(() => removeSoon(folder, tries - 1), removalWaitMs).unref();
  }
}

/** Groups whose gateway ended by `kill -9`. */
function sweep(base: CgroupBase): void {
  for (const folder of new Set([base.memory, base.pids])) {
    for (const name of readdirSync(folder)) {
      const owner = /^sluicegate-(\d+)-\d+$/.exec(name)?.[1];
      if (owner !== undefined && !existsSync(`/proc/${owner}`)) removeSoon(join(folder, name), 0);
    }
  }
}
