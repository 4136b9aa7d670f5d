/**
 * Starts a local server in its projection: chooses the tier, puts the parts together, and ends everything again when one
 * of them fails. Order matters: mounts and sockets exist, the tracer listens and the limits hold before the first
 * instruction of the server runs.
 */
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import type { IsolationOrder, IsolationTier } from "../../core/scope.ts";
import type { TransportLimits } from "../limits.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { ServerProcess } from "../process/server-process.ts";
import { launchBare } from "./launch-bare.ts";
import { launchInNamespaces } from "./launch-namespaces.ts";
import { launchWithHooks } from "./launch-hooks.ts";
import { launchByShell } from "./launch-shell.ts";
import { launchInFence } from "./launch-fence.ts";
import type { Launched } from "./parts.ts";
import { type ServerCode, serverCode, unprojectable } from "./server-code.ts";
import { silentLauncher } from "./launcher-talk.ts";
import { probeSupport, serviceUserDefault, type ServiceUser, type Support } from "./support.ts";
import { forbidsPrograms } from "./trace.ts";
import { reaches, type TierChoice, tierOf } from "./tiers.ts";

export type LaunchPlan = {
  readonly target: ProcessTarget;
  readonly order: IsolationOrder;
  /** Folder of the gateway's own state; no server sees it. */
  readonly stateFolder: string;
  /** Folders that the agent works in; the first one is projected. */
  readonly workspace: readonly string[];
  readonly limits: TransportLimits;
  readonly stderrLine?: (line: string) => void;
  /** Home of the user that `~` in a scope means; that of this process by default. */
  readonly home?: string;
  /** Who servers run as when this process is root. */
  readonly serviceUser?: ServiceUser;
  /** For tests: what the machine offers, instead of a probe. */
  readonly support?: Support;
};

/** What every way of starting needs to know. */
export type LaunchOrder = LaunchPlan & {
  readonly support: Support;
  readonly choice: TierChoice;
  readonly home: string;
  readonly user: string;
  readonly serviceUser: ServiceUser;
};

/** An error is a sentence; then nothing of the server runs or is mounted. */
export async function launch(plan: LaunchPlan): Promise<Result<Launched, string>> {
  const { order } = plan;
  const support = plan.support ?? (await probeSupport());
  const home = resolve(plan.home ?? homedir());
  const choice = chosen(support, plan);
  if (!reaches(choice.tier, order.require)) return err(below(choice, order.require, order.server));
  const user = userInfo().username;
  const whole = { ...plan, support, choice, home, user, serviceUser: plan.serviceUser ?? serviceUserDefault };
  let launched = await startedBy(whole);
  // Seen now and then where many servers start at once; why is not known, and another launcher does answer.
  if (!launched.ok && launched.error === silentLauncher) launched = await startedBy(whole);
  if (!launched.ok) return launched;
  const learning = order.mode === "learn" ? learningNotes(whole, launched.value) : [];
  const judged = order.mode !== "off" && !keepsPrograms(whole, launched.value) ? [programsNote] : [];
  return ok({ ...launched.value, notes: [...launched.value.notes, ...judged, ...learning] });
}

/** True iff a server that may start no program cannot: only our own supervisor answers such a call. */
function keepsPrograms({ order, choice }: LaunchOrder, { tracer }: Launched): boolean {
  const supervised = tracer !== undefined && (choice.chain === "launcher" || choice.chain === "fence");
  return !forbidsPrograms(order.scope) || supervised;
}

const programsNote =
  "That this server starts no other program (`exec: none`) is judged after the fact here, not prevented: install koffi, and trace it.";

function startedBy(whole: LaunchOrder): Promise<Result<Launched, string>> | Result<Launched, string> {
  switch (whole.choice.chain) {
    case "launcher":
      return withCode(whole, launchInNamespaces);
    case "shell":
      return withCode(whole, launchByShell);
    case "fence":
      return withCode(whole, launchInFence);
    case "hooks":
      return withCode(whole, launchWithHooks);
    case "bare":
      return launchBare(whole);
  }
}

/** What a server that is only watched does not show here. */
function learningNotes({ choice }: LaunchOrder, { tracer }: Launched): readonly string[] {
  const mounts = choice.chain === "launcher" || choice.chain === "shell";
  const narrow = choice.chain === "fence" ? [narrowNote] : mounts ? [socketsNote] : [];
  return tracer === undefined ? [...narrow, blindNote] : narrow;
}

const socketsNote =
  "Sockets of this machine stay shut while a server is learned: name those that it needs in `sockets` by hand.";
const narrowNote =
  "Without mounts nothing can keep keys from a server, so it is shown only what its scope names, and learning sees the rest as attempts: install bubblewrap.";
const blindNote =
  "Nothing traces this server, so little is learned: what it reads and starts is not seen. Install koffi or strace, and name its file as the command.";

function withCode(
  plan: LaunchOrder,
  start: (plan: LaunchOrder, code: ServerCode) => Promise<Result<Launched, string>>,
): Promise<Result<Launched, string>> {
  const code = serverCode(plan.target, plan.home);
  return code.ok ? start(plan, code.value) : Promise.resolve(code);
}

function chosen(support: Support, { order, target }: LaunchPlan): TierChoice {
  if (order.mode === "off") {
    return {
      tier: "none",
      chain: "bare",
      notes: ["The policy turns isolation off for this server (`isolation: off`)."],
    };
  }
  const reason = unprojectable(target.command);
  if (reason === undefined) return tierOf(support, order.scope);
  const note = `Not isolated: ${reason}. Install the server and name its file as the command.`;
  return { tier: "none", chain: "bare", notes: [note] };
}

function below(choice: TierChoice, required: IsolationTier, server: string): string {
  const why = choice.notes[0] ?? "";
  return `Server ${server} needs isolation tier ${required} and would get ${choice.tier}. ${why}`.slice(0, 240);
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
