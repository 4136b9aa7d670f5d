/** Starts a server in namespaces of its own (tier A; B where its network is open), with the launcher as first step. */
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { type Result, err, ok } from "../../../core/result.ts";
import type { IsolationTier } from "../../../core/isolation/scope.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { openBroker } from "../../egress/broker.ts";
import { openSink } from "../../egress/sink.ts";
import { learnedPorts, portsOf } from "../../egress/listeners.ts";
import { type StartedProcess, startWithChannels } from "../../process/server-process.ts";
import type { PreparedWorkspace } from "../../workspace/workspace-order.ts";
import { encodeOptions } from "./bubblewrap.ts";
import { unshareCommand } from "./chain.ts";
import { type LaunchOrder, processOptions } from "./launch-order.ts";
import { Joined } from "./parts.ts";
import { launchWorkspace } from "./workspace.ts";
import { launcherDescriptors, type LauncherPlan } from "../launcher/plan.ts";
import { LauncherTalk } from "./launcher-talk.ts";
import { type Prepared, prepareProjection } from "./prepare.ts";
import type { Launched } from "../parts.ts";
import type { ServerCode } from "./server-code.ts";
import { packageRoot } from "./server-packages.ts";
import { dropRights, processFile } from "./support.ts";
import { reaches, tracesIn } from "./tiers.ts";
import { prepareTrace, traceLauncher } from "./trace.ts";

/** Monotonic ms of this process: the clock of all sightings. */
const now = (): number => performance.now();

export async function launchInNamespaces(plan: LaunchOrder, code: ServerCode): Promise<Result<Launched, string>> {
  prepareTrace(plan);
  const workspace = await launchWorkspace(plan);
  if (!workspace.ok) return workspace;
  const { prepared: projected } = workspace.value;
  const prepared = prepareProjection(plan, code, workspace.value);
  const started = prepared.ok ? startLauncher(plan, prepared.value) : prepared;
  if (!prepared.ok || !started.ok) {
    await projected?.abandon();
    return started.ok ? err("The projection could not be prepared.") : started;
  }
  const parts = new Joined(started.value.server);
  const made = { prepared: prepared.value, started: started.value, workspace: projected };
  const done = await join(plan, made, parts);
  if (done.ok) return done;
  await parts.abandon();
  await projected?.abandon();
  return done;
}

type Ingredients = {
  readonly prepared: Prepared;
  readonly started: StartedProcess;
  readonly workspace: PreparedWorkspace | undefined;
};

function startLauncher(plan: LaunchOrder, prepared: Prepared): Result<StartedProcess, string> {
  const words = plan.support.root ? [...rootCommand(plan), ...launcherWords()] : userCommand(plan);
  const [command = "", ...args] = words;
  const target = { kind: "stdio", command, args, env: {}, workingDirectory: "/" } as const;
  const started = startWithChannels(target, { ...processOptions(plan), channels: ["ipc", "pipe", "pipe"] });
  if (!started.ok) return started;
  return feed(started.value, prepared);
}

/** Writes to bubblewrap the options and the filter that it reads at its start. */
export function feed(started: StartedProcess, prepared: Prepared): Result<StartedProcess, string> {
  const streams: readonly (Readable | Writable | null | undefined)[] = started.child.stdio;
  const { filter, options } = launcherDescriptors;
  const contents = [
    [filter, prepared.filter],
    [options, encodeOptions(prepared.options)],
  ] as const;
  for (const [descriptor, bytes] of contents) {
    const stream = streams[descriptor];
    if (stream === null || stream === undefined || !("end" in stream)) return err("The launcher has no channels.");
    // A chain that failed early has closed its end; its own reason is reported instead.
    stream.on("error", () => {});
    stream.end(bytes);
  }
  return ok(started);
}

function launcherWords(): readonly string[] {
  return [process.execPath, "--disable-warning=ExperimentalWarning", processFile("launcher-main")];
}

function userCommand({ support, order }: LaunchOrder): readonly string[] {
  const ownNetwork = order.scope.net.mode !== "open";
  return [...unshareCommand(support.programs.unshare ?? "", ownNetwork), ...launcherWords()];
}

/** Root's mounts are made before its rights are dropped, and in a namespace that ends with the server. */
function rootCommand({ support }: LaunchOrder): readonly string[] {
  return [support.programs.unshare ?? "", "--mount", "--"];
}

async function join(plan: LaunchOrder, made: Ingredients, parts: Joined): Promise<Result<Launched, string>> {
  const { prepared, started, workspace } = made;
  const { child, server } = started;
  const talk = new LauncherTalk(child);
  parts.onAbandon(() => talk.sockets.close());
  if (plan.support.root) {
    const staged = await talk.carryOut(stagePlan(plan, prepared, workspace));
    if (!staged.ok) return staged;
  }
  const ready = await talk.carryOut(launcherPlan(plan, prepared));
  if (!ready.ok) return ready;
  const notes = [...prepared.notes, ...(ready.value?.notes ?? [])];
  const listeners = talk.sockets.listeners();
  const { net, tools } = plan.order.scope;
  if (listeners !== undefined) {
    const grants = [...tools.values()].flatMap((tool) => tool.allow);
    const { callBytesMax, serverBytesMax } = net;
    const quotas = { callBytesMax, serverBytesMax };
    const granted = { allow: net.allow, tools: grants, everywhere: everywhere(plan), ...quotas };
    parts.broker = plan.trial === undefined ? openBroker({ listeners, ...granted, now }) : openSink({ listeners, now });
  }
  const traced = await traceLauncher(plan, {
    pid: server.processGroup,
    fd: ready.value?.notify,
    programsBefore: prepared.programsBefore,
  });
  if (!traced.ok) return traced;
  parts.tracer = traced.value;
  const opened = await parts.open(plan, workspace, prepared.inMemory);
  if (!opened.ok) return opened;
  const tier = tierReached(plan, parts);
  if (!reaches(tier, plan.order.require))
    return err(`The projection came out as tier ${tier} only. ${notes.at(-1) ?? ""}`.slice(0, 240));
  const gone = await talk.go();
  if (!gone.ok) return gone;
  return ok(parts.launched({ tier, notes: [...plan.choice.notes, ...notes], places: prepared.places }));
}

/** Ports at which a server that is only watched or tried out reaches every name, so that the trace shows its needs. */
function everywhere({ order, trial }: LaunchOrder): readonly number[] {
  return order.mode === "learn" || trial !== undefined ? learnedPorts : [];
}

/**
 * The tier that was reached: weaker than the chosen one if the launcher could not make a part that the probe had found.
 */
function tierReached({ choice, order, support }: LaunchOrder, { tracer, broker }: Joined): IsolationTier {
  const blind = order.scope.trace !== "none" && tracesIn(support, "launcher") && tracer === undefined;
  const deaf = order.scope.net.mode !== "open" && broker === undefined;
  return (blind || deaf) && reaches(choice.tier, "A-") ? "B" : choice.tier;
}

function launcherPlan(plan: LaunchOrder, prepared: Prepared): LauncherPlan {
  const { net, tools, trace } = plan.order.scope;
  const named = [...net.allow, ...[...tools.values()].flatMap((tool) => tool.allow)];
  // Without destinations there are listeners too, because they detect attempts.
  const ports = net.mode === "open" ? undefined : portsOf(net.mode === "list" ? named : [], everywhere(plan));
  const { folder, files, command } = prepared;
  return {
    kind: "project",
    folder,
    files,
    mounts: prepared.mounts,
    ports,
    trace: tracesIn(plan.support, "launcher") ? trace : "none",
    command,
  };
}

/**
 * The mount targets, and those other paths that are outside of them: a path inside would be covered, and the kernel
 * cannot layer a folder that has a mount of its own inside, such as the script of a server in the workspace.
 */
export function stagedPaths(targets: readonly string[], paths: readonly string[]): readonly string[] {
  return [...targets, ...paths.filter((path) => !targets.some((target) => isWithin(path, target)))];
}

/** Plan of root's step: the service user must reach the bound paths, the mount targets and the program that mounts. */
function stagePlan(plan: LaunchOrder, prepared: Prepared, workspace: PreparedWorkspace | undefined): LauncherPlan {
  const self = processFile("launcher-main");
  const own = packageRoot(self, "/nonexistent", existsSync) ?? self;
  const targets = (workspace?.mounts ?? []).map((step) => step.target).filter((path) => existsSync(path));
  const { uid, gid } = plan.serviceUser;
  const drop = dropRights(plan.support.programs.setpriv, plan.serviceUser);
  const [file = "", ...rest] = [...drop, ...userCommand(plan)];
  return {
    kind: "stage",
    uid,
    gid,
    paths: stagedPaths(targets, [...prepared.sources, own, process.execPath]).filter((path) => existsSync(path)),
    command: { file, args: [file, ...rest], environment: {} },
  };
}
