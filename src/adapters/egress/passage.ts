/**
 * One connection through the broker: bytes both ways, counted before they pass, at the pace of the slower side, each
 * direction ending on its own.
 */
import type { Socket } from "node:net";
import type { Destination } from "./permissions.ts";

/** Silence on both sides after which a connection is closed. */
const idleMsMax = 300_000;

export type PassageEnds = {
  readonly client: Socket;
  readonly upstream: Socket;
  readonly destination: Destination;
  /** IP address that the upstream socket is connected to. */
  readonly address: string;
  /** True if that address can be reached only by a grant that names it. */
  readonly special: boolean;
};

export type PassageEvents = {
  /** Called before bytes pass; false means that they must not. */
  readonly take: (bytes: number) => boolean;
  /** Judges bytes of the client before they pass: those that may pass now, undefined = the connection must end. */
  readonly judge?: (bytes: Buffer) => Buffer | undefined;
  /** Both sides are closed. */
  readonly closed: () => void;
};

export class Passage {
  readonly destination: Destination;
  readonly address: string;
  readonly special: boolean;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #events: PassageEvents;
  #sent = 0;

  constructor({ client, upstream, destination, address, special }: PassageEnds, events: PassageEvents) {
    this.destination = destination;
    this.address = address;
    this.special = special;
    this.#client = client;
    this.#upstream = upstream;
    this.#events = events;
    client.setTimeout(idleMsMax, () => this.cut());
    upstream.setTimeout(idleMsMax, () => this.cut());
    client.once("close", () => {
      // After a proper end of both directions the last bytes of the client are still delivered.
      const proper = client.readableEnded && client.writableFinished && upstream.writableEnded;
      // A transfer that was cut must not look complete to the destination.
      if (!proper) upstream.resetAndDestroy();
      events.closed();
    });
    upstream.once("close", () => {
      if (upstream.readableEnded) client.destroySoon();
      else client.resetAndDestroy();
    });
    this.#pump(upstream, client, () => {});
  }

  /** Lets the client's bytes through, first those that were read already; `ended` when there are no others. */
  open(first: Buffer, ended: boolean): void {
    const passing = this.#judged(first);
    if (passing === undefined) return this.cut("reset");
    if (passing.length > 0) {
      if (!this.#events.take(passing.length)) return;
      this.#sent += passing.length;
      this.#upstream.write(passing);
    }
    if (ended) return void this.#upstream.end();
    this.#pump(
      this.#client,
      this.#upstream,
      (bytes) => {
        this.#sent += bytes;
      },
      (bytes) => this.#judged(bytes),
    );
  }

  #judged(bytes: Buffer): Buffer | undefined {
    return this.#events.judge === undefined ? bytes : this.#events.judge(bytes);
  }

  /** Bytes sent to the destination since this was asked last. */
  takeSent(): number {
    const sent = this.#sent;
    this.#sent = 0;
    return sent;
  }

  /** Ends both directions at once; `reset` so that the client cannot take it for a proper end either. */
  cut(how: "close" | "reset" = "close"): void {
    this.#upstream.resetAndDestroy();
    if (how === "reset") this.#client.resetAndDestroy();
    else this.#client.destroy();
  }

  #pump(
    from: Socket,
    to: Socket,
    count: (bytes: number) => void,
    judge: (bytes: Buffer) => Buffer | undefined = (bytes) => bytes,
  ): void {
    from.on("data", (given: Buffer) => {
      const bytes = judge(given);
      if (bytes === undefined) return this.cut("reset");
      if (bytes.length === 0) return;
      if (!this.#events.take(bytes.length)) return;
      count(bytes.length);
      if (to.write(bytes)) return;
      from.pause();
      to.once("drain", () => from.resume());
    });
    from.on("end", () => to.end());
    from.resume();
  }
}
