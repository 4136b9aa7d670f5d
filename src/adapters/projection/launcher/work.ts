/**
 * Sets up mounts, sockets and the filter inside the new namespaces, or behind the fence, before the server's program
 * runs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { openListeners } from "../../egress/inside.ts";
import { installNotifyFilter } from "../../tracer/inside.ts";
import { openNative } from "../../tracer/native.ts";
import { restrictByLandlock } from "./landlock.ts";
import { makeMounts, makeTmpfs } from "./mounts.ts";
import type { LauncherNative } from "./native-calls.ts";
import type { LauncherPlan, LauncherReady } from "./plan.ts";

/** PR_SET_NO_NEW_PRIVS: linux/prctl.h. */
const noNewPrivileges = 38;
const filesMb = 4;

type Level = "full" | "effects" | "none";

/** Carries out a plan of kind `project`. The error is a sentence. */
export async function project(
  native: LauncherNative,
  plan: Extract<LauncherPlan, { kind: "project" }>,
): Promise<Result<LauncherReady, string>> {
  const place = makeTmpfs(native, plan.folder, `mode=0755,size=${filesMb}m`);
  if (!place.ok) return place;
  for (const { path, text } of plan.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o644 });
  }
  const mounted = makeMounts(native, plan.mounts);
  if (!mounted.ok) return mounted;
  const network = plan.ports === undefined ? ok(undefined) : await listen(plan.ports);
  // The server then has no network at all, which never exceeds its grant.
  const notes = network.ok ? [] : [network.error];
  return traced(plan.trace, notes);
}

async function listen(tcpPorts: readonly number[]): Promise<Result<void, string>> {
  return openListeners({
    tcpPorts,
    send: (message, handle, done) => void process.send?.(message, handle, {}, done),
  });
}

/** Carries out a plan of kind `restrict`. The error is a sentence. */
export function restrict(
  native: LauncherNative,
  plan: Extract<LauncherPlan, { kind: "restrict" }>,
): Result<LauncherReady, string> {
  if (native.prctl(noNewPrivileges, 1) !== 0) return err("The kernel refused to give up privileges for good.");
  // Loaded while its files can still be read; the fence closes them for this process too.
  openNative();
  const fenced = restrictByLandlock(native, plan);
  if (!fenced.ok) return fenced;
  // The tracer's filter is installed first, because the deny filter forbids to install another one. The tracer does not
  // see the call that installs the deny filter.
  const filter = Buffer.from(plan.filter, "base64");
  const ready = traced(plan.trace, []);
  const fault = native.setFilter(filter);
  return fault === 0 ? ready : err(`The kernel refused the filter of system calls (error ${fault}).`);
}

/** From here on files that this thread opens wait for the tracer. */
function traced(level: Level, notes: readonly string[]): Result<LauncherReady, string> {
  if (level === "none") return ok({ notify: undefined, notes });
  const installed = installNotifyFilter(level);
  return installed.ok
    ? ok({ notify: installed.value, notes })
    : ok({ notify: undefined, notes: [...notes, installed.error] });
}
