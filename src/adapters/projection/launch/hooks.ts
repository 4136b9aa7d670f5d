/** Starts a server that this machine cannot confine (tier C): a cleared environment, and hooks for evidence. */
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { startProcess } from "../../process/server-process.ts";
import { hookEnvironment, hookTracer } from "../../tracer/hook-tracer.ts";
import { type LaunchOrder, processOptions, rootNote } from "./launch-order.ts";
import { Joined } from "./parts.ts";
import { canAudit, nodeAmong } from "../../tracer/hookable.ts";
import type { Launched, Tracer } from "../parts.ts";
import type { ServerCode } from "./server-code.ts";
import { passedVariables, serverEnvironment } from "./server-environment.ts";
import { reachable } from "./service-reach.ts";
import { dropRights } from "./support.ts";

const unhookedNote =
  "Nothing watches this server: only Node and Python have hooks. Install bubblewrap, or run the gateway where namespaces are allowed.";
const oldNodeNote =
  "Nothing watches this server: its Node does not know `--permission-audit`. Run it with a newer Node, or install bubblewrap.";

export async function launchWithHooks(plan: LaunchOrder, code: ServerCode): Promise<Result<Launched, string>> {
  const { support, serviceUser, target, order, home } = plan;
  if (support.root && support.programs.setpriv === undefined) return err(rootNote);
  const open = reachable(support.root ? [...code.paths, target.workingDirectory] : [], serviceUser);
  if (!open.ok) return open;
  const user = support.root ? "nobody" : plan.user;
  const place = { home, user, programFolders: code.programFolders };
  const environment = serverEnvironment(target.env, passedVariables(order, target.named), place);
  const drop = support.root ? dropRights(support.programs.setpriv, serviceUser) : [];
  const hooked = hooks(plan, code, { variables: environment.variables, drop });
  if (!hooked.ok) return hooked;
  const { tracer, variables, remove, notes } = hooked.value;
  const [command = "", ...args] = [...drop, code.file, ...code.args];
  const started = startProcess({ ...target, command, args, env: variables }, processOptions(plan));
  if (!started.ok) {
    tracer?.close();
    remove();
    return started;
  }
  const parts = new Joined(started.value);
  parts.tracer = tracer;
  parts.watch(plan);
  void started.value.ended.then(remove);
  const places = { home, workspace: plan.workspace, code: [...code.paths, ...code.programs], scratch: [] };
  const told = [...plan.choice.notes, ...environment.notes, ...notes];
  return ok(parts.launched({ tier: plan.choice.tier, notes: told, places }));
}

type Hooked = {
  readonly tracer: Tracer | undefined;
  readonly variables: Readonly<Record<string, string>>;
  readonly remove: () => void;
  readonly notes: readonly string[];
};

function hooks(
  { support, serviceUser, order }: LaunchOrder,
  { runtime, programs }: ServerCode,
  { variables, drop }: { readonly variables: Readonly<Record<string, string>>; readonly drop: readonly string[] },
): Result<Hooked, string> {
  if (runtime === undefined || order.scope.trace === "none") {
    const notes = runtime === undefined ? [unhookedNote] : [];
    return ok({ tracer: undefined, variables, remove: () => {}, notes });
  }
  const node = runtime === "node" ? nodeAmong(programs) : undefined;
  if (node !== undefined && !canAudit(node, drop)) {
    return ok({ tracer: undefined, variables, remove: () => {}, notes: [oldNodeNote] });
  }
  const folder = mkdtempSync(join(tmpdir(), "sluicegate-hooks-"));
  if (support.root) chownSync(folder, serviceUser.uid, serviceUser.gid);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const file = join(folder, "record");
  const added = hookEnvironment({ file, folder: join(folder, "hooks"), runtime, environment: variables });
  const tracer = added.ok ? hookTracer(file, support.root ? serviceUser.uid : undefined) : added;
  if (added.ok && tracer.ok) {
    return ok({ tracer: tracer.value, variables: { ...variables, ...added.value }, remove, notes: [] });
  }
  remove();
  return tracer.ok ? ok({ tracer: undefined, variables, remove: () => {}, notes: [unhookedNote] }) : tracer;
}
