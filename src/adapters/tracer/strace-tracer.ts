/**
 * A tracer without native code of the gateway: strace(1) with `--seccomp-bpf`, which writes each call to a file before
 * the process goes on. When strace ends, the kernel refuses every call that it would have seen (`SECCOMP_RET_TRACE`
 * without a tracer is ENOSYS), and a sandbox that it started with `--die-with-parent` ends with it.
 */
import { closeSync, constants, fchownSync, openSync, readSync } from "node:fs";
import { err, ok, type Result } from "../../core/result.ts";
import type { Sighting, Tracer } from "../projection/parts.ts";
import {
  sightingsWaitingMax,
  traceLineBytesMax,
  traceTextBytesMax,
  traceTextTotalBytesMax,
  unfinishedMax,
} from "./tracer-limits.ts";
import { notifiedCalls, type TraceLevel } from "./notify-filter.ts";
import { type Act, shortened } from "./record.ts";
import { straceActs } from "./strace-acts.ts";
import { parseStraceCall, parseStraceLine } from "./strace-line.ts";

export type StraceOptions = {
  readonly file: string;
  readonly level: TraceLevel;
  /** Programs that start before the server does: 1 for a sandbox that then starts it. */
  readonly programsBefore: number;
  /** User that strace runs as, where it is another. */
  readonly user?: number;
};

/** Arguments in front of the command line of a sandbox; the command follows directly. */
export function straceArguments(options: Pick<StraceOptions, "file">): readonly string[] {
  // A question mark lets strace pass over names that this architecture or release does not know.
  const calls = notifiedCalls.map((name) => `?${name}`).join(",");
  return [
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-y",
    "-s",
    "256",
    // SIGXCPU and SIGXFSZ, which the kernel sends to a process that reached its limit of time or file size; other
    // signals are not needed.
    "-e",
    "signal=SIGXCPU,SIGXFSZ",
    "-e",
    `trace=${calls}`,
    "-o",
    options.file,
    "--",
  ];
}

/** Creates the output file of strace and makes a tracer that reads it. To be called before strace starts. */
export function straceTracer(options: StraceOptions): Result<Tracer, string> {
  let fd: number | undefined;
  try {
    fd = openSync(
      options.file,
      constants.O_RDONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    if (options.user !== undefined) fchownSync(fd, options.user, options.user);
    return ok(new StraceTracer(fd, options));
  } catch {
    if (fd !== undefined) closeSync(fd);
    return err("The tracer's record could not be made. Check the space and permissions of the runtime folder.");
  }
}

class StraceTracer implements Tracer {
  readonly #fd: number;
  readonly #reader: StraceReader;
  readonly #buffer = Buffer.alloc(64 << 10);
  #position = 0;
  #failure: string | undefined;
  #open = true;

  constructor(fd: number, options: StraceOptions) {
    this.#fd = fd;
    this.#reader = new StraceReader(options);
  }

  get lost(): number {
    return this.#reader.lost;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  drain(): readonly Sighting[] {
    const at = performance.now();
    for (let read = 0; this.#open && read < traceTextBytesMax;) {
      const length = this.#read();
      if (length === 0) break;
      read += length;
      this.#position += length;
      this.#reader.take(this.#buffer.toString("latin1", 0, length), at);
    }
    if (this.#position > traceTextTotalBytesMax) {
      this.#failure ??= "The server did more than the tracer's record can hold. Start the run again.";
    }
    return this.#reader.drain();
  }

  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }

  #read(): number {
    try {
      return readSync(this.#fd, this.#buffer, 0, this.#buffer.length, this.#position);
    } catch {
      this.#failure ??= "The tracer's record could not be read, so no more effects are recorded. Start the run again.";
      return 0;
    }
  }
}

/** Errors of calls that say which limit was reached. */
const limitErrors: ReadonlyMap<string, string> = new Map([
  ["EMFILE", "open-files"],
  ["ENOSPC", "disk"],
  ["EDQUOT", "disk"],
  ["EFBIG", "file-size"],
]);
const limitSignals: ReadonlyMap<string, string> = new Map([
  ["SIGXCPU", "cpu"],
  ["SIGXFSZ", "file-size"],
]);
const signalLine = /^(\d{1,10}) +--- (SIG[A-Z]{2,8}) \{/u;

/** Makes sightings of text in pieces of any size. Never throws; unreadable text is counted as lost. */
export class StraceReader {
  readonly #level: TraceLevel;
  readonly #begun = new Map<number, string>();
  #programsLeft: number;
  #started = false;
  #rest = "";
  #skipping = false;
  #sightings: Sighting[] = [];
  lost = 0;

  constructor(options: Pick<StraceOptions, "level" | "programsBefore">) {
    this.#level = options.level;
    this.#programsLeft = options.programsBefore;
  }

  /** Text as one character per byte: strace writes nothing but ASCII. */
  take(text: string, at: number): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      // The end of a line is useless if its beginning was discarded.
      if (this.#skipping) this.#skipping = false;
      else this.#line(line, at);
    }
    if (this.#rest.length <= traceLineBytesMax) return;
    this.#rest = "";
    if (!this.#skipping) this.lost += 1;
    this.#skipping = true;
  }

  drain(): readonly Sighting[] {
    const all = this.#sightings;
    if (all.length > 0) this.#sightings = [];
    return all;
  }

  #line(line: string, at: number): void {
    const parsed = parseStraceLine(line);
    if (parsed === undefined) return this.#signal(line, at);
    switch (parsed.kind) {
      case "begun":
        // Each thread has one call at a time, so more than this are threads that ended in the middle of theirs.
        if (this.#begun.size >= unfinishedMax) this.#begun.clear();
        this.#begun.set(parsed.thread, parsed.rest);
        return;
      case "ended": {
        const begun = this.#begun.get(parsed.thread);
        this.#begun.delete(parsed.thread);
        if (begun === undefined) this.lost += 1;
        else this.#call(parsed.thread, parsed.name, begun + parsed.rest, at);
        return;
      }
      case "call":
        this.#call(parsed.thread, parsed.name, parsed.rest, at);
        return;
    }
  }

  #call(thread: number, name: string, rest: string, at: number): void {
    const call = parseStraceCall(rest);
    if (call === undefined) {
      this.lost += 1;
      return;
    }
    for (const act of straceActs(name, call, this.#level)) this.#put(act, thread, at);
    const limit = limitErrors.get(call.error ?? "");
    if (limit !== undefined) this.#put({ action: "limit-hit", outcome: "denied", extra: limit }, thread, at);
  }

  #put(act: Act, thread: number, at: number): void {
    if (!this.#hasStarted(act)) return;
    if (this.#sightings.length >= sightingsWaitingMax) this.lost += 1;
    else this.#sightings.push(sighting(act, thread, at));
  }

  /** A line that is not a call: `7  --- SIGXCPU {...} ---`. A process that ignores the signal gets none. */
  #signal(line: string, at: number): void {
    const [, thread, name] = signalLine.exec(line) ?? [];
    const limit = limitSignals.get(name ?? "");
    if (limit !== undefined) this.#put({ action: "limit-hit", outcome: "denied", extra: limit }, Number(thread), at);
  }

  /** True once the server has started: acts of the sandbox before that are not the server's. */
  #hasStarted(act: Act): boolean {
    if (this.#started || act.action !== "process-spawn" || act.outcome !== "success") return this.#started;
    this.#programsLeft -= 1;
    this.#started = this.#programsLeft < 0;
    return this.#started;
  }
}

function sighting(act: Act, thread: number, at: number): Sighting {
  const spawn = act.action === "process-spawn";
  const path = act.path === undefined ? undefined : shortened(act.path);
  return {
    at,
    action: act.action,
    outcome: act.outcome,
    grade: "hint",
    process: thread,
    ...(path === undefined ? {} : spawn ? { program: path } : { path }),
    ...(act.target === undefined ? {} : { target: shortened(act.target) }),
    ...(act.address === undefined ? {} : { address: shortened(act.address) }),
    ...(act.transport === "tcp" || act.transport === "udp" ? { port: act.port ?? 0 } : {}),
    ...(act.transport === undefined ? {} : { transport: act.transport }),
    ...(act.extra === undefined ? {} : { [spawn ? "commandLine" : "detail"]: shortened(act.extra) }),
  };
}
