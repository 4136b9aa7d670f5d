/**
 * Which process is which. A pid alone is no name: it is given again after a process ended. Pid and start time together
 * are one, on Linux at the cost of one small file. Elsewhere the start time is empty and the pid must do.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { ProcessIdentity } from "./services.ts";
import { wrappersMax } from "./limits.ts";

/** Fields of `/proc/PID/stat` behind the command name, which may itself contain spaces and brackets. */
function statFields(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

export function identify(pid: number): ProcessIdentity {
  return { pid, startedAt: statFields(pid)?.[19] ?? "" };
}

/**
 * Kills a process group unless its number was given to another group meanwhile. While any member of a group lives the
 * kernel does not reuse its number, so a missing leader is still the right group; a leader of another age is not.
 */
export function killGroup(leader: ProcessIdentity, signal: NodeJS.Signals): void {
  if (leader.pid <= 1) return;
  const now = identify(leader.pid).startedAt;
  if (now !== "" && leader.startedAt !== "" && now !== leader.startedAt) return;
  try {
    process.kill(-leader.pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

/**
 * The MCP client: the nearest ancestor that does more than start us. Runs are keyed by it (design/gateway.md 4), and a
 * shell or `npx` between client and shim would give each server a run of its own, so that labels would not cross.
 */
export function clientProcess(parent: number, launcher: string): ProcessIdentity {
  let pid = parent;
  for (let step = 0; step < wrappersMax; step += 1) {
    const above = Number(statFields(pid)?.[1] ?? 0);
    if (above <= 1 || !isWrapper(commandLine(pid), launcher)) break;
    pid = above;
  }
  return identify(pid);
}

function commandLine(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** A shell that runs one command, npm's runner, or our launcher under an old Node. An interactive shell is none. */
export function isWrapper(command: readonly string[], launcher: string): boolean {
  const program = basename(command[0] ?? "");
  if (["sh", "bash", "dash", "zsh", "ash", "ksh"].includes(program)) return command[1]?.startsWith("-c") ?? false;
  if (/^(npm|npx)( |$)/.test(program)) return true;
  const script = command[1] ?? "";
  return script === launcher || /^(sluicegate|sluice|npx-cli\.js|npm-cli\.js)$/.test(basename(script));
}
