/** One supervisor for all servers of a state folder, started with the first one that is traced. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { Scope } from "../../core/scope.ts";
import { startSupervisor, type Supervisor } from "../tracer/notify-tracer.ts";
import type { LaunchOrder } from "./launch.ts";
import type { Tracer } from "./parts.ts";

/** By state folder: a process has one, except where several gateways are composed in it. */
const running = new Map<string, Promise<Result<Supervisor, string>>>();

export type TracedLauncher = {
  readonly pid: number;
  /** Descriptor of the listener in that process; undefined = nothing is traced. */
  readonly fd: number | undefined;
  readonly programsBefore: number;
};

/** Starts the supervisor while the launcher is at work, so that it waits for neither. */
export function prepareTrace(plan: LaunchOrder): void {
  if (plan.order.scope.trace !== "none" && plan.support.userNotify) void shared(plan.stateFolder);
}

/** Hands the launcher's listener to the supervisor. An error is a sentence: the launcher then waits for nobody. */
export async function traceLauncher(
  plan: LaunchOrder,
  { pid, fd, programsBefore }: TracedLauncher,
): Promise<Result<Tracer | undefined, string>> {
  const { trace } = plan.order.scope;
  if (fd === undefined || trace === "none") return ok(undefined);
  const supervisor = await shared(plan.stateFolder);
  return supervisor.ok
    ? supervisor.value.trace({
        pid,
        fd,
        level: trace,
        programsBefore,
        noPrograms: forbidsPrograms(plan.order.scope),
      })
    : supervisor;
}

/** No tool of the server may start a program either: which call a process works for, the supervisor cannot know. */
export function forbidsPrograms({ exec, tools }: Scope): boolean {
  return exec.mode === "none" && [...tools.values()].every(({ programs }) => programs.length === 0);
}

/** Asked for twice at the same time it is one: whoever comes second waits for what the first has begun. */
function shared(stateFolder: string): Promise<Result<Supervisor, string>> {
  const supervisor = next(running.get(stateFolder), stateFolder);
  running.set(stateFolder, supervisor);
  return supervisor;
}

/** The one that runs, or a new one in the place of one that failed or has lost its folder. Never rejects. */
async function next(
  before: Promise<Result<Supervisor, string>> | undefined,
  stateFolder: string,
): Promise<Result<Supervisor, string>> {
  const known = await before;
  if (known?.ok === true && known.value.usable) return known;
  // Servers that it watches keep it until they end.
  if (known?.ok === true) known.value.retire();
  const folder = join(stateFolder, "trace");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    return err("The tracer has no place for its records: make the state folder writable.");
  }
  try {
    return await startSupervisor({ folder });
  } catch {
    return err("The process that traces servers could not be started: the system is short of memory or processes.");
  }
}
