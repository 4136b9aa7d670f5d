/**
 * The launcher: a process of its own between the gateway and a server, which does the work that only a process inside
 * of the new namespaces can do, and then becomes the next program of the chain. Foreign function calls happen here and
 * never in the gateway. It writes nothing to the server's streams; its plan and its reports go over Node's channel.
 */
import { closeSync } from "node:fs";
import { ok, type Result } from "../../../core/result.ts";
import { type LauncherNative, openLauncherNative } from "./native-calls.ts";
import {
  type LauncherCommand,
  launcherDescriptors,
  type LauncherPlan,
  type LauncherReady,
  type LauncherReport,
} from "./plan.ts";

/** Wait for a message of the gateway; after this time the gateway is gone or has given this server up. */
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

/** Carries out a plan. It loads only the modules that the plan needs, because each one delays the server's start. */
async function make(native: LauncherNative, plan: LauncherPlan): Promise<Result<LauncherReady, string>> {
  switch (plan.kind) {
    case "stage": {
      const { stagePaths } = await import("./stage.ts");
      const staged = await stagePaths(native, plan.paths, plan);
      return staged.ok ? ok({ notify: undefined, notes: [] }) : staged;
    }
    case "project":
      return (await import("./work.ts")).project(native, plan);
    case "restrict":
      return (await import("./work.ts")).restrict(native, plan);
  }
}

/** Becomes the next program, which inherits only the descriptors meant for it. */
function become(native: LauncherNative, command: LauncherCommand, kind: LauncherPlan["kind"]): void {
  native.closeLater(3);
  // A server that does not expect it loses what it writes to a stream that is full for a moment, or ends.
  for (const descriptor of [0, 1, 2]) native.makeBlocking(descriptor);
  const { channel, filter, options } = launcherDescriptors;
  const handedOn = kind === "stage" ? [channel, filter, options] : kind === "project" ? [filter, options] : [];
  for (const descriptor of handedOn) native.handOn(descriptor);
  const environment =
    kind === "stage" ? { ...command.environment, NODE_CHANNEL_FD: String(channel) } : command.environment;
  process.execve?.(command.file, [...command.args], environment);
}

/** Sends a report and waits for the next message of the gateway. */
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
