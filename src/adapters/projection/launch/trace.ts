/** One supervisor for all servers of a process, started with the first one that is traced. */
import { err, ok, type Result } from "../../../core/result.ts";
import { startSupervisor, type Supervisor } from "../../tracer/notify-tracer.ts";
import { forbidsPrograms, type LaunchOrder } from "./launch-order.ts";
import type { Tracer } from "../parts.ts";
import { tracesIn } from "./tiers.ts";

let running: Promise<Result<Supervisor, string>> | undefined;

export type TracedLauncher = {
  readonly pid: number;
  /** Descriptor of the listener in that process; undefined = nothing is traced. */
  readonly fd: number | undefined;
  readonly programsBefore: number;
};

/** Starts the supervisor while the launcher works, so that the launch does not wait for both in sequence. */
export function prepareTrace(plan: LaunchOrder): void {
  if (plan.order.scope.trace !== "none" && tracesIn(plan.support, plan.choice.chain)) void shared();
}

/**
 * Hands the launcher's listener to the supervisor. The error is a sentence; then the launch must fail, because no
 * supervisor would answer the launcher.
 */
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

/**
 * The shared supervisor. Concurrent requests share one start: a later one waits for the start that an earlier one
 * began.
 */
function shared(): Promise<Result<Supervisor, string>> {
  running = next(running);
  return running;
}

/** The running supervisor, or a new one if that has failed. Never rejects. */
async function next(before: Promise<Result<Supervisor, string>> | undefined): Promise<Result<Supervisor, string>> {
  const known = await before;
  if (known?.ok === true && known.value.failure === undefined) return known;
  try {
    return await startSupervisor();
  } catch {
    return err("The process that traces servers could not be started: the system is short of memory or processes.");
  }
}
