/**
 * Installs the tracer's filter in the calling thread, in the launcher process. The program that the thread becomes by
 * `execve`, and everything that it starts, inherits the filter and can never take it off.
 */
import { err, ok, type Result } from "../../core/result.ts";
import { instructionCount } from "../bpf/assemble.ts";
import { architectureOf } from "../bpf/system-calls.ts";
import { type Native, openNative } from "./native.ts";
import { notifyFilter, type TraceLevel } from "./notify-filter.ts";

// linux/prctl.h and linux/seccomp.h.
const setNoNewPrivileges = 38;
const setModeFilter = 1;
const newListener = 1 << 3;
/** Once the supervisor has taken a notification, only a fatal signal interrupts the wait (since 5.19). */
const waitKillable = 1 << 5;

const invalidArgument = 22;
const busy = 16;

/** `sizeof(struct sock_fprog)`, padded. */
const programHeaderBytes = 16;

/**
 * Returns the descriptor of the listener, which closes by itself at the next `execve`. From then on traced calls of
 * this thread wait for a supervisor, so it must have taken the listener (by process id and descriptor) before this
 * thread opens a file or becomes another program; and this process must have closed its own copy, which would otherwise
 * keep the listener alive when the supervisor dies, and the next program would wait for ever. Other threads of the
 * launcher are not traced; they end at `execve`. An error is a sentence; then nothing was installed.
 */
export function installNotifyFilter(level: TraceLevel): Result<number, string> {
  const native = openNative();
  if (!native.ok) return native;
  const architecture = architectureOf(process.arch);
  if (architecture === undefined) return err(`There is no filter for ${process.arch}.`);
  const program = notifyFilter(architecture, level);
  if (!program.ok) return program;
  return install(native.value, program.value);
}

function install(native: Native, program: Uint8Array): Result<number, string> {
  const memory = native.allocate(programHeaderBytes + program.length);
  if (memory === undefined) return err("There is no memory for the tracer's filter. Free some and start again.");
  memory.bytes.set(program, programHeaderBytes);
  memory.view.setUint16(0, instructionCount(program), true);
  memory.view.setBigUint64(8, BigInt(memory.address + programHeaderBytes), true);
  // The kernel allows a filter only to a process that can gain no privileges any more; no process in a projection
  // should gain any.
  if (native.prctl(setNoNewPrivileges, 1, 0, 0, 0) !== 0) {
    return err(`The kernel refused to give up privileges for good (error ${native.errorNumber()}).`);
  }
  let fd = native.seccomp(setModeFilter, newListener | waitKillable, memory.address);
  if (fd < 0 && native.errorNumber() === invalidArgument) {
    fd = native.seccomp(setModeFilter, newListener, memory.address);
  }
  if (fd >= 0) return ok(fd);
  const number = native.errorNumber();
  // One listener for a tree of processes is all that the kernel allows.
  if (number === busy) return err("Another supervisor already traces this process. Run the gateway outside of it.");
  return err(`The kernel refused the tracer's filter (error ${number}). It needs Linux 5.6 or newer.`);
}
