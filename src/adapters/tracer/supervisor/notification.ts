/** A system call that waits for the supervisor, and the facts that the supervisor can find about it. */
import type { SystemCall } from "../../bpf/system-calls.ts";
import type { TraceLevel } from "../notify-filter.ts";
import type { ProcessMemory } from "./process-memory.ts";
import type { ServerFiles } from "./server-files.ts";

export type Notification = {
  /** Thread on the host. */
  readonly thread: number;
  readonly call: SystemCall;
  /** An argument as an address or a count: the whole register, exact below 2^53. */
  readonly whole: (index: number) => number;
  /** An argument as a descriptor, flags or a signal: the lower half of the register. */
  readonly low: (index: number) => number;
  /** Monotonic ms of the system. */
  readonly at: number;
};

export type Surroundings = {
  readonly memory: ProcessMemory;
  readonly files: ServerFiles;
  readonly level: TraceLevel;
  /** Kind of the socket behind a descriptor; undefined where it is unknown. */
  readonly socketKind: (process: number, descriptor: number) => "tcp" | "udp" | "unix" | undefined;
};
