/**
 * Identity of a process: pid and start time together, since the kernel reuses a pid after its process ended. On Linux
 * the start time costs one small file; elsewhere it is empty and the pid must do.
 */
import { attempt } from "../attempt.ts";
import { readFileSync, readlinkSync } from "node:fs";
import type { ProcessIdentity } from "./protocol.ts";
import { ancestorsMax } from "./daemon-limits.ts";

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

/** Whether a process has ended for certain: where start times are unknown, its number may be that of another one. */
export function hasEnded({ pid, startedAt }: ProcessIdentity): boolean {
  return startedAt !== "" && (identify(pid).startedAt !== startedAt || !isAlive(pid));
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

/** The MCP client of a shim or hook, and the processes above it, nearest first. */
export type ClientChain = { readonly client: ProcessIdentity; readonly above: readonly ProcessIdentity[] };

/**
 * The MCP client: the nearest ancestor that does more than start us. A launcher passes its own stdin or stdout on, so it
 * holds the very pipe that we hold; a client holds the other end. Only the kernel says which file a descriptor is, while
 * a process writes its own title and arguments, so those are never read. Where the kernel does not say, the nearest
 * ancestor counts as the client; a key that is too fine loses nothing, since unnamed runs of a user share what restricts.
 */
export function clientChain(own = process.pid, parent = process.ppid): ClientChain {
  const ancestors = ancestorsFrom(parent);
  const pipes = pipesOf(own);
  const found = ancestors.findIndex(({ pid }) => !passesOn(pid, pipes));
  const at = found < 0 ? ancestors.length - 1 : found;
  // A process without ancestors was left by its launcher: as its own client it still ends with its session.
  return { client: ancestors[at] ?? identify(own), above: ancestors.slice(at + 1) };
}

/** From the parent upward, without the first process of the system: it starts everything and is no client. */
function ancestorsFrom(parent: number): readonly ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  for (let pid = parent; pid > 1 && found.length < ancestorsMax; pid = Number(statFields(pid)?.[1] ?? 0)) {
    found.push(identify(pid));
  }
  return found;
}

/** Names of the pipes or sockets that are stdin and stdout; a terminal or a file connects no two processes. */
function pipesOf(pid: number): readonly (string | undefined)[] {
  return [0, 1].map((descriptor) => {
    const name = attempt(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`), "");
    return /^(pipe|socket):/.test(name) ? name : undefined;
  });
}

function passesOn(pid: number, own: readonly (string | undefined)[]): boolean {
  return pipesOf(pid).some((name, descriptor) => name !== undefined && name === own[descriptor]);
}
