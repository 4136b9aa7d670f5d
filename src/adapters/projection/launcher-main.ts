/**
 * The launcher: a process of its own between the gateway and a server, which makes what only a process inside of the new
 * namespaces can make, and then becomes the next program of the chain. Foreign function calls happen here and never in
 * the gateway. It says nothing on the server's streams; its plan and its reports go over Node's channel.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { openListeners } from "../egress/inside.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { installNotifyFilter } from "../tracer/inside.ts";
import { openNative } from "../tracer/native.ts";
import { restrictByLandlock } from "./landlock.ts";
import { makeMounts, makeTmpfs } from "./launcher-mounts.ts";
import { type LauncherNative, openLauncherNative } from "./launcher-native.ts";
import { type LauncherCommand, launcherDescriptors, type LauncherPlan, type LauncherReport } from "./launcher-plan.ts";
import { stagePaths } from "./launcher-stage.ts";

/** A gateway that says nothing for so long is gone, or will not come back to this server. */
const gatewayWaitMsMax = 30_000;
/** PR_SET_NO_NEW_PRIVS: linux/prctl.h. */
const noNewPrivileges = 38;
const filesMb = 4;

type Level = "full" | "effects" | "none";

type Ready = { readonly notify: number | undefined; readonly notes: readonly string[] };

async function main(): Promise<void> {
  const plan = await ask<LauncherPlan>({ kind: "launcher-waits" });
  const native = openLauncherNative();
  const made = native.ok ? await make(native.value, plan) : native;
  if (!native.ok || !made.ok) return fail(made.ok ? "" : made.error);
  // Root's step ends here: the next launcher of the chain reports for itself.
  if (plan.kind !== "stage") await ask({ kind: "launcher-ready", ...made.value });
  become(native.value, plan.command, plan.kind);
}

function make(native: LauncherNative, plan: LauncherPlan): Promise<Result<Ready, string>> | Result<Ready, string> {
  switch (plan.kind) {
    case "stage":
      return stage(native, plan);
    case "project":
      return project(native, plan);
    case "restrict":
      return restrict(native, plan);
  }
}

async function stage(
  native: LauncherNative,
  { uid, gid, paths }: Extract<LauncherPlan, { kind: "stage" }>,
): Promise<Result<Ready, string>> {
  const staged = await stagePaths(native, paths, { uid, gid });
  return staged.ok ? ok({ notify: undefined, notes: [] }) : staged;
}

async function project(
  native: LauncherNative,
  plan: Extract<LauncherPlan, { kind: "project" }>,
): Promise<Result<Ready, string>> {
  const place = makeTmpfs(native, plan.folder, `mode=0755,size=${filesMb}m`);
  if (!place.ok) return place;
  for (const { path, text } of plan.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
  }
  const mounted = makeMounts(native, plan.mounts);
  if (!mounted.ok) return mounted;
  const network = plan.ports === undefined ? ok(undefined) : await listen(plan.ports);
  // The server then has no network at all, which is less than it was granted and never more.
  const notes = network.ok ? [] : [network.error];
  return traced(plan.trace, notes);
}

async function listen(tcpPorts: readonly number[]): Promise<Result<void, string>> {
  return openListeners({
    tcpPorts,
    send: (message, handle, done) => void process.send?.(message, handle, {}, done),
  });
}

function restrict(native: LauncherNative, plan: Extract<LauncherPlan, { kind: "restrict" }>): Result<Ready, string> {
  if (native.prctl(noNewPrivileges, 1) !== 0) return err("The kernel refused to give up privileges for good.");
  // Loaded while its files can still be read; the fence closes them for this process too.
  openNative();
  const fenced = restrictByLandlock(native, plan);
  if (!fenced.ok) return fenced;
  // The filter of the tracer goes first, for ours forbids to install one. Loading ours is no call that the tracer sees.
  const filter = Buffer.from(plan.filter, "base64");
  const ready = traced(plan.trace, []);
  const fault = native.setFilter(filter);
  return fault === 0 ? ready : err(`The kernel refused the filter of system calls (error ${fault}).`);
}

/** From here on files that this thread opens wait for the tracer. */
function traced(level: Level, notes: readonly string[]): Result<Ready, string> {
  if (level === "none") return ok({ notify: undefined, notes });
  const installed = installNotifyFilter(level);
  return installed.ok
    ? ok({ notify: installed.value, notes })
    : ok({ notify: undefined, notes: [...notes, installed.error] });
}

/** Becomes the next program, which gets only the descriptors that it is to have. */
function become(native: LauncherNative, command: LauncherCommand, kind: LauncherPlan["kind"]): void {
  native.closeLater(3);
  const { channel, filter, options } = launcherDescriptors;
  const handedOn = kind === "stage" ? [channel, filter, options] : kind === "project" ? [filter, options] : [];
  for (const descriptor of handedOn) native.handOn(descriptor);
  const environment =
    kind === "stage" ? { ...command.environment, NODE_CHANNEL_FD: String(channel) } : command.environment;
  process.execve?.(command.file, [...command.args], environment);
}

/** Sends a report and waits for what the gateway says next. */
function ask<T>(report: LauncherReport): Promise<T> {
  return new Promise((resolve) => {
    const late = setTimeout(() => process.exit(1), gatewayWaitMsMax);
    process.once("message", (message) => {
      clearTimeout(late);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are ours and of one version
      resolve(message as T);
    });
    process.once("disconnect", () => process.exit(1));
    process.send?.(report);
  });
}

function fail(reason: string): void {
  const report: LauncherReport = { kind: "launcher-failed", reason };
  process.send?.(report, () => process.exit(1));
}

await main();
