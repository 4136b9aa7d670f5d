/**
 * One direction of the splice: what a socket reads goes to a stream on the shortest way. Node's readable side would
 * allocate, queue and announce each chunk, and in a process without optimisers that is most of the work there is.
 */
import { fstatSync } from "node:fs";
import { type OnReadOpts, Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { intakeBytes } from "../../adapters/daemon/daemon-limits.ts";

/** Looks at bytes that are about to go through and names their sink; undefined when they go nowhere. Keeps none. */
export type Route = (bytes: Buffer) => Writable | undefined;

export class Intake {
  readonly socket: Socket;
  #buffer = Buffer.allocUnsafeSlow(intakeBytes);
  #route: Route | undefined;

  constructor(open: (onread: OnReadOpts) => Socket) {
    this.socket = open({ buffer: () => this.#buffer, callback: (count) => this.#read(count) });
  }

  /** Until now the socket was a stream like any other, for a handshake; what it still holds goes ahead of the rest. */
  divert(route: Route): void {
    this.#route = route;
    const held: unknown = this.socket.readableLength > 0 ? this.socket.read() : undefined;
    if (held instanceof Buffer) this.#pass(held, route);
  }

  #read(count: number): boolean {
    const bytes = this.#buffer.subarray(0, count);
    if (this.#route === undefined) return this.socket.push(Buffer.from(bytes));
    return this.#pass(bytes, this.#route);
  }

  /** False once the sink wants a pause, which ends when it has drained. */
  #pass(bytes: Buffer, route: Route): boolean {
    const sink = route(bytes);
    if (sink === undefined) return true;
    // An idle sink has mostly written everything when `write` returns, and then the buffer is free again. What an
    // occupied one keeps must be a copy, or many small chunks would keep a large buffer each.
    const idle = sink.writableLength === 0;
    const more = sink.write(idle ? bytes : Buffer.from(bytes));
    if (idle && sink.writableLength > 0) this.#buffer = Buffer.allocUnsafeSlow(intakeBytes);
    if (!more) sink.once("drain", () => this.socket.resume());
    return more;
  }
}

/** The client's end of the splice, paused. Node's own stream reads a terminal or a file: calls from there are slow. */
export function openInput(route: Route): Readable {
  const kind = fstatSync(0);
  if (kind.isFIFO() || kind.isSocket()) {
    const intake = new Intake((onread) => new Socket({ fd: 0, writable: false, onread }));
    intake.divert(route);
    return intake.socket.pause();
  }
  const { stdin } = process;
  stdin.on("data", (chunk: Buffer) => {
    const sink = route(chunk);
    if (sink === undefined || sink.write(chunk)) return;
    stdin.pause();
    sink.once("drain", () => stdin.resume());
  });
  return stdin.pause();
}
