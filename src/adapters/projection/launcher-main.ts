/**
 * The launcher: a process of its own between the gateway and a server, which makes what only a process inside of the new
 * namespaces can make, and then becomes the next program of the chain. Foreign function calls happen here and never in
 * the gateway. It says nothing on the server's streams; its plan and its reports go over Node's channel.
 */
import { closeSync } from "node:fs";
import { ok, type Result } from "../../core/result.ts";
import { type LauncherNative, openLauncherNative } from "./launcher-native.ts";
import {
  type LauncherCommand,
  launcherDescriptors,
  type LauncherPlan,
  type LauncherReady,
  type LauncherReport,
} from "./launcher-plan.ts";

/** A gateway that says nothing for so long is gone, or will not come back to this server. */
const gatewayWaitMsMax = 30_000;

async function main(): Promise<void> {
  const plan = await ask<LauncherPlan>({ kind: "launcher-waits" });
  const native = openLauncherNative();
  const made = native.ok ? await make(native.value, plan) : native;
  if (!native.ok || !made.ok) return fail(made.ok ? "" : made.error);
  // Root's step ends here: the next launcher of the chain reports for itself.
  if (plan.kind !== "stage") await ask({ kind: "launcher-ready", ...made.value });
  // The supervisor has it by now. Our own copy would keep it alive: should the supervisor end in this moment, the next
  // step would wait for ever instead of failing.
  if (made.value.notify !== undefined) closeSync(made.value.notify);
  become(native.value, plan.command, plan.kind);
}

/** Only what the plan needs is loaded: each module costs the server a part of its start. */
async function make(native: LauncherNative, plan: LauncherPlan): Promise<Result<LauncherReady, string>> {
  switch (plan.kind) {
    case "stage": {
      const { stagePaths } = await import("./launcher-stage.ts");
      const staged = await stagePaths(native, plan.paths, plan);
      return staged.ok ? ok({ notify: undefined, notes: [] }) : staged;
    }
    case "project":
      return (await import("./launcher-work.ts")).project(native, plan);
    case "restrict":
      return (await import("./launcher-work.ts")).restrict(native, plan);
  }
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
