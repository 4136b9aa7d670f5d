/** Limits of a projection that the kernel keeps, and their traces. */
import { readFileSync } from "node:fs";
import type { LimitScope } from "../../core/scope.ts";
import type { ServerProcess } from "../process/server-process.ts";
import type { LimitWatch } from "./parts.ts";

/** Open files that a process of ours may allow at most (proc_pid_limits(5)). */
export function openFilesMax(): number {
  const line = /^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"));
  return line?.[1] === undefined ? Number.MAX_SAFE_INTEGER : Number(line[1]);
}

export function watchLimits(_order: { pid: number; limits: LimitScope; server: ServerProcess }): LimitWatch {
  return { drain: () => [], close: () => {} };
}
