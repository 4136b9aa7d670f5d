/** One supervisor for all servers of this process, started with the first one that is traced. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../../core/result.ts";
import { startSupervisor, type Supervisor } from "../tracer/notify-tracer.ts";
import type { LaunchOrder } from "./launch.ts";
import type { Tracer } from "./parts.ts";

let running: Promise<Result<Supervisor, string>> | undefined;

export type TracedLauncher = {
  readonly pid: number;
  /** Descriptor of the listener in that process; undefined = nothing is traced. */
  readonly fd: number | undefined;
  readonly programsBefore: number;
};

/** Hands the launcher's listener to the supervisor. An error is a sentence: the launcher then waits for nobody. */
export async function traceLauncher(
  plan: LaunchOrder,
  { pid, fd, programsBefore }: TracedLauncher,
): Promise<Result<Tracer | undefined, string>> {
  const { trace } = plan.order.scope;
  if (fd === undefined || trace === "none") return ok(undefined);
  const supervisor = await shared(plan.stateFolder);
  return supervisor.ok ? supervisor.value.trace({ pid, fd, level: trace, programsBefore }) : supervisor;
}

async function shared(stateFolder: string): Promise<Result<Supervisor, string>> {
  const before = await running;
  if (before?.ok === true && before.value.failure === undefined) return before;
  const folder = join(stateFolder, "trace");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  running = startSupervisor({ folder });
  return running;
}
