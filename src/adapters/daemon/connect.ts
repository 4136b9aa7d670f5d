/**
 * The client's side of the daemon's socket: connects, starts the daemon where none runs, and sends control requests.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join, resolve } from "node:path";
import type { Json } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { readFirstLine, readLines } from "./lines.ts";
import { logBytesMax, replyBytesMax, startMarkMsMax, startPollMs, startWaitMsMax } from "./daemon-limits.ts";
import type { DaemonPaths } from "./paths.ts";
import { type ControlReply, type Hello, type Refusal, toLine } from "./protocol.ts";
import { parseControlReply } from "./replies.ts";

/** How to start a daemon: the launcher script, run by this very Node. */
export type Launch = { readonly entry: string };

/** Connects, or gives the system's error code (`ENOENT`, `ECONNREFUSED` mean that no daemon runs). */
export function connectSocket(path: string): Promise<Result<Socket, string>> {
  return connected(connect({ path, allowHalfOpen: true }));
}

/** The same for a socket that is just connecting. */
export function connected(socket: Socket): Promise<Result<Socket, string>> {
  return new Promise((resolve) => {
    const onError = (error: NodeJS.ErrnoException): void => resolve(err(error.code ?? "EIO"));
    socket.once("error", onError);
    socket.once("connect", () => {
      socket.off("error", onError);
      // A later error is always followed by `close`, and every user of the socket listens to that.
      socket.on("error", () => undefined);
      resolve(ok(socket));
    });
  });
}

/** Connects to the daemon and starts it first where none runs; the error is a sentence for the user. */
export async function connectOrStart(
  paths: DaemonPaths,
  launch: Launch,
  waitMsMax: number = startWaitMsMax,
): Promise<Result<Socket, string>> {
  const deadline = process.uptime() * 1000 + waitMsMax;
  let started: StartedDaemon | undefined;
  for (;;) {
    const tried = await connectSocket(paths.socket);
    if (tried.ok || started?.state() === "failed" || process.uptime() * 1000 > deadline) {
      if (started !== undefined) rmSync(startMark(paths), { force: true });
      return tried.ok ? tried : err(didNotStart(paths));
    }
    if (!["ENOENT", "ECONNREFUSED", ...passing].includes(tried.error)) {
      return err(
        `The Sluicegate daemon cannot be reached (${tried.error}): see ${paths.log} or run \`sluicegate doctor\`.`,
      );
    }
    // One that ended with 0 met another daemon; should that one be gone by now, a new try is due.
    const absent = !passing.includes(tried.error);
    if (absent && (started?.state() === "over" || (started === undefined && takeStartMark(paths)))) {
      const spawned = await startDaemon(paths, launch);
      if (!spawned.ok) return spawned;
      started = spawned.value;
    }
    await new Promise((resolve) => setTimeout(resolve, startPollMs));
  }
}

/** Error codes of a socket whose daemon is ending or too busy to accept one more connection: worth another try. */
const passing: readonly string[] = ["ECONNRESET", "EPIPE", "EAGAIN"];

/**
 * Quotes the last line of the daemon's log, since the reason is nearly always a sentence about the policy or the store.
 */
function didNotStart(paths: DaemonPaths): string {
  let last = "";
  try {
    last = readFileSync(paths.log, "utf8").trimEnd().split("\n").at(-1) ?? "";
  } catch {
    // Without a log there is no reason to quote.
  }
  if (last === "") return "The Sluicegate daemon did not start and left no reason: run `sluicegate doctor`.";
  // The remedy stands at the end of a reason, so the place of the log gives way before the reason does.
  const told = `The Sluicegate daemon did not start: ${last.replace(/^\d{4}-\S+Z /, "")}`;
  if (told.length <= sentenceLengthMax) return told;
  const where = `... (log: ${paths.log.slice(-60)})`;
  return `${told.slice(0, sentenceLengthMax - where.length)}${where}`;
}

const sentenceLengthMax = 240;

/**
 * Small and steady before fast in bursts: one daemon serves a whole desktop for days. A young generation of megabytes
 * instead of tens keeps its memory near what it needs, and helper threads cost more CPU than they save on it. What the
 * compilers need for a moment, they leave behind as holes in the heap of the C library when they work beside the
 * program: about 12 MB after the first thousand calls.
 */
const daemonFlags = [
  "--max-semi-space-size=4",
  "--single-threaded-gc",
  "--no-concurrent-recompilation",
  "--expose-gc",
] as const;

type StartedDaemon = { readonly state: () => "runs" | "over" | "failed" };

/**
 * Starts the daemon in a session of its own, so that it outlives the client. It gets only what it needs of this
 * process's environment: the client's secrets must not sit in the environment of a process that serves other clients.
 */
async function startDaemon(paths: DaemonPaths, launch: Launch): Promise<Result<StartedDaemon, string>> {
  // Loaded here because most shims find a daemon running and need no more than a socket.
  const { spawn } = await import("node:child_process");
  const opened = openLog(paths);
  if (!opened.ok) return opened;
  const log = opened.value;
  let state: ReturnType<StartedDaemon["state"]> = "runs";
  const child = spawn(process.execPath, [...daemonFlags, launch.entry, "daemon", "run"], {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: "/",
    env: daemonEnvironment(process.env, paths),
  });
  closeSync(log);
  child.on("error", () => (state = "failed"));
  child.on("exit", (code) => (state = code === 0 ? "over" : "failed"));
  child.unref();
  return ok({ state: () => state });
}

/** The daemon's own log for appending; the error is a sentence, since a read-only folder lets nothing start. */
function openLog({ log, home }: DaemonPaths): Result<number, string> {
  try {
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(log, `${log}.1`);
    return ok(openSync(log, "a", 0o600));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err(
      `The state folder ${home.slice(-80)} cannot be written (${code}), so nothing could be recorded: make it writable, or set SLUICEGATE_HOME to another folder.`,
    );
  }
}

const daemonVariables = /^(PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|XDG_\w+|SLUICEGATE_\w+|NODE_EXTRA_CA_CERTS)$/;

/** True if the daemon inherits a variable from the process that starts it. */
export function reachesDaemon(variable: string): boolean {
  return daemonVariables.test(variable);
}

/**
 * glibc gives each thread an arena of its own, and what one of them has freed serves no other: in a process that lives
 * for days that wastes 8 MB. Other C libraries do not know the variable.
 */
const oneArena = { MALLOC_ARENA_MAX: "1" };

/** The daemon runs in the root folder, so what was named from the folder of this process is made absolute here. */
function daemonEnvironment(environment: NodeJS.ProcessEnv, { home, runtime }: DaemonPaths): NodeJS.ProcessEnv {
  const kept = Object.entries(environment).filter(([name]) => reachesDaemon(name));
  const policy = environment["SLUICEGATE_POLICY"] ?? "";
  const named = policy === "" ? {} : { SLUICEGATE_POLICY: resolve(policy) };
  const places = { SLUICEGATE_HOME: home, SLUICEGATE_RUNTIME_DIR: runtime, ...named };
  return { ...Object.fromEntries(kept), ...places, ...oneArena };
}

/**
 * True iff no other process is starting the daemon now. This only saves work: the lock that the daemon takes guarantees
 * a single daemon, so a mark left behind by a killed shim costs seconds, not correctness.
 */
function takeStartMark(paths: DaemonPaths): boolean {
  const mark = startMark(paths);
  try {
    const age = Date.now() - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > startMarkMsMax) unlinkSync(mark);
    const file = openSync(mark, "wx", 0o600);
    writeSync(file, `${process.pid}\n`);
    closeSync(file);
    return true;
  } catch {
    return false;
  }
}

function startMark(paths: DaemonPaths): string {
  return join(paths.runtime, "starting");
}

/** Sends a hello and reads the reply line; the socket is left paused behind it. Errors are sentences. */
export async function shakeHands(socket: Socket, hello: Hello, waitMsMax: number): Promise<Result<string, string>> {
  socket.write(toLine(hello));
  const line = await readFirstLine(socket, replyBytesMax, waitMsMax);
  return line.ok
    ? line
    : err(`The Sluicegate daemon did not take the connection (${line.error}): run \`sluicegate doctor\`.`);
}

/** Why a control request got no answer: no daemon could be reached, or it refused with a sentence. */
export type AskFailure = { readonly kind: "unreachable"; readonly code: string } | Refusal;

export type AskOptions = {
  readonly version: string;
  readonly waitMsMax: number;
  /** Called for every value before the final one. */
  readonly onPart?: (value: Json) => void;
};

/** Sends one control request to a running daemon. Does not start one. */
export async function ask(socketPath: string, request: Json, options: AskOptions): Promise<Result<Json, AskFailure>> {
  const connected = await connectSocket(socketPath);
  if (!connected.ok) return err({ kind: "unreachable", code: connected.error });
  return askOver(connected.value, request, options);
}

/** The same over a connection that was just opened. */
export function askOver(socket: Socket, request: Json, options: AskOptions): Promise<Result<Json, AskFailure>> {
  return new Promise((resolve) => {
    const finish = (outcome: Result<Json, AskFailure>): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => finish(err({ kind: "unreachable", code: "ETIMEDOUT" })), options.waitMsMax);
    socket.on("close", () => finish(err({ kind: "unreachable", code: "ECONNRESET" })));
    socket.on("end", () => finish(err({ kind: "unreachable", code: "ECONNRESET" })));
    readLines(socket, replyBytesMax, (text) => {
      const reply: ControlReply = parseControlReply(text);
      if (reply.kind === "part") options.onPart?.(reply.value);
      else if (reply.kind === "value") finish(ok(reply.value));
      else finish(err(reply));
    });
    socket.write(toLine({ kind: "control", version: options.version, request }));
  });
}
