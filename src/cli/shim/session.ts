/**
 * The splice between a client's stdio and the daemon, and what happens when the daemon is lost: the server's group is
 * killed, open requests are answered with "outcome unknown", the daemon is restarted once, and until it is back every
 * request is refused. Nothing is queued: an undecided message is never delivered later.
 */
import type { Readable, Writable } from "node:stream";
import {
  answerSampleBytesMax,
  endNoticeMsMax,
  flushMsMax,
  requestSampleBytesMax,
  secondLossMsMax,
  signalGraceMsMax,
} from "../../adapters/daemon/daemon-limits.ts";
import { killGroup } from "../../adapters/daemon/process-identity.ts";
import type { ForwardedSignal } from "../../adapters/daemon/protocol.ts";
import type { Result } from "../../core/result.ts";
import { Heartbeat } from "./heartbeat.ts";
import { openInput } from "./intake.ts";
import { LineTail } from "./line-tail.ts";
import type { Link } from "./link.ts";
import type { Outage } from "./outage.ts";

export type ShimWays = {
  /** Opens a session that continues the one before; the error is a sentence. */
  readonly reopen: () => Promise<Result<Link, string>>;
  /** Whether the daemon answers at all, within a limit. */
  readonly ping: () => Promise<boolean>;
};

const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

export class ShimSession {
  readonly #ways: ShimWays;
  #heartbeat: Heartbeat | undefined;
  readonly #requests = new LineTail(requestSampleBytesMax);
  readonly #answers = new LineTail(answerSampleBytesMax);
  readonly #input: Readable;
  /** The session in use; undefined while the daemon is away. */
  #link: Link | undefined;
  /** A reopened session that waits for the client to finish its current line. */
  #next: Link | undefined;
  #outage: Outage | undefined;
  #inputEnded = false;
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #signalled: ForwardedSignal | undefined;
  #finish: (exitCode: number) => void = () => undefined;

  constructor(ways: ShimWays) {
    this.#ways = ways;
    this.#input = openInput((chunk) => this.#onInput(chunk));
  }

  /** Runs until the client or the server ends the session; resolves with the exit code once stdout is flushed. */
  run(link: Link): Promise<number> {
    return new Promise((resolve) => {
      let finished = false;
      this.#finish = (exitCode) => {
        if (finished) return;
        finished = true;
        this.#link?.close();
        this.#next?.close();
        const code = this.#signalled === undefined ? exitCode : 128 + signalNumbers[this.#signalled];
        // The rest of stdout may still sit in this process; a client that reads no more must not keep it alive.
        setTimeout(() => resolve(code), flushMsMax);
        process.stdout.write("", () => resolve(code));
      };
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => this.#onSignal(name));
      // A client that closed our stdout is gone, whatever else it left open.
      process.stdout.on("error", () => this.#finish(0));
      process.stderr.on("error", () => undefined);
      this.#input.on("end", () => this.#onInputEnd()).on("error", () => this.#onInputEnd());
      this.#attach(link);
    });
  }

  #attach(link: Link): void {
    this.#link = link;
    const { wire } = link;
    const { stdout } = process;
    let over = false;
    const onOver = (): void => {
      if (over) return;
      over = true;
      heartbeat.stop();
      void this.#onWireEnd(link);
    };
    // A connection that is destroyed ends like one that the daemon's death has ended.
    const heartbeat = new Heartbeat({ ping: this.#ways.ping, lost: () => void wire.destroy() });
    this.#heartbeat = heartbeat;
    link.answers.divert((chunk) => {
      heartbeat.received();
      this.#answers.push(chunk);
      return stdout;
    });
    wire.on("end", onOver).on("close", onOver);
    if (wire.destroyed) onOver();
    wire.resume();
    if (this.#inputEnded) wire.end();
    else this.#input.resume();
  }

  /** Where bytes of the client go; their memory is used again afterwards. */
  #onInput(chunk: Buffer): Writable | undefined {
    if (this.#outage === undefined) {
      this.#requests.push(chunk);
      this.#heartbeat?.sent();
      return this.#link?.wire;
    }
    // Refused, and with that done: even if the reopened session takes over now, these bytes are none of its.
    this.#outage.push(Buffer.from(chunk));
    this.#resume();
    if (process.stdout.writableNeedDrain) {
      this.#input.pause();
      process.stdout.once("drain", () => this.#input.resume());
    }
    return undefined;
  }

  #onInputEnd(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    // Half-close: the server may still answer what it has; the daemon ends the session after that.
    if (this.#link !== undefined) this.#link.wire.end();
    else if (this.#outage !== undefined) this.#finish(1);
  }

  async #onWireEnd(link: Link): Promise<void> {
    const timeout = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), endNoticeMsMax).unref());
    const end = await Promise.race([link.ended, timeout]);
    if (end !== undefined) {
      if (end.sentence !== "") say(end.sentence);
      this.#finish(end.exitCode);
    } else {
      await this.#onLost(link);
    }
  }

  async #onLost(link: Link): Promise<void> {
    this.#link = undefined;
    this.#input.pause();
    // The daemon's guardian does the same; this holds where the guardian was killed along with the daemon.
    for (const group of link.groups) killGroup(group, "SIGKILL");
    link.close();
    const { Outage } = await import("./outage.ts");
    const outage = new Outage((line) => void process.stdout.write(line));
    outage.begin(this.#requests, this.#answers);
    this.#requests.clear();
    this.#answers.clear();
    if (this.#inputEnded || this.#signalled !== undefined) return this.#finish(1);
    const lostAtMs = process.uptime() * 1000;
    const again = lostAtMs - this.#lostAtMs < secondLossMsMax;
    this.#lostAtMs = lostAtMs;
    this.#outage = outage;
    this.#input.resume();
    if (again)
      return this.#giveUp(
        outage,
        "Sluicegate's daemon was lost twice within a minute: run `sluicegate doctor`, then reconnect this server.",
      );
    say("Sluicegate's daemon was lost; its server was stopped and the daemon is being restarted.");
    const reopened = await this.#ways.reopen();
    if (!reopened.ok) return this.#giveUp(outage, reopened.error);
    this.#next = reopened.value;
    this.#resume();
  }

  #giveUp(outage: Outage, sentence: string): void {
    outage.giveUp();
    say(sentence);
  }

  /** Hands over to the reopened session, but only between two lines of the client. */
  #resume(): void {
    const next = this.#next;
    if (next === undefined || this.#outage?.atLineStart !== true || this.#inputEnded) return;
    this.#next = undefined;
    this.#outage = undefined;
    this.#attach(next);
  }

  #onSignal(name: ForwardedSignal): void {
    this.#signalled = name;
    if (this.#link === undefined) return this.#finish(1);
    this.#link.signal(name);
    this.#link.wire.end();
    setTimeout(() => this.#finish(1), signalGraceMsMax);
  }
}

export function say(sentence: string): void {
  process.stderr.write(`sluicegate: ${sentence}\n`);
}
