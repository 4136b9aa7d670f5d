/** Starts a server behind Landlock and the filter, where no namespaces can be made: tier B. */
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { printable } from "../../net/printable.ts";
import { type StartedProcess, startWithChannels } from "../../process/server-process.ts";
import { resourceLimits } from "./chain.ts";
import { denyFilter } from "../launcher/filter.ts";
import { hostEtc, hostSystem } from "./host-layout.ts";
import { type LaunchOrder, processOptions } from "./launch-order.ts";
import { Joined } from "./parts.ts";
import { launchWorkspace, type LaunchWorkspace } from "./workspace.ts";
import type { LauncherPlan } from "../launcher/plan.ts";
import { LauncherTalk } from "./launcher-talk.ts";
import { openFilesMax } from "../session/kernel-limits.ts";
import type { Launched } from "../parts.ts";
import { serverView, type View } from "./projection-view.ts";
import type { ServerCode } from "./server-code.ts";
import { passedVariables, serverEnvironment } from "./server-environment.ts";
import { reachable } from "./service-reach.ts";
import { dropRights, processFile } from "./support.ts";
import { tracesIn } from "./tiers.ts";
import { prepareTrace, traceLauncher } from "./trace.ts";

const listNote =
  "Names of destinations cannot be enforced without a network namespace, so the server has no network: install bubblewrap.";
const socketsNote =
  "Without mounts no socket of this machine can be opened alone, so the server has none: install bubblewrap.";
/** Devices and facts about itself that every program opens. */
const readable = ["/dev/urandom", "/dev/random", "/dev/zero", "/proc", "/sys/devices/system/cpu"];
const writable = ["/dev/null", "/dev/tty"];

export async function launchInFence(plan: LaunchOrder, code: ServerCode): Promise<Result<Launched, string>> {
  prepareTrace(plan);
  const workspace = await launchWorkspace(plan);
  if (!workspace.ok) return workspace;
  const scratch = scratchFolder(plan);
  const made = restrictPlan(plan, code, { workspace: workspace.value, scratch });
  const started = made.ok ? startFenced(plan, made.value.view) : made;
  const remove = async (): Promise<void> => {
    rmSync(scratch, { recursive: true, force: true });
    await workspace.value.prepared?.abandon();
  };
  if (!made.ok || !started.ok) {
    await remove();
    return started.ok ? err("The fence could not be prepared.") : started;
  }
  const parts = new Joined(started.value.server);
  const done = await finish(plan, { started: started.value, fence: made.value, workspace: workspace.value }, parts);
  if (!done.ok) {
    await parts.abandon();
    await remove();
    return done;
  }
  void started.value.server.ended.then(() => rmSync(scratch, { recursive: true, force: true }));
  return done;
}

type Fenced = {
  readonly plan: LauncherPlan;
  readonly view: View;
  readonly notes: readonly string[];
  readonly before: number;
};

async function finish(
  plan: LaunchOrder,
  {
    started,
    fence,
    workspace,
  }: { readonly started: StartedProcess; readonly fence: Fenced; readonly workspace: LaunchWorkspace },
  parts: Joined,
): Promise<Result<Launched, string>> {
  const pid = started.server.processGroup;
  const talk = new LauncherTalk(started.child);
  const ready = await talk.carryOut(fence.plan);
  if (!ready.ok) return ready;
  const traced = await traceLauncher(plan, { pid, fd: ready.value?.notify, programsBefore: fence.before });
  if (!traced.ok) return traced;
  parts.tracer = traced.value;
  const opened = await parts.open(plan, workspace.prepared);
  if (!opened.ok) return opened;
  const gone = await talk.go();
  if (!gone.ok) return gone;
  const notes = [...plan.choice.notes, ...fence.notes, ...(ready.value?.notes ?? [])];
  return ok(parts.launched({ tier: plan.choice.tier, notes, places: fence.view.places }));
}

/** Makes the folder that replaces `/tmp` and the home folder: the server's own, removed with it. */
function scratchFolder({ support, serviceUser }: LaunchOrder): string {
  const folder = mkdtempSync(join(tmpdir(), "sluicegate-scratch-"));
  if (support.root) chownSync(folder, serviceUser.uid, serviceUser.gid);
  chmodSync(folder, 0o700);
  return folder;
}

function restrictPlan(
  plan: LaunchOrder,
  code: ServerCode,
  { workspace, scratch }: { readonly workspace: LaunchWorkspace; readonly scratch: string },
): Result<Fenced, string> {
  const { order, support, home, target } = plan;
  const { scope } = order;
  const filter = denyFilter(support.architecture, {
    // Landlock does not judge a connection by its path: one named socket would open all, and that of the user's session
    // starts programs outside.
    unix: false,
    internet: scope.net.mode === "open",
    sessions: false,
    hiddenMemory: support.cgroup !== "none",
  });
  if (!filter.ok) return filter;
  const { paths: codePaths, programs } = code;
  const seen = { scope, home, workspace: workspace.folders, code: codePaths, programs };
  const view = serverView({ ...seen, workspaceBind: workspace.prepared?.bind });
  // Landlock only allows: a path inside an allowed folder cannot be excluded again.
  const masked = view.binds.filter((bind) => bind.kind === "mask");
  const lost = masked.find((mask) =>
    view.binds.some((bind) => bind.kind === "bind" && isWithin(mask.target, bind.source)),
  );
  if (lost !== undefined) {
    return err(
      `Without bubblewrap \`${printable(lost.target, 80)}\` cannot be kept from the server: install it, or name narrower folders.`,
    );
  }
  const paths = (access: "read" | "write"): readonly string[] =>
    view.binds.flatMap((bind) => (bind.kind === "bind" && bind.access === access ? [bind.source] : []));
  const place = { home: scratch, user: plan.support.root ? "nobody" : plan.user, programFolders: code.programFolders };
  const environment = serverEnvironment(target.env, passedVariables(order, target.named), place);
  const server = [code.file, ...code.args];
  const { prlimit } = support.programs;
  const limits = resourceLimits(scope.limits, { openFilesMax: openFilesMax(), countProcesses: false });
  const words = prlimit === undefined ? server : [prlimit, ...limits, "--", ...server];
  const system = hostSystem().map((folder) => folder.path);
  return ok({
    view: { ...view, places: { ...view.places, scratch: [scratch] } },
    before: (prlimit === undefined ? 0 : 1) + code.starters,
    notes: [
      ...workspace.notes,
      ...view.notes,
      ...environment.notes,
      ...(scope.net.mode === "list" ? [listNote] : []),
      ...(scope.sockets.length > 0 ? [socketsNote] : []),
    ],
    plan: {
      kind: "restrict",
      read: [
        ...system,
        ...hostEtc(),
        ...["passwd", "group", "hosts", "nsswitch.conf", "resolv.conf"].map((name) => `/etc/${name}`),
        ...readable,
        ...paths("read"),
      ],
      write: [...writable, scratch, ...paths("write")],
      filter: Buffer.from(filter.value).toString("base64"),
      trace: tracesIn(support, "fence") ? scope.trace : "none",
      command: { file: words[0] ?? code.file, args: words, environment: { ...environment.variables, TMPDIR: scratch } },
    },
  });
}

function startFenced(plan: LaunchOrder, view: View): Result<StartedProcess, string> {
  const { support, serviceUser, target } = plan;
  const self = processFile("launcher-main");
  const open = support.root ? reachable([...view.sources, self, process.execPath], serviceUser) : ok(undefined);
  if (!open.ok) return open;
  const drop = support.root ? dropRights(support.programs.setpriv, serviceUser) : [];
  const [command, ...args] = [...drop, process.execPath, "--disable-warning=ExperimentalWarning", self];
  const { workingDirectory } = target;
  const aim = { kind: "stdio", command, args, env: {}, workingDirectory } as const;
  return startWithChannels(aim, { ...processOptions(plan), channels: ["ipc"] });
}
