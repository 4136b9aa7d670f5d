/**
 * Starts a local server in its projection: chooses the tier, puts the parts together, and ends everything again when
 * one of them fails. Order matters: mounts and sockets exist, the tracer listens and the limits hold before the first
 * instruction of the server runs.
 */
import { makeDataFolders } from "./data-folders.ts";
import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import type { IsolationTier } from "../../../core/isolation/scope.ts";
import { launchBare } from "./bare.ts";
import { launchInNamespaces } from "./namespaces.ts";
import { launchWithHooks } from "./hooks.ts";
import { launchByShell } from "./shell.ts";
import { launchInFence } from "./fence.ts";
import type { Launched } from "../parts.ts";
import { type ServerCode, serverCode, unprojectable } from "./server-code.ts";
import { silentLauncher } from "./launcher-talk.ts";
import { probeSupport, serviceUserDefault, type Support } from "./support.ts";
import { forbidsPrograms, type LaunchOrder, type LaunchPlan } from "./launch-order.ts";
import { reaches, type TierChoice, tierOf } from "./tiers.ts";

/** An error is a sentence; then nothing of the server runs or is mounted. */
export async function launch(plan: LaunchPlan): Promise<Result<Launched, string>> {
  const { order } = plan;
  const support = plan.support ?? (await probeSupport());
  const home = resolve(plan.home ?? homedir());
  const choice = chosen(support, plan);
  if (!reaches(choice.tier, order.require)) return err(below(choice, order.require, order.server));
  const user = userInfo().username;
  const whole = { ...plan, support, choice, home, user, serviceUser: plan.serviceUser ?? serviceUserDefault };
  makeDataFolders(whole);
  let launched = await startedBy(whole);
  // Happens occasionally if many servers start at once, for an unknown cause; a second launcher does answer.
  if (!launched.ok && launched.error === silentLauncher) launched = await startedBy(whole);
  if (!launched.ok) return launched;
  const learning = order.mode === "learn" ? learningNotes(whole, launched.value) : [];
  const judged = order.mode !== "off" && !keepsPrograms(whole, launched.value) ? [programsNote] : [];
  return ok({ ...launched.value, notes: [...launched.value.notes, ...judged, ...learning] });
}

/**
 * False if the order forbids programs and this cannot be enforced: only the gateway's own supervisor can refuse such a
 * call.
 */
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

/** Notes on the needs of a watched server that cannot be observed here. */
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

function chosen(support: Support, { order, target, unresolved }: LaunchPlan): TierChoice {
  if (order.mode === "off") {
    return {
      tier: "none",
      chain: "bare",
      notes: ["The policy turns isolation off for this server (`isolation: off`)."],
    };
  }
  const reason = unprojectable(target.command);
  if (reason === undefined) return possible(order, tierOf(support, order.scope), support);
  const why = unresolved === undefined ? reason : `${reason}, and ${unresolved}`;
  const note = `Not isolated: ${why}. Install the server and name its file as the command.`;
  return { tier: "none", chain: "bare", notes: [note] };
}

/** By default a server runs as before where tier A is out of reach, rather than under walls that it may not fit. */
function possible(order: LaunchPlan["order"], choice: TierChoice, support: Support): TierChoice {
  if (order.mode !== "where-possible") return choice;
  // A network that its scope opens costs a server tier A, and the walls of the machine stay the same.
  const { tier } = tierOf(support, { net: { mode: "none" } });
  if (tier === "A" || (tier === "A-" && order.scope.net.mode === "none")) return choice;
  return { tier: "none", chain: "bare", notes: choice.notes };
}

function below(choice: TierChoice, required: IsolationTier, server: string): string {
  const why = choice.notes[0] ?? "";
  return `Server ${server} needs isolation tier ${required} and would get ${choice.tier}. ${why}`.slice(0, 240);
}
