/**
 * Identity of a process: pid and start time together, since the kernel reuses a pid after its process ended. On Linux
 * the start time costs one small file; elsewhere it is empty and the pid must do.
 */
import { attempt } from "../attempt.ts";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { ProcessIdentity } from "./protocol.ts";
import { wrappersMax } from "./daemon-limits.ts";

/** Fields of `/proc/PID/stat` behind the command name, which may itself contain spaces and brackets. */
function statFields(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}

/** Pid and start time of a process; `startedAt` is empty if it has ended or the system does not tell. */
export function identify(pid: number): ProcessIdentity {
  return { pid, startedAt: statFields(pid)?.[19] ?? "" };
}

/** False as soon as a process has ended, even if its parent has not reaped it: the parent may never do so. */
export function isAlive(pid: number): boolean {
  const state = statFields(pid)?.[0];
  if (state !== undefined) return state !== "Z" && state !== "X";
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Kills a process group unless its number was reused for another group meanwhile. While any member of a group lives the
 * kernel does not reuse its number, so a missing leader is still the right group; a leader of another age is not.
 */
export function killGroup(leader: ProcessIdentity, signal: NodeJS.Signals): void {
  if (leader.pid <= 1) return;
  const now = identify(leader.pid).startedAt;
  if (now !== "" && leader.startedAt !== "" && now !== leader.startedAt) return;
  try {
    process.kill(-leader.pid, signal);
  } catch {
    // The group is gone already, which is the purpose of the call.
  }
}

/**
 * The MCP client: the nearest ancestor that does more than start us. Runs are keyed by it (gateway.md 4), and a
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
  return attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0"), []);
}

/** A shell that runs one command, npm's runner, or our launcher under an old Node. An interactive shell is none. */
export function isWrapper(command: readonly string[], launcher: string): boolean {
  const program = basename(command[0] ?? "");
  if (["sh", "bash", "dash", "zsh", "ash", "ksh"].includes(program)) return command[1]?.startsWith("-c") ?? false;
  if (/^(npm|npx)( |$)/.test(program)) return true;
  const script = command[1] ?? "";
  return script === launcher || /^(sluicegate|sluice|npx-cli\.js|npm-cli\.js)$/.test(basename(script));
}
