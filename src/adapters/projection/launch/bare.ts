/**
 * Starts a server without a projection, because the policy orders it, or because its command fetches code or talks to a
 * daemon. It runs as root only where the policy turns isolation off by name; otherwise root's servers run as the
 * service user here too.
 */
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { startProcess } from "../../process/server-process.ts";
import { endGroup, type LaunchOrder, processOptions, rootNote } from "./launch-order.ts";
import type { Launched } from "../parts.ts";
import { serverCode } from "./server-code.ts";
import { reachable } from "./service-reach.ts";
import { dropRights } from "./support.ts";

export function launchBare(plan: LaunchOrder): Result<Launched, string> {
  const asIs = plan.order.mode === "off" || plan.order.mode === "where-possible" || !plan.support.root;
  return asIs ? started(plan, plan.target, { home: plan.home, notes: [], remove: () => {} }) : dropped(plan);
}

/** The home folder of root is closed to the service user, and programs that fetch code need a folder to store it. */
function dropped(plan: LaunchOrder): Result<Launched, string> {
  const { support, serviceUser, target } = plan;
  if (support.programs.setpriv === undefined) return err(rootNote);
  const code = serverCode(target, plan.home);
  if (!code.ok) return code;
  const open = reachable([...code.value.programs, target.workingDirectory], serviceUser);
  if (!open.ok) return open;
  const home = mkdtempSync(join(tmpdir(), "sluicegate-home-"));
  chownSync(home, serviceUser.uid, serviceUser.gid);
  const [command = "", ...args] = [
    ...dropRights(support.programs.setpriv, serviceUser),
    code.value.file,
    ...code.value.args,
  ];
  const env = { ...target.env, HOME: home, USER: "nobody" };
  const notes = [`It runs as uid ${serviceUser.uid} with an empty home folder, for servers are never run as root.`];
  return started(
    plan,
    { ...target, command, args, env },
    { home, notes, remove: () => rmSync(home, { recursive: true, force: true }) },
  );
}

type Own = { readonly home: string; readonly notes: readonly string[]; readonly remove: () => void };

function started(plan: LaunchOrder, target: LaunchOrder["target"], own: Own): Result<Launched, string> {
  const { choice, order, workspace } = plan;
  const begun = startProcess(target, processOptions(plan));
  if (!begun.ok) {
    own.remove();
    return begun;
  }
  const process = begun.value;
  void process.ended.then(own.remove);
  return ok({
    process,
    tier: choice.tier,
    notes: [...choice.notes, ...own.notes, ...(order.mode === "off" ? [] : [wholeNote])],
    places: { home: own.home, workspace, code: [], scratch: [] },
    tracer: undefined,
    broker: undefined,
    workspace: undefined,
    limits: undefined,
    kill: () => endGroup(process),
  });
}

const wholeNote =
  "Nothing of its scope holds for this server: it sees the files, the network and the environment that its user has.";
