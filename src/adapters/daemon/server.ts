/**
 * The per-user daemon: accepts connections on its socket, checks their hello and hands them to the services. It ends
 * when idle, when asked to, and after a drain; a session never outlives its shim, nor a server its session.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { type Json, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { closeMsMax, connectionsMax, drainMsMax, helloBytesMax, helloWaitMsMax } from "./daemon-limits.ts";
import { readFirstLine } from "./lines.ts";
import { type ControlHello, type Refusal, type RunHello, type SideHello, parseHello, toLine } from "./protocol.ts";
import type { DaemonServices } from "./services.ts";
import { keepSocket, type SocketKeeper } from "./socket-keeper.ts";
import { Session } from "./session.ts";

export type DaemonOptions = {
  readonly socket: string;
  readonly home: string;
  readonly version: string;
  readonly idleMs: number;
  readonly services: DaemonServices;
  readonly log: (sentence: string) => void;
};

export class Daemon {
  readonly #options: DaemonOptions;
  #server: Server;
  #keeper: SocketKeeper | undefined;
  readonly #sessions = new Set<Session>();
  /** Side connections whose run hello has not come, and run hellos whose side connection has not. */
  readonly #sides = new Map<string, Socket>();
  readonly #waiting = new Map<string, (side: Socket) => void>();
  readonly #startedAtMs = Date.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #state: "open" | "draining" | "stopping" = "open";
  #resolveStopped: (reason: string) => void = () => undefined;
  /** Resolves with the reason when everything is closed. */
  readonly stopped: Promise<string>;

  private constructor(options: DaemonOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    this.stopped = new Promise((resolve) => (this.#resolveStopped = resolve));
    this.#serve(server);
    this.#rearm();
  }

  #serve(server: Server): void {
    server.on("connection", (socket) => {
      this.#accept(socket).catch((error: unknown) => {
        // A bug of the daemon must cost one connection, not the sessions of all other clients.
        const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#options.log(`a connection failed: ${what}`);
        socket.destroy();
      });
    });
  }

  /** The socket is gone: another one is made, and the sessions of the old one go on. */
  async #listenAgain(): Promise<void> {
    if (this.#state === "stopping") return;
    const server = newServer();
    this.#serve(server);
    const listening = await listenOn(server, this.#options.socket);
    if (!listening.ok) return this.#options.log(listening.error);
    this.#options.log("the socket was gone and has been made again");
    // Node removes the socket file of a server that closes, which is the new one's by now: only its handle may go.
    this.#server.removeAllListeners("connection");
    this.#server.unref();
    this.#server = server;
  }

  /** Listens on the socket. Call with the lock held: a socket file that is there then is a leftover. */
  static async start(options: DaemonOptions): Promise<Result<Daemon, string>> {
    const server = newServer();
    const daemon = new Daemon(options, server);
    const listening = await listenOn(server, options.socket);
    if (!listening.ok) return listening;
    daemon.#keeper = keepSocket(options.socket, () => daemon.#listenAgain());
    return ok(daemon);
  }

  /** Closes every session (their server groups die), the socket and the services. */
  async stop(reason: string): Promise<void> {
    if (this.#state === "stopping") return;
    this.#state = "stopping";
    clearTimeout(this.#idleTimer);
    this.#keeper?.stop();
    this.#server.close();
    rmSync(this.#options.socket, { force: true });
    const open = [...this.#sessions];
    await within(
      Promise.all(open.map(async (session) => session.close(reason).then(() => session.finished))),
      closeMsMax,
    );
    await within(this.#options.services.close(), closeMsMax);
    this.#resolveStopped(reason);
  }

  async #drain(reason: string): Promise<void> {
    if (this.#state !== "open") return;
    this.#state = "draining";
    await within(this.#options.services.drain(), drainMsMax);
    await this.stop(reason);
  }

  /** Idle time starts anew with every connection and every end of one; sessions stop the clock. */
  #rearm(): void {
    clearTimeout(this.#idleTimer);
    if (this.#sessions.size > 0 || this.#state !== "open") return;
    this.#idleTimer = setTimeout(() => void this.stop("idle"), this.#options.idleMs);
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on("error", () => undefined); // followed by `close`
    this.#rearm();
    const line = await readFirstLine(socket, helloBytesMax, helloWaitMsMax);
    const hello = line.ok ? parseHello(line.value) : line;
    if (!hello.ok)
      return this.#refuse(socket, "refused", `Sluicegate's daemon refused the connection: ${hello.error}.`);
    const request = hello.value;
    // Status, drain and stop are understood across versions; without them an upgrade could never replace a daemon.
    if (request.version !== this.#options.version && !isHousekeeping(request)) {
      const sentence = `The Sluicegate daemon is version ${this.#options.version}, this command is ${request.version}: restart your client, or run \`sluicegate daemon stop\` first.`;
      return this.#refuse(socket, "version", sentence);
    }
    switch (request.kind) {
      case "run":
        return this.#run(socket, request);
      case "side":
        return this.#side(socket, request);
      case "control":
        return this.#control(socket, request);
    }
  }

  async #run(wire: Socket, hello: RunHello): Promise<void> {
    if (this.#state !== "open")
      return this.#refuse(wire, "draining", "The Sluicegate daemon is about to end: try again.");
    if (hello.home !== this.#options.home) {
      const sentence =
        "The running Sluicegate daemon uses another state folder: set SLUICEGATE_RUNTIME_DIR together with SLUICEGATE_HOME, or run `sluicegate daemon stop` with the SLUICEGATE_HOME that it was started with.";
      return this.#refuse(wire, "refused", sentence);
    }
    const side = await this.#sideOf(hello.session);
    if (side === undefined)
      return this.#refuse(wire, "refused", "The second connection of this session did not come: try again.");
    const opened = await Session.open(this.#options.services, hello, { wire, side }).catch((error: unknown) => {
      side.destroy();
      throw error;
    });
    if (!opened.ok) {
      side.destroy();
      return this.#refuse(wire, "refused", opened.error);
    }
    const session = opened.value;
    this.#sessions.add(session);
    this.#rearm();
    void session.finished.then(() => {
      this.#sessions.delete(session);
      this.#rearm();
    });
    wire.write(toLine({ kind: "accepted", session: hello.session, run: session.run }));
    session.attach();
  }

  #side(socket: Socket, hello: SideHello): void {
    const waiting = this.#waiting.get(hello.session);
    if (waiting !== undefined) return waiting(socket);
    this.#sides.set(hello.session, socket);
    // A side connection without its session is a shim that died in between.
    const timer = setTimeout(() => {
      if (this.#sides.delete(hello.session)) socket.destroy();
    }, helloWaitMsMax);
    timer.unref();
  }

  #sideOf(session: string): Promise<Socket | undefined> {
    const there = this.#sides.get(session);
    if (there !== undefined) {
      this.#sides.delete(session);
      return Promise.resolve(there);
    }
    return new Promise((resolve) => {
      const finish = (side: Socket | undefined): void => {
        clearTimeout(timer);
        this.#waiting.delete(session);
        resolve(side);
      };
      const timer = setTimeout(() => finish(undefined), helloWaitMsMax);
      this.#waiting.set(session, finish);
    });
  }

  async #control(socket: Socket, hello: ControlHello): Promise<void> {
    const aborted = new AbortController();
    socket.on("close", () => aborted.abort()).on("end", () => aborted.abort());
    socket.resume();
    const own = this.#housekeeping(hello.request);
    const answer =
      own === undefined
        ? await this.#options.services.control(hello.request, {
            part: (value) => void socket.write(toLine({ kind: "part", value })),
            signal: aborted.signal,
          })
        : ok(own);
    if (answer.ok) socket.end(toLine({ kind: "value", value: answer.value }));
    else this.#refuse(socket, "refused", answer.error);
  }

  /** `{kind: "daemon", command}`: what the daemon answers itself; undefined for everything else. */
  #housekeeping(request: Json): Json | undefined {
    if (stringMember(request, "kind") !== "daemon") return undefined;
    const command = stringMember(request, "command");
    if (command === "drain") void this.#drain("replaced by another version");
    if (command === "stop") void this.stop("stopped by the user");
    return {
      pid: process.pid,
      version: this.#options.version,
      home: this.#options.home,
      state: this.#state,
      sessions: this.#sessions.size,
      upSeconds: Math.round((Date.now() - this.#startedAtMs) / 1000),
      residentBytes: process.memoryUsage.rss(),
    };
  }

  #refuse(socket: Socket, reason: Refusal["reason"], refused: string): void {
    this.#options.log(refused);
    socket.end(toLine({ kind: "refused", reason, version: this.#options.version, refused }));
    socket.resume();
  }
}

function newServer(): Server {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.maxConnections = connectionsMax;
  return server;
}

/** A socket file that is there is a leftover, since the caller holds the lock. */
function listenOn(server: Server, socket: string): Promise<Result<void, string>> {
  return new Promise((resolve) => {
    rmSync(socket, { force: true });
    server.once("error", (error) => resolve(err(`cannot listen on ${socket}: ${error.message}`)));
    server.listen(socket, () => {
      chmodSync(socket, 0o600);
      resolve(ok(undefined));
    });
  });
}

function isHousekeeping(hello: RunHello | SideHello | ControlHello): boolean {
  return hello.kind === "control" && member(hello.request, "kind") === "daemon";
}

/** Waits for a promise, but no longer than the limit; its failure is not ours to report here. */
async function within(work: Promise<unknown>, waitMsMax: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, waitMsMax)));
  await Promise.race([work.catch(() => undefined), limit]);
  clearTimeout(timer);
}
