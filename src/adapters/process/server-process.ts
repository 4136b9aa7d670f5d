import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { err, ok, type Result } from "../../core/result.ts";
import { LineSplitter } from "../../wire/parse/splitter.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import { printableBytes } from "../net/printable.ts";
import { lifelineDescriptor, prepareLaunch, type ProcessTarget } from "./launch.ts";

/** How a server process ended. */
export type ProcessEnd = {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** Last line it wrote to stderr, printable and short; empty if there was none. */
  readonly lastWords: string;
  /** True if its guardian was killed first, which no well-behaved server does. */
  readonly guardianLost: boolean;
};

/** A running server. Its process group bears `processGroup` and never outlives this process (see launch.ts). */
export interface ServerProcess {
  readonly processGroup: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves when the process has ended and its whole group was killed; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** End of input, then SIGTERM to the group, then SIGKILL, `stopGraceMs` apart. Resolves like `ended`. */
  stop(): Promise<ProcessEnd>;
}

export type ProcessOptions = {
  readonly limits: TransportLimits;
  /** Each line of the server's stderr, printable and cut to `stderrLineBytesMax`. */
  readonly stderrLine?: (line: string) => void;
  /** Further channels of a launcher beside the streams of the server, from descriptor 4 on (`channelDescriptors`). */
  readonly channels?: readonly ("ipc" | "pipe")[];
};

/** A started server and the child process, through which the gateway talks to its launcher. */
export type StartedProcess = { readonly server: ServerProcess; readonly child: ChildProcess };

/** A stream that outlived its server, held open by a process that left the group, is closed after this wait. */
const strayStreamMsMax = 500;

/** Starts a server. The error is one sentence on why it cannot be started. */
export function startProcess(target: ProcessTarget, options: ProcessOptions): Result<ServerProcess, string> {
  const started = startWithChannels(target, options);
  return started.ok ? ok(started.value.server) : started;
}

/** As `startProcess`, for a chain of programs that ends in the server: `child` has the streams of `channels`. */
export function startWithChannels(target: ProcessTarget, options: ProcessOptions): Result<StartedProcess, string> {
  const launch = prepareLaunch(target);
  if (!launch.ok) return launch;
  let child: ChildProcess;
  try {
    child = spawn(launch.value.file, [...launch.value.args], {
      cwd: target.workingDirectory,
      env: { ...launch.value.env },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe", ...(options.channels ?? [])],
    });
  } catch (error) {
    return err(spawnFault(error));
  }
  const lifeline = child.stdio[lifelineDescriptor];
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null || !isDuplex(lifeline)) {
    // The reason follows as an `error` event, which would end this process if it had no listener.
    child.on("error", () => {});
    return err(
      "The server could not be started: the system is short of processes, files or memory. Free some and retry.",
    );
  }
  const server = new GuardedProcess(child, { processGroup: pid, stdin, stdout, stderr, lifeline }, options);
  return ok({ server, child });
}

function isDuplex(stream: Readable | Writable | null | undefined): stream is Duplex {
  return stream !== null && stream !== undefined && "write" in stream && "read" in stream;
}

function spawnFault(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  if (code === "E2BIG") return "The server's arguments and environment are too large for the system. Shorten them.";
  return `The server could not be started (${code}). Check its command, arguments and environment.`;
}

type Streams = {
  readonly processGroup: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly lifeline: Duplex;
};

class GuardedProcess implements ServerProcess {
  readonly processGroup: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #lifeline: Duplex;
  readonly #limits: TransportLimits;
  #lastWords = "";
  #exited = false;
  #lifelineCut = false;
  #guardianLost = false;
  #stopping = false;

  constructor(child: ChildProcess, streams: Streams, options: ProcessOptions) {
    this.#child = child;
    this.#limits = options.limits;
    this.#lifeline = streams.lifeline;
    this.processGroup = streams.processGroup;
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    // A write to a server that has just ended fails with EPIPE; its exit says all there is to say.
    for (const stream of [streams.stdin, streams.stdout, streams.stderr, streams.lifeline])
      stream.on("error", () => {});
    child.on("error", () => {});
    this.#readStderr(streams.stderr, options);
    this.#watchGuardian();
    this.ended = this.#awaitEnd(streams);
  }

  async stop(): Promise<ProcessEnd> {
    if (!this.#stopping) {
      this.#stopping = true;
      this.stdin.end();
      if (!(await this.#exits())) this.#signal("SIGTERM");
      if (!(await this.#exits())) this.#killGroup();
    }
    return this.ended;
  }

  #awaitEnd(streams: Streams): Promise<ProcessEnd> {
    return new Promise((done) => {
      let timer: NodeJS.Timeout | undefined;
      this.#child.once("exit", () => {
        // Children that the server left behind end with it. Its group id cannot have passed to others in this instant.
        this.#killGroup();
        this.#exited = true;
        // Output from before the server's end is still in the pipes; a stray process that holds them must not delay the
        // end.
        timer = setInterval(() => {
          // Paused means that our own client is slow: the rest of the output still has a reader.
          if (streams.stdout.isPaused()) return;
          streams.stdout.destroy();
          streams.stderr.destroy();
        }, strayStreamMsMax);
      });
      this.#child.once("close", (code, signal) => {
        clearInterval(timer);
        const { lastWords, guardianLost } = { lastWords: this.#lastWords, guardianLost: this.#guardianLost };
        done({ code: code ?? undefined, signal: signal ?? undefined, lastWords, guardianLost });
      });
    });
  }

  /** The end of the lifeline on the guardian's side while the server runs means that the guardian was killed. */
  #watchGuardian(): void {
    this.#lifeline.resume();
    this.#lifeline.once("close", () => {
      if (this.#lifelineCut) return;
      // A SIGKILL to the whole group ends the guardian too: that is an ordinary end and no sign of malice.
      this.#guardianLost = !isBeingKilled(this.processGroup);
      this.#signal("SIGKILL");
    });
  }

  /** Ends every member of the group, the guardian included; while it lives, the group id is surely still ours. */
  #killGroup(): void {
    this.#lifelineCut = true;
    this.#signal("SIGKILL");
    this.#lifeline.destroy();
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#exited) return;
    try {
      process.kill(-this.processGroup, signal);
    } catch {
      // Gone already: the exit event is on its way.
    }
  }

  /** Waits one grace period; true if the process ended within it. */
  async #exits(): Promise<boolean> {
    if (this.#exited) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#limits.stopGraceMs);
    });
    await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return this.#exited;
  }

  #readStderr(stderr: Readable, options: ProcessOptions): void {
    const lengthMax = options.limits.stderrLineBytesMax;
    const splitter = new LineSplitter(lengthMax);
    let error: string | undefined;
    const take = (events: ReturnType<LineSplitter["push"]>): void => {
      for (const event of events) {
        const line = printableBytes(event.kind === "line" ? event.bytes : event.head, lengthMax);
        if (line.length === 0) continue;
        if (errorLine.test(line)) error = line;
        this.#lastWords = error !== undefined && nodeVersionLine.test(line) ? error : line;
        options.stderrLine?.(line);
      }
    };
    stderr.on("data", (chunk: Uint8Array) => take(splitter.push(chunk)));
    stderr.once("end", () => take(splitter.end()));
  }
}

/** Node's crash report names the error above the stack; its last line is only Node's version. */
const errorLine = /^\w*Error\b.*: /;
const nodeVersionLine = /^Node\.js v\d/;

/** SIGKILL in the mask of pending signals, and a process that is past its memory has no such mask. */
const killBit = 0x100;

/** True if a process has ended or is about to by SIGKILL (proc_pid_status(5)); false where the state cannot be read. */
function isBeingKilled(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    const pending = [...status.matchAll(/^S(?:ig|hd)Pnd:\s*([0-9a-f]+)/gm)].map((found) =>
      Number.parseInt(found[1] ?? "", 16),
    );
    return (
      /^State:\s*[ZX]/m.test(status) || !/^VmSize:/m.test(status) || pending.some((mask) => (mask & killBit) !== 0)
    );
  } catch {
    return existsSync("/proc/self");
  }
}
