/** Acts of the calls that strace(1) reports. They have ended, unlike waiting calls, so their outcome is known. */
import type { EffectOutcome } from "../../core/isolation/effect-trace.ts";
import { systemCalls, type SystemCall } from "../bpf/system-calls.ts";
import { fileCalls, type PathAt } from "./supervisor/file-calls.ts";
import { commandLineBytesMax, messagesMax } from "./tracer-limits.ts";
import { leavingCalls } from "./supervisor/leaving-calls.ts";
import type { TraceLevel } from "./notify-filter.ts";
import type { Act } from "./record.ts";
import { tidy } from "./supervisor/server-files.ts";
import { behind, quoted, type StraceCall } from "./strace-line.ts";

const known: ReadonlySet<string> = new Set(systemCalls);

function isSystemCall(name: string): name is SystemCall {
  return known.has(name);
}

const denials: ReadonlySet<string> = new Set(["EPERM", "EACCES", "EROFS", "ENOSYS", "EXDEV"]);
/** The call is in progress, was interrupted or did not return: it may have had its effect. */
const open: ReadonlySet<string> = new Set(["EINPROGRESS", "EINTR", "EAGAIN", "EALREADY"]);

/** The acts of a call; texts are ordinary text here. Empty if the call has no relevant effect. */
export function straceActs(name: string, call: StraceCall, level: TraceLevel): readonly Act[] {
  if (!isSystemCall(name)) return [];
  const outcome = outcomeOf(call);
  const file = fileCalls[name];
  if (file !== undefined) {
    const path = pathAt(file.from, call);
    const target = file.to === undefined ? undefined : pathAt(file.to, call);
    const extra = file.extra === undefined ? {} : { extra: file.extra };
    return path === undefined ? [] : [{ action: file.action, outcome, path, ...where(target), ...extra }];
  }
  if (leavingCalls.has(name)) return [{ action: "system-call", outcome, extra: name }];
  return otherActs(name, call, outcome, level);
}

function otherActs(name: SystemCall, call: StraceCall, outcome: EffectOutcome, level: TraceLevel): readonly Act[] {
  const text = (index: number): string => call.args[index] ?? "";
  if (name === "open") return opened({ path: 0 }, text(1), call, level);
  if (name === "creat") return opened({ path: 0 }, "O_WRONLY|O_CREAT|O_TRUNC", call, level);
  if (name === "openat" || name === "openat2") return opened({ folder: 0, path: 1 }, text(2), call, level);
  if (name === "execve") return spawned({ path: 0 }, text(1), call);
  if (name === "execveat") return spawned({ folder: 0, path: 1 }, text(2), call);
  if (name === "symlink" || name === "symlinkat") {
    const path = pathAt(name === "symlink" ? { path: 1 } : { folder: 1, path: 2 }, call);
    return path === undefined
      ? []
      : [{ action: "file-link", outcome, path, ...where(quoted(text(0))), extra: "symlink" }];
  }
  if (name === "fchmod" || name === "fchown") {
    const path = behind(text(0));
    return path === undefined ? [] : [{ action: "file-permissions", outcome, path, extra: name.slice(1) }];
  }
  if (name === "listen") return [{ action: "net-listen", outcome, extra: "listen" }];
  if (name === "connect") return addresses(text(1)).map((place) => ({ action: "net-connect", outcome, ...place }));
  if (name === "bind") {
    const bound = addresses(text(1)).filter((place) => place.port !== 0);
    return bound.map((place) => ({ action: "net-listen", outcome, ...place, extra: "bind" }));
  }
  if (name === "sendto") return sent(text(4), outcome);
  if (name === "sendmsg" || name === "sendmmsg") return sent(text(1), outcome);
  return signalled(name, call, outcome);
}

/** A receiver named with the message: treated as a datagram. */
function sent(text: string, outcome: EffectOutcome): readonly Act[] {
  return addresses(text).map((place) => ({
    action: "net-send",
    outcome,
    ...place,
    transport: place.transport === "tcp" ? "udp" : "unix",
  }));
}

function opened(at: PathAt, flags: string, call: StraceCall, level: TraceLevel): readonly Act[] {
  const path = pathAt(at, call);
  if (path === undefined) return [];
  const real = call.opened === undefined || call.opened === path ? undefined : call.opened;
  const writes = /O_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE)/u.test(flags);
  if (!writes && level === "effects") return [];
  const created = flags.includes("O_TMPFILE") || (flags.includes("O_CREAT") && flags.includes("O_EXCL"));
  const action = !writes ? "file-read" : created ? "file-create" : "file-write";
  return [{ action, outcome: outcomeOf(call), path, ...where(real?.startsWith("/") === true ? real : undefined) }];
}

function spawned(at: PathAt, vector: string, call: StraceCall): readonly Act[] {
  const path = pathAt(at, call);
  if (path === undefined) return [];
  const words = [...vector.matchAll(/"(?:[^"\\]|\\.)*"/gsu)].map(([word]) => quoted(word) ?? "");
  const extra = words.join(" ").slice(0, commandLineBytesMax);
  return [{ action: "process-spawn", outcome: outcomeOf(call), path, extra }];
}

const signalCalls: Partial<Record<SystemCall, readonly [receiver: number, signal: number]>> = {
  kill: [0, 1],
  tkill: [0, 1],
  tgkill: [0, 2],
  rt_sigqueueinfo: [0, 1],
  rt_tgsigqueueinfo: [0, 2],
  pidfd_send_signal: [0, 1],
};

function signalled(name: SystemCall, call: StraceCall, outcome: EffectOutcome): readonly Act[] {
  const at = signalCalls[name];
  const signal = at === undefined ? undefined : call.args[at[1]];
  if (at === undefined || signal === undefined || signal === "SIGURG") return [];
  return [{ action: "process-signal", outcome, extra: `signal ${signal} to ${call.args[at[0]] ?? "?"}` }];
}

function pathAt(at: PathAt, call: StraceCall): string | undefined {
  const folder = at.folder === undefined ? undefined : behind(call.args[at.folder]);
  const text = quoted(call.args[at.path]);
  // Without a path, or with an empty one, the call means the descriptor itself.
  if (text === undefined || text === "") return folder === undefined ? undefined : tidy(folder);
  if (text.startsWith("/")) return tidy(text);
  return folder === undefined ? text : tidy(`${folder}/${text}`);
}

type SocketAddress = Pick<Act, "address" | "port" | "path" | "transport">;

const addressForms =
  /sa_family=(?:AF_INET, sin_port=htons\((\d{1,5})\), sin_addr=inet_addr\("([^"]{1,64})"\)|AF_INET6, sin6_port=htons\((\d{1,5})\).{0,64}?"([^"]{1,64})"|AF_UNIX, sun_path=(@?)("(?:[^"\\]|\\.){0,512}"))/gsu;

/** Addresses in a structure as it is written out; several for `sendmmsg`. */
function addresses(text: string): readonly SocketAddress[] {
  return [...text.matchAll(addressForms)].slice(0, messagesMax).map((found) => {
    const [, port4, address4, port6, address6, abstract, path] = found;
    if (path !== undefined) return { path: `${abstract ?? ""}${quoted(path) ?? ""}`, transport: "unix" };
    const mapped = address6?.replace(/^::ffff:(?=\d+\.)/u, "");
    return { address: address4 ?? mapped ?? "", port: Number(port4 ?? port6), transport: "tcp" };
  });
}

function outcomeOf(call: StraceCall): EffectOutcome {
  if (call.error !== undefined) {
    if (denials.has(call.error)) return "denied";
    return open.has(call.error) || call.error.startsWith("ERESTART") ? "unknown" : "failed";
  }
  return call.value === undefined ? "unknown" : "success";
}

function where(target: string | undefined): { readonly target?: string } {
  return target === undefined ? {} : { target };
}
