/** The order to launch one server, and the small parts that all chains of a launch share. */
import type { IsolationOrder, Scope } from "../../../core/isolation/scope.ts";
import type { Trial } from "../parts.ts";
import type { TransportLimits } from "../../net/net-limits.ts";
import type { ProcessTarget } from "../../process/launch.ts";
import type { ServerProcess } from "../../process/server-process.ts";
import type { ServiceUser, Support } from "./support.ts";
import type { TierChoice } from "./tiers.ts";

export type LaunchPlan = {
  readonly target: ProcessTarget;
  readonly order: IsolationOrder;
  /** Folder of the gateway's own state; no server sees it. */
  readonly stateFolder: string;
  /** Folders that the agent works in; the first one is projected. */
  readonly workspace: readonly string[];
  readonly limits: TransportLimits;
  readonly stderrLine?: (line: string) => void;
  /** Why a command that fetches its package was not resolved to an installed one, as a part of a sentence. */
  readonly unresolved?: string;
  /** Home folder that `~` in a scope stands for; by default that of this process's user. */
  readonly home?: string;
  /** A trial: what the server tries to send is swallowed and recorded, and its own home folder is kept in `home`. */
  readonly trial?: Trial | undefined;
  /** User that servers run as when this process is root. */
  readonly serviceUser?: ServiceUser;
  /** For tests: features of the machine, instead of a probe. */
  readonly support?: Support;
};

/** The order with the facts that every chain needs. */
export type LaunchOrder = LaunchPlan & {
  readonly support: Support;
  readonly choice: TierChoice;
  readonly home: string;
  readonly user: string;
  readonly serviceUser: ServiceUser;
};

/** Note on why root's servers do not start; hooks alone have the same reason. */
export const rootNote =
  "Servers are never run as root, and `setpriv` is not here to prevent it: install util-linux, or run the gateway as an ordinary user.";

/**
 * True if neither the server nor any of its tools may start a program: the supervisor cannot know for which call a
 * process works.
 */
export function forbidsPrograms({ exec, tools }: Scope): boolean {
  return exec.mode === "none" && [...tools.values()].every(({ programs }) => programs.length === 0);
}

export function processOptions(plan: LaunchPlan): { limits: TransportLimits; stderrLine?: (line: string) => void } {
  return { limits: plan.limits, ...(plan.stderrLine === undefined ? {} : { stderrLine: plan.stderrLine }) };
}

/** Ends every process of the chain; those in a projection end with its first one. */
export function endGroup(server: ServerProcess): void {
  try {
    process.kill(-server.processGroup, "SIGKILL");
  } catch {
    // Gone already.
  }
}
