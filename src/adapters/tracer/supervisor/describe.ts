/** The acts of a waiting system call. */
import type { SystemCall } from "../../bpf/system-calls.ts";
import { descriptorAct, namedFileAct, openAct, symlinkAct } from "./file-acts.ts";
import { leavingCalls } from "./leaving-calls.ts";
import type { Notification, Surroundings } from "./notification.ts";
import type { Act } from "../record.ts";
import { bindAct, connectAct, listenAct, sendMessageActs, sendToAct } from "./socket-acts.ts";
import { argumentBytesMax, argumentsMax, commandLineBytesMax } from "../tracer-limits.ts";
import { permission, workingFolder } from "./server-files.ts";

function spawnAct(seen: Notification, around: Surroundings): Act | undefined {
  const at = seen.call === "execveat" ? 1 : 0;
  const folder = at === 1 ? seen.low(0) : workingFolder;
  const text = around.memory.text(seen.thread, seen.whole(at));
  if (text === undefined) return undefined;
  // An empty path executes the descriptor itself: for example a memory file without a name.
  const nameless = text === "";
  const base = nameless ? around.files.base(seen.thread, folder) : undefined;
  const path = nameless ? (base ?? "") : (around.files.absolute(seen.thread, folder, text) ?? text);
  const found = nameless ? { outcome: "unknown" as const, shown: path } : around.files.look(path, permission.run);
  const extra = commandLine(seen, seen.whole(at + 1), around);
  return {
    action: "process-spawn",
    outcome: found.outcome === "missing" ? "failed" : found.outcome,
    path: found.shown,
    extra,
  };
}

function commandLine(seen: Notification, vector: number, around: Surroundings): string {
  const pointers = around.memory.read(seen.thread, vector, 8 * argumentsMax);
  if (pointers === undefined) return "";
  const addresses: number[] = [];
  for (let place = 0; place + 8 <= pointers.length; place += 8) {
    const address = pointers.readUInt32LE(place) + pointers.readUInt32LE(place + 4) * 0x1_0000_0000;
    if (address === 0) break;
    addresses.push(address);
  }
  const words = addresses.map((address) => around.memory.text(seen.thread, address, argumentBytesMax) ?? "?");
  return words.join(" ").slice(0, commandLineBytesMax);
}

/** A signal to another process; undefined for those to the process itself. */
function signalAct(seen: Notification, around: Surroundings): Act | undefined {
  if (seen.call === "pidfd_send_signal") {
    return { action: "process-signal", outcome: "unknown", extra: `signal ${seen.low(1)} by descriptor` };
  }
  const receiver = seen.low(0) | 0;
  const place = around.files.place(seen.thread, seen.at);
  const own = seen.call === "tkill" ? place.ownThread : place.ownProcess;
  if (receiver === own) return undefined;
  const signal = seen.low(seen.call === "tgkill" || seen.call === "rt_tgsigqueueinfo" ? 2 : 1);
  return { action: "process-signal", outcome: "unknown", extra: `signal ${signal} to ${receiver}` };
}

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

/** Calls on files by name have a table of their own; a call in neither table is an attempt to leave. */
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

/** The acts of one call: empty if it has no relevant effect, undefined if it exceeds the limits of what is read. */
export function describe(seen: Notification, around: Surroundings): readonly Act[] | undefined {
  if (leavingCalls.has(seen.call)) return [{ action: "system-call", outcome: "unknown", extra: seen.call }];
  return (byCall[seen.call] ?? named)(seen, around);
}
