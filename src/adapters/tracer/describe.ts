/** What a waiting system call is about to do. */
import type { SystemCall } from "../bpf/system-calls.ts";
import { descriptorAct, namedFileAct, openAct, symlinkAct } from "./file-acts.ts";
import { leavingCalls } from "./leaving-calls.ts";
import type { Notification, Surroundings } from "./notification.ts";
import { signalAct, spawnAct } from "./process-acts.ts";
import type { Act } from "./record.ts";
import { bindAct, connectAct, listenAct, sendMessageActs, sendToAct } from "./socket-acts.ts";

type Single = (seen: Notification, around: Surroundings) => Act | undefined;
type Several = (seen: Notification, around: Surroundings) => readonly Act[] | undefined;

const one =
  (of: Single): Several =>
  (seen, around) => {
    const act = of(seen, around);
    return act === undefined ? [] : [act];
  };

const opened = one(openAct);
const spawned = one(spawnAct);
const signalled = one(signalAct);
const named = one(namedFileAct);

/** Files by name have a table of their own; what stands in neither is an attempt to leave. */
const byCall: Partial<Record<SystemCall, Several>> = {
  open: opened,
  openat: opened,
  openat2: opened,
  creat: opened,
  execve: spawned,
  execveat: spawned,
  connect: one(connectAct),
  bind: one(bindAct),
  listen: listenAct,
  sendto: sendToAct,
  sendmsg: sendMessageActs,
  sendmmsg: sendMessageActs,
  kill: signalled,
  tkill: signalled,
  tgkill: signalled,
  rt_sigqueueinfo: signalled,
  rt_tgsigqueueinfo: signalled,
  pidfd_send_signal: signalled,
  symlink: one(symlinkAct),
  symlinkat: one(symlinkAct),
  fchmod: one(descriptorAct),
  fchown: one(descriptorAct),
};

/**
 * The acts of one call: none where it does nothing that matters, undefined where there is more to it than is looked at.
 */
export function describe(seen: Notification, around: Surroundings): readonly Act[] | undefined {
  if (leavingCalls.has(seen.call)) return [{ action: "system-call", outcome: "unknown", extra: seen.call }];
  return (byCall[seen.call] ?? named)(seen, around);
}
