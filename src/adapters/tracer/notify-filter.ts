/**
 * The filter that makes a server's process wait while its act is recorded (seccomp_unotify(2)).
 *
 * It decides by registers only. A call that it lets pass unrecorded must be harmless whatever its arguments in memory
 * are: calls without effect outside of the process, and at the level `effects` opens that can only read.
 */
import { err, ok, type Result } from "../../core/result.ts";
import {
  architectureOffset,
  argumentOffset,
  assemble,
  failWith,
  filterActions,
  type Line,
  numberOffset,
} from "../bpf/assemble.ts";
import {
  type Architecture,
  auditArchitectures,
  type SystemCall,
  systemCallNumber,
  x32Bit,
} from "../bpf/system-calls.ts";
import { leavingCalls } from "./supervisor/leaving-calls.ts";

export const traceLevels = ["full", "effects"] as const;
export type TraceLevel = (typeof traceLevels)[number];

/** Calls that always notify the supervisor. */
const always = [
  "creat",
  "openat2",
  "execve",
  "execveat",
  "unlink",
  "unlinkat",
  "rename",
  "renameat",
  "renameat2",
  "link",
  "linkat",
  "symlink",
  "symlinkat",
  "mkdir",
  "mkdirat",
  "rmdir",
  "mknod",
  "mknodat",
  "chmod",
  "fchmod",
  "fchmodat",
  "fchmodat2",
  "chown",
  "fchown",
  "lchown",
  "fchownat",
  "utime",
  "utimes",
  "futimesat",
  "utimensat",
  "truncate",
  "setxattr",
  "lsetxattr",
  "setxattrat",
  "connect",
  "bind",
  "listen",
  "sendmsg",
  "sendmmsg",
  "kill",
  "rt_sigqueueinfo",
  "rt_tgsigqueueinfo",
  "pidfd_send_signal",
] as const satisfies readonly SystemCall[];

/** Opens, with the argument that holds their flags. */
const opens = [
  ["open", 1],
  ["openat", 2],
] as const satisfies readonly (readonly [SystemCall, number])[];

/** Signals to a thread, with the argument that holds the signal. */
const threadSignals = [
  ["tkill", 1],
  ["tgkill", 2],
] as const satisfies readonly (readonly [SystemCall, number])[];

/**
 * A call through which opens and connects would pass unseen, so it must not exist; libraries fall back. The calls that
 * use a ring stay: the launcher's own event loop has one, which closes when it becomes the next program.
 */
const refused = ["io_uring_setup"] as const satisfies readonly SystemCall[];

/** Every call that can notify the supervisor. */
export const notifiedCalls: readonly SystemCall[] = [
  ...always,
  ...leavingCalls,
  ...opens.map(([name]) => name),
  ...threadSignals.map(([name]) => name),
  "sendto",
];

/** `O_WRONLY | O_RDWR | O_CREAT | O_TRUNC`, equal on both architectures: without one of them nothing changes. */
export const writingFlags = 0x1 | 0x2 | 0x40 | 0x200;

/** Go's runtime interrupts its own threads with it, hundreds of times a second; by default it does nothing. */
const signalUrgent = 23;

const noSuchCall = 38;

/** Assembles the filter for an architecture. Errors are bugs in the lines above. */
export function notifyFilter(architecture: Architecture, level: TraceLevel): Result<Uint8Array<ArrayBuffer>, string> {
  const lines: Line[] = [
    // Calls through a foreign table (i386, x32) would be judged by numbers that mean something else there.
    { kind: "load", offset: architectureOffset },
    { kind: "jump", test: "equal", value: auditArchitectures[architecture], no: "refuse" },
    { kind: "load", offset: numberOffset },
    { kind: "jump", test: "any-bit", value: x32Bit, yes: "refuse" },
  ];
  const when = (name: SystemCall, label: string): void => {
    const value = systemCallNumber(architecture, name);
    if (value !== undefined) lines.push({ kind: "jump", test: "equal", value, yes: label });
  };
  for (const [name] of opens) when(name, level === "full" ? "ask" : name);
  for (const [name] of threadSignals) when(name, name);
  when("sendto", "sendto");
  for (const name of [...always, ...leavingCalls]) when(name, "ask");
  for (const name of refused) when(name, "refuse");
  lines.push({ kind: "return", action: filterActions.allow });
  for (const [name, index] of opens) {
    lines.push(
      { kind: "label", name },
      { kind: "load", offset: argumentOffset(index) },
      { kind: "jump", test: "any-bit", value: writingFlags, yes: "ask" },
      { kind: "return", action: filterActions.allow },
    );
  }
  for (const [name, index] of threadSignals) {
    lines.push(
      { kind: "label", name },
      { kind: "load", offset: argumentOffset(index) },
      { kind: "jump", test: "equal", value: signalUrgent, no: "ask" },
      { kind: "return", action: filterActions.allow },
    );
  }
  lines.push(
    // A connected socket sends without an address; the destination was seen at `connect`.
    { kind: "label", name: "sendto" },
    { kind: "load", offset: argumentOffset(4) },
    { kind: "jump", test: "equal", value: 0, no: "ask" },
    { kind: "load", offset: argumentOffset(4, "high") },
    { kind: "jump", test: "equal", value: 0, no: "ask" },
    { kind: "return", action: filterActions.allow },
    { kind: "label", name: "ask" },
    { kind: "return", action: filterActions.notify },
    { kind: "label", name: "refuse" },
    { kind: "return", action: failWith(noSuchCall) },
  );
  const program = assemble(lines);
  return program.ok ? ok(program.value) : err(`The tracer's filter is wrong: ${program.error}.`);
}
