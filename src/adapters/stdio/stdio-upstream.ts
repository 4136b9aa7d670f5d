/**
 * The gateway's side of a local server: a process of its own group and one JSON-RPC message a line on its streams.
 *
 * Servers print stray text on stdout; such a line is reported and skipped. A malformed answer ends its call with an
 * error, because its caller would otherwise wait for an answer that is never delivered. One that has no id of its own
 * ends the requests whose ids it repeats, else the request that waits, if there is just one.
 */
import { constants } from "node:os";
import { type Result, err, ok } from "../../core/result.ts";
import type { UpstreamConnection, UpstreamHandler } from "../../gateway/ports/transport.ts";
import type { Projection } from "../../gateway/ports/projection.ts";
import { encodeBatch, encodeMessage } from "../../wire/encode.ts";
import { defaultWireLimits, type WireLimits } from "../../wire/limits.ts";
import type { Message, RequestId, Revision } from "../../wire/message.ts";
import type { ParsedFrame } from "../../wire/parse/parse.ts";
import type { WireError } from "../../wire/wire-error.ts";
import { identify, killGroup } from "../daemon/process-identity.ts";
import { LoadingUpstream } from "../net/loading-upstream.ts";
import { malformedAnswer } from "../net/malformed-answer.ts";
import { defaultTransportLimits, type TransportLimits } from "../net/net-limits.ts";
import { printableBytes } from "../net/printable.ts";
import type { ProcessTarget } from "../process/launch.ts";
import type { ServerMemory } from "../process/server-memory.ts";
import { type ProcessEnd, type ServerProcess, startProcess } from "../process/server-process.ts";
import { LateProjection } from "../projection/session/late-projection.ts";
import type { LaunchedProjection } from "../projection/session/projection-session.ts";
import { type Bare, bareProjection } from "../projection/session/stand-ins.ts";
import { BatchReplies } from "./batch-replies.ts";
import { FrameReader } from "./frame-reader.ts";
import { OutputQueue } from "../net/output-queue.ts";

export type StdioUpstreamOptions = {
  readonly wire?: WireLimits;
  readonly limits?: TransportLimits;
  /** One line for the operator: the server's stderr, or output on stdout that is not a message. */
  readonly diagnostic?: (line: string) => void;
  /** The server was started; called once, before anything of it is handed on. */
  readonly started?: (processGroup: number) => void;
  /**
   * Starts the server in its projection instead of bare. Messages wait until then; a failure is a sentence that arrives
   * as `handler.closed`.
   */
  readonly launch?: Launcher;
  /** Counts what servers use together, and refuses one more where it would be too much. */
  readonly memory?: ServerMemory;
  /** The order runs the server without isolation: it gets a stand-in projection that reports this. */
  readonly bare?: Bare;
};

/** A server that runs in its projection. */
export type LaunchedServer = { readonly process: ServerProcess; readonly projection: LaunchedProjection };

export type Launcher = () => Promise<Result<LaunchedServer, string>>;

/** Starts a local server. A failure to start arrives as `handler.closed`, after this call has returned. */
export function connectProcess(
  target: ProcessTarget,
  handler: UpstreamHandler,
  options: StdioUpstreamOptions = {},
): UpstreamConnection {
  const limits = options.limits ?? defaultTransportLimits;
  const diagnostic = options.diagnostic ?? (() => {});
  const filled = { ...options, limits, diagnostic };
  const refused = options.memory?.refusal();
  if (options.launch !== undefined) {
    const launch = refused === undefined ? options.launch : () => Promise.resolve(err(refused));
    return launchedUpstream(launch, handler, filled);
  }
  const started = refused === undefined ? startProcess(target, { limits, stderrLine: diagnostic }) : err(refused);
  if (started.ok) return new StdioUpstream({ process: started.value, projection: undefined }, handler, filled);
  const projection = options.bare && bareProjection(options.bare, () => undefined);
  return new LoadingUpstream(Promise.resolve(started), handler, { failure: started.error, projection });
}

/** Its projection is there at once and its process later, so that no message and no call can come before it. */
function launchedUpstream(launch: Launcher, handler: UpstreamHandler, options: Filled): UpstreamConnection {
  const projection = new LateProjection();
  const launching = launch().catch(() => err("The server's projection could not be made. Run `sluicegate doctor`."));
  const connected = launching.then((launched): Result<UpstreamConnection, string> => {
    if (!launched.ok) {
      projection.failed(launched.error);
      return launched;
    }
    const connection = new StdioUpstream(launched.value, handler, options);
    projection.launched(launched.value.projection);
    return ok(connection);
  });
  return new LoadingUpstream(connected, handler, { failure: "The server could not be started.", projection });
}

type Filled = StdioUpstreamOptions & Required<Pick<StdioUpstreamOptions, "limits" | "diagnostic">>;

type Running = { readonly process: ServerProcess; readonly projection: LaunchedProjection | undefined };

class StdioUpstream implements UpstreamConnection {
  readonly processGroup: number;
  readonly projection: Projection | undefined;
  readonly #process: ServerProcess;
  readonly #launched: LaunchedProjection | undefined;
  readonly #handler: UpstreamHandler;
  readonly #diagnostic: (line: string) => void;
  readonly #queue: OutputQueue;
  readonly #reader: FrameReader;
  readonly #batches = new BatchReplies();
  readonly #uncount: (() => void) | undefined;
  /** Requests that the server has not answered. */
  readonly #open = new Set<RequestId>();
  /** Set once we decided to end the connection; the process may live on for its grace periods. */
  #ending: string | undefined;
  /** The first request for the list of tools, while it is not answered. */
  #listing: RequestId | undefined;

  constructor({ process, projection }: Running, handler: UpstreamHandler, options: Filled) {
    this.#process = process;
    this.processGroup = process.processGroup;
    this.#launched = projection;
    this.projection = projection ?? (options.bare && bareProjection(options.bare, this.#killer()));
    options.started?.(process.processGroup);
    this.#uncount = options.memory?.started(process.processGroup);
    this.#handler = handler;
    this.#diagnostic = options.diagnostic;
    this.#queue = new OutputQueue(process.stdin, options.limits, () => {
      this.#end("The server stopped reading its input, so it was ended. Restart the session.");
    });
    this.#reader = new FrameReader(process.stdout, options.wire ?? defaultWireLimits, {
      frame: (frame, bytes) => this.#frame(frame, bytes),
      // A server that closes its output cannot answer any more, even if its process stays.
      ended: () => this.#outputEnded(),
    });
    void process.ended.then((end) => {
      this.#uncount?.();
      this.#handler.closed(this.#ending ?? projection?.ending ?? reasonOf(end, projection !== undefined));
    });
  }

  send(message: Message): void {
    if (message.kind === "response" || message.kind === "error") {
      const taken = this.#batches.take(message);
      if (taken === "held") return;
      if (taken !== "apart") return this.#queue.line(encodeBatch(taken));
    }
    if (message.kind === "request") {
      if (message.method === "tools/list") this.#listing ??= message.id;
      if (message.method !== "subscriptions/listen") this.#open.add(message.id);
    }
    this.#queue.line(encodeMessage(message));
  }

  /** Nothing to close: the caller sends `notifications/cancelled` and drops a late answer. */
  abandon(id: RequestId): void {
    this.#open.delete(id);
  }

  negotiated(revision: Revision): void {
    this.#reader.revision = revision;
  }

  drained(): Promise<void> | undefined {
    return this.#queue.drained();
  }

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  async close(): Promise<void> {
    this.#end("The connection was closed by the gateway.");
    await this.#process.ended;
    await this.#launched?.close();
  }

  /** Ends a server that runs bare at once, as the kill of a projection does. */
  #killer(): (reason: string) => void {
    const leader = identify(this.processGroup);
    let ended = false;
    void this.#process.ended.then(() => (ended = true));
    return (reason) => {
      this.#end(reason);
      if (!ended) killGroup(leader, "SIGKILL");
    };
  }

  #end(reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = reason;
    this.#uncount?.();
    this.#reader.stop();
    void this.#process.stop();
  }

  #outputEnded(): void {
    // If the process has ended, `ended` gives the better reason; only one that lingers needs to be stopped.
    void this.#process.stop();
  }

  #frame(frame: Result<ParsedFrame, WireError>, bytes: Uint8Array | undefined): void {
    if (!frame.ok) return this.#refuse(frame.error, bytes);
    if (frame.value.kind === "single") return this.#hand(frame.value.message);
    const accepted = frame.value.entries.flatMap((entry) => (entry.ok ? [entry.value] : []));
    const asked = accepted.flatMap((message) => (message.kind === "request" ? [message.id] : []));
    this.#batches.begin(asked, []);
    for (const entry of frame.value.entries) {
      if (entry.ok) this.#hand(entry.value);
      else this.#refuse(entry.error, undefined);
    }
  }

  /**
   * Hands a message on in the very turn in which its line was parsed: the handler closes the window of a call then, and
   * everything that led to the answer is on record by now. A promise in between would let the server act into the
   * window.
   */
  #hand(message: Message): void {
    const answer = message.kind === "response" || message.kind === "error";
    if (answer && message.id !== null) this.#open.delete(message.id);
    if (answer && this.#listing !== undefined && message.id === this.#listing) {
      this.#listing = undefined;
      if (message.kind === "response") this.#launched?.listed();
    }
    this.#handler.message(message);
  }

  #refuse(refused: WireError, bytes: Uint8Array | undefined): void {
    const { about, id } = refused;
    if (id === undefined) this.#unassigned(refused);
    switch (about) {
      case "response":
        if (id === undefined) break;
        this.#open.delete(id);
        this.#handler.message(malformedAnswer(id, refused));
        break;
      case "request": {
        const error = { code: refused.code, message: refused.message };
        this.send({ kind: "error", id: id ?? null, error });
        break;
      }
      case "notification":
      case "unknown":
        break;
    }
    const text = bytes === undefined ? "" : ` It began: ${printableBytes(bytes, 120)}`;
    this.#diagnostic(`skipped a line that is not a message. ${refused.message}${text}`);
  }

  /** An answer that is refused and has no id of its own: what may have waited for it waits no longer. */
  #unassigned({ about, among, message }: WireError): void {
    const only = about === "response" && this.#open.size === 1 ? [...this.#open] : [];
    for (const id of among ?? only) {
      if (this.#open.delete(id)) this.#handler.lost?.(id, `An answer was refused. ${message}`);
    }
  }
}

/**
 * Why the server ended, without its last output line: the reason reaches the agent as the gateway's own text, and the
 * operator gets that line with the diagnostics. `confined`: a server in namespaces of its own cannot reach its
 * guardian, so a process outside killed it.
 */
function reasonOf(end: ProcessEnd, confined: boolean): string {
  if (end.guardianLost && confined) {
    return "The server's guardian process was killed from outside, so the server was ended. Restart the session.";
  }
  if (end.guardianLost) return "The server killed its guardian process and was ended. Do not trust it.";
  // The shell that becomes the server ends with these where the system refused to execute the file.
  if (end.code === 126 || end.code === 127) {
    return `The server could not be executed (exit code ${end.code}). Check its command and interpreter.`;
  }
  const how = endOf(end, confined);
  return `The server ended ${how}. Run its command by hand to see why.`;
}

/** A sandbox ends with 128 and the number of the signal that ended the server in it (bwrap(1)). */
function endOf({ code, signal }: ProcessEnd, confined: boolean): string {
  if (signal !== undefined) return `by signal ${signal}`;
  const number = confined && code !== undefined ? code - 128 : 0;
  const name = Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
  return name === undefined ? `with exit code ${code ?? "unknown"}` : `by signal ${name}`;
}
