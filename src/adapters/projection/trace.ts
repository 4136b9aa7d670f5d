/** One supervisor for all servers of a process, started with the first one that is traced. */
import { err, ok, type Result } from "../../core/result.ts";
import type { Scope } from "../../core/scope.ts";
import { startSupervisor, type Supervisor } from "../tracer/notify-tracer.ts";
import type { LaunchOrder } from "./launch.ts";
import type { Tracer } from "./parts.ts";
import { tracesIn } from "./tiers.ts";

let running: Promise<Result<Supervisor, string>> | undefined;

export type TracedLauncher = {
  readonly pid: number;
  /** Descriptor of the listener in that process; undefined = nothing is traced. */
  readonly fd: number | undefined;
  readonly programsBefore: number;
};

/** Starts the supervisor while the launcher is at work, so that it waits for neither. */
export function prepareTrace(plan: LaunchOrder): void {
  if (plan.order.scope.trace !== "none" && tracesIn(plan.support, plan.choice.chain)) void shared();
}

/** Hands the launcher's listener to the supervisor. An error is a sentence: the launcher then waits for nobody. */
export async function traceLauncher(
  plan: LaunchOrder,
  { pid, fd, programsBefore }: TracedLauncher,
): Promise<Result<Tracer | undefined, string>> {
  const { trace } = plan.order.scope;
  if (fd === undefined || trace === "none") return ok(undefined);
  const supervisor = await shared();
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
function shared(): Promise<Result<Supervisor, string>> {
  running = next(running);
  return running;
}

/** The one that runs, or a new one in the place of one that failed. Never rejects. */
async function next(before: Promise<Result<Supervisor, string>> | undefined): Promise<Result<Supervisor, string>> {
  const known = await before;
  if (known?.ok === true && known.value.failure === undefined) return known;
  try {
    return await startSupervisor();
  } catch {
    return err("The process that traces servers could not be started: the system is short of memory or processes.");
  }
}
