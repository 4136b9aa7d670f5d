/** One shim's session inside the daemon: its two sockets, the services' session behind them, and how it ends. */
import type { Socket } from "node:net";
import type { Result } from "../../core/result.ts";
import { closeMsMax, replyBytesMax, sideBufferBytesMax } from "./daemon-limits.ts";
import { readLines } from "./lines.ts";
import { type RunHello, type SideLine, toLine, type SessionEnd } from "./protocol.ts";
import { parseSignalLine } from "./replies.ts";
import type { DaemonServices, OpenSession, SideChannel } from "./services.ts";

/** Makes the side channel of a session over its second socket. */
export function sideChannel(side: Socket): SideChannel {
  let dropped = false;
  const send = (line: SideLine): void => {
    if (side.writable) side.write(toLine(line));
  };
  return {
    stderr(chunk) {
      if (side.writableLength <= sideBufferBytesMax) {
        dropped = false;
        send({ kind: "stderr", bytes: Buffer.from(chunk).toString("latin1") });
      } else if (!dropped) {
        dropped = true;
        send({
          kind: "stderr",
          bytes: "sluicegate: stderr of the server was dropped here, the client reads too slowly\n",
        });
      }
    },
    processGroup: (leader) => send({ kind: "group", leader }),
  };
}

export class Session {
  readonly #wire: Socket;
  readonly #side: Socket;
  readonly #opened: OpenSession;
  /** Resolves when both sockets are closed and the server's group was ordered to end. */
  readonly finished: Promise<void>;
  #closing = false;
  #force: (end: SessionEnd) => void = () => undefined;

  private constructor(wire: Socket, side: Socket, opened: OpenSession) {
    this.#wire = wire;
    this.#side = side;
    this.#opened = opened;
    const forced = new Promise<SessionEnd>((resolve) => (this.#force = resolve));
    this.finished = Promise.race([opened.ended, forced]).then((end) => this.#finish(end));
  }

  /** Opens the services' session. A shim that died meanwhile closes it at once: the server must not outlive it. */
  static async open(
    services: DaemonServices,
    hello: RunHello,
    sockets: { readonly wire: Socket; readonly side: Socket },
  ): Promise<Result<Session, string>> {
    const { wire, side } = sockets;
    let gone = false;
    const onGone = (): void => void (gone = true);
    side.on("end", onGone).on("close", onGone);
    const opened = await services.open(hello, sideChannel(side));
    if (!opened.ok) return opened;
    const session = new Session(wire, side, opened.value);
    const closeForGone = (): void => void session.close("the shim is gone");
    // Only the end of the side connection means that the shim is gone: a client that closes stdin half-closes the other
    // connection and still expects answers.
    side.on("end", closeForGone).on("close", closeForGone);
    wire.on("close", closeForGone);
    if (gone) closeForGone();
    return { ok: true, value: session };
  }

  get run(): string {
    return this.#opened.run;
  }

  /** Call after the reply line was written: what follows on the wire is protocol. */
  attach(): void {
    readLines(this.#side, replyBytesMax, (text) => {
      const line = parseSignalLine(text);
      if (line !== undefined) this.#opened.signal(line.name);
    });
    this.#opened.attach(this.#wire);
  }

  async close(reason: string): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    // The session of a dead shim must not be kept open by services that are still waiting.
    const timer = setTimeout(() => this.#force({ exitCode: 1, sentence: "" }), closeMsMax);
    void this.finished.then(() => clearTimeout(timer));
    await this.#opened.close(reason);
  }

  /** Sends the last line on the side *before* the wire ends: a wire that ends without it means a dead daemon. */
  async #finish(end: SessionEnd): Promise<void> {
    this.#closing = true;
    if (this.#side.writable) this.#side.end(toLine({ kind: "ended", end }));
    const closed = new Promise<void>((resolve) => {
      if (this.#wire.destroyed) resolve();
      else this.#wire.once("close", () => resolve());
    });
    // Ends after what is buffered went out; a client that reads no more is cut off.
    if (this.#wire.writable) this.#wire.end();
    this.#wire.resume();
    const timer = setTimeout(() => this.#wire.destroy(), closeMsMax);
    await closed;
    clearTimeout(timer);
    this.#side.destroy();
  }
}
