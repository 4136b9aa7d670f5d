/** Starts a server in namespaces without foreign function calls: tier A-, with a shell in the place of the launcher. */
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Readable, type Writable, Duplex } from "node:stream";
import { type Result, err, ok } from "../../../core/result.ts";
import { printable } from "../../net/printable.ts";
import { type StartedProcess, startWithChannels } from "../../process/server-process.ts";
import { straceArguments, straceTracer } from "../../tracer/strace-tracer.ts";
import type { PreparedWorkspace } from "../../workspace/workspace-order.ts";
import { unshareCommand } from "./chain.ts";
import { type LaunchOrder, processOptions } from "./launch-order.ts";
import { feed } from "./namespaces.ts";
import { Joined } from "./parts.ts";
import { launchWorkspace } from "./workspace.ts";
import { launcherDescriptors } from "../launcher/plan.ts";
import type { Launched, Tracer, MountStep } from "../parts.ts";
import { type Prepared, prepareProjection } from "./prepare.ts";
import type { ServerCode } from "./server-code.ts";
import { reachable } from "./service-reach.ts";
import { dropRights } from "./support.ts";
import { overlayOptions } from "../launcher/mounts.ts";

export async function launchByShell(plan: LaunchOrder, code: ServerCode): Promise<Result<Launched, string>> {
  const workspace = await launchWorkspace(plan);
  if (!workspace.ok) return workspace;
  const { prepared: projected } = workspace.value;
  const prepared = prepareProjection(plan, code, workspace.value);
  const refused = prepared.ok ? reachable(plan.support.root ? prepared.value.sources : [], plan.serviceUser) : prepared;
  if (!prepared.ok || !refused.ok) {
    await projected?.abandon();
    return refused.ok ? err("The projection could not be prepared.") : refused;
  }
  const trace = traceFile(plan, prepared.value);
  const started = trace.ok ? startShell(plan, prepared.value, trace.value) : trace;
  if (!trace.ok || !started.ok) {
    await projected?.abandon();
    if (trace.ok) trace.value?.remove();
    return started.ok ? err("The tracer could not be prepared.") : started;
  }
  const parts = new Joined(started.value.server);
  parts.tracer = trace.value?.tracer;
  void started.value.server.ended.then(() => trace.value?.remove());
  const done = await finish(plan, started.value, { parts, workspace: projected, prepared: prepared.value });
  if (done.ok) return done;
  await parts.abandon();
  await projected?.abandon();
  return done;
}

type Made = { readonly parts: Joined; readonly workspace: PreparedWorkspace | undefined; readonly prepared: Prepared };

async function finish(plan: LaunchOrder, started: StartedProcess, made: Made): Promise<Result<Launched, string>> {
  const { parts, workspace, prepared } = made;
  const { server, child } = started;
  const streams: readonly (Readable | Writable | null | undefined)[] = child.stdio;
  const channel = streams[launcherDescriptors.channel];
  if (!(channel instanceof Duplex)) {
    return err("The shell of the projection has no channel.");
  }
  channel.on("error", () => {});
  if (!(await said(channel))) {
    const { lastWords } = await Promise.race([server.ended, late]);
    return err(
      `The projection could not be mounted (${printable(lastWords, 120)}). Check the kernel's user namespaces.`,
    );
  }
  const opened = await parts.open(plan, workspace, prepared.inMemory);
  if (!opened.ok) return opened;
  channel.end("go\n");
  const { tier, notes } = plan.choice;
  return ok(parts.launched({ tier, notes: [...notes, ...prepared.notes], places: prepared.places }));
}

/** Wait for the mounts, which take a fraction of this or fail; a late shell is not replaced. */
const mountsMsMax = 15_000;
const late = new Promise<{ readonly lastWords: string }>(() => {});

/** Resolves with true when the shell has made its mounts; with false when it ended or is late. */
function said(channel: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), mountsMsMax);
    const done = (answer: boolean): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    channel.once("data", () => done(true));
    channel.once("close", () => done(false));
    channel.once("end", () => done(false));
  });
}

function startShell(
  plan: LaunchOrder,
  prepared: Prepared,
  trace: TraceFile | undefined,
): Result<StartedProcess, string> {
  const { support, serviceUser } = plan;
  const { folder, files, command } = prepared;
  const strace = support.programs.strace;
  const traced = trace === undefined || strace === undefined ? [] : [strace, ...straceArguments({ file: trace.file })];
  const script = shellScript({ folder, files, mounts: prepared.mounts, command: [...traced, ...command.args] });
  const words = [
    ...(support.root ? dropRights(support.programs.setpriv, serviceUser) : []),
    ...unshareCommand(support.programs.unshare ?? "", plan.order.scope.net.mode !== "open"),
    ...shellCommand(support.programs.bash, script),
  ];
  const [file = "", ...args] = words;
  const env = { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" };
  const target = { kind: "stdio", command: file, args, env, workingDirectory: "/" } as const;
  const started = startWithChannels(target, { ...processOptions(plan), channels: ["pipe", "pipe", "pipe"] });
  return started.ok ? feed(started.value, prepared) : started;
}

type TraceFile = { readonly tracer: Tracer; readonly file: string; readonly remove: () => void };

/**
 * Makes the record of strace in a folder of its own, which only the server's user may enter and the server itself never
 * sees.
 */
function traceFile(plan: LaunchOrder, prepared: Prepared): Result<TraceFile | undefined, string> {
  const { trace } = plan.order.scope;
  if (trace === "none" || !plan.support.strace) return ok(undefined);
  const folder = mkdtempSync(join(tmpdir(), "sluicegate-trace-"));
  const { uid, gid } = plan.serviceUser;
  if (plan.support.root) chownSync(folder, uid, gid);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const file = join(folder, "strace");
  const owner = plan.support.root ? { user: uid } : {};
  const tracer = straceTracer({ file, level: trace, programsBefore: prepared.programsBefore, ...owner });
  if (tracer.ok) return ok({ tracer: tracer.value, file, remove });
  remove();
  return tracer;
}

type ShellPlan = {
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly mounts: readonly MountStep[];
  /** The command that the shell becomes. */
  readonly command: readonly string[];
};

/**
 * Script that mounts, reports this on the channel, waits for the answer, and becomes the command. If the gateway is
 * gone, `read` meets the end of the stream and fails: no server is started without a gateway.
 */
export function shellScript({ folder, files, mounts, command }: ShellPlan): string {
  const { channel, filter, options } = launcherDescriptors;
  return [
    "set -e",
    `mount -t tmpfs -o nosuid,nodev,mode=0755,size=4m tmpfs ${quote(folder)}`,
    ...files.map(({ path, text }) => `printf %s ${quote(text)} >${quote(path)}`),
    ...mounts.map(mountCommand),
    `if [ -n "$BASH_VERSION" ]; then for d in /proc/$$/fd/*; do d=\${d##*/}`,
    `  [ "$d" -le 2 ] || [ "$d" = ${channel} ] || [ "$d" = ${filter} ] || [ "$d" = ${options} ] || eval "exec $d>&-"`,
    "done; fi",
    `echo ready >&${channel}`,
    `read -r _ <&${channel}`,
    `exec ${command.map(quote).join(" ")} ${channel}>&-`,
  ].join("\n");
}

/**
 * Command line that runs the script: by bash where it exists, because only bash closes descriptors above 9, which a
 * careless parent may have left open. Bash takes a socket as input for a remote login and would run the start-up files
 * of root, the user in the namespace, before anything is confined.
 */
export function shellCommand(bash: string | undefined, script: string): readonly string[] {
  return bash === undefined ? ["/bin/sh", "-c", script] : [bash, "--norc", "--noprofile", "-c", script];
}

function mountCommand(step: MountStep): string {
  switch (step.kind) {
    case "folder":
      return `mkdir -p ${quote(step.target)}`;
    case "tmpfs":
      return `mount -t tmpfs -o nosuid,nodev,mode=0700,size=${step.sizeMb}m tmpfs ${quote(step.target)}`;
    case "overlay":
      return `mount -t overlay -o ${quote(`nosuid,nodev,${overlayOptions(step)}`)} overlay ${quote(step.target)}`;
  }
}

/** One word for a shell, whatever it holds. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
