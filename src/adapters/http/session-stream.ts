import { type LoggedEvent, eventId, type EventLog } from "./event-log.ts";
import type { EventSink } from "./event-sink.ts";

/** Destination of the messages of a POST or of a session when they are sent as a stream. */
export interface MessageStream {
  write(bytes: Uint8Array): void;
  /** No more messages will follow. */
  end(): void;
  drained(): Promise<void> | undefined;
}

/**
 * One stream of a legacy session, which may outlive its connection: it is written to the log and, while a client is
 * attached, to its response. A client that was cut attaches again with a GET and gets what it missed.
 */
export class SessionStream implements MessageStream {
  readonly number: number;
  readonly #log: EventLog;
  readonly #ended: () => void;
  #sink: EventSink | undefined;
  #delivered = 0;

  /** `ended` is called when no more messages will follow. */
  constructor(number: number, log: EventLog, ended: () => void) {
    this.number = number;
    this.#log = log;
    this.#ended = ended;
  }

  get attached(): boolean {
    return this.#sink !== undefined;
  }

  /** Connects a client, after `position` or after what was last handed to one. A connection before it is ended. */
  attach(sink: EventSink, position: number | undefined): void {
    this.#sink?.end();
    this.#sink = sink;
    for (const event of this.#log.after(this.number, position ?? this.#delivered)) this.#hand(event, sink);
  }

  /** Sends an id to resume from before there is any message. */
  prime(): void {
    const event = this.#log.append(this.number, new Uint8Array(0));
    this.#sink?.prime(eventId(event));
  }

  /** The connection is gone; the stream goes on in the log. */
  detach(sink: EventSink): void {
    if (this.#sink === sink) this.#sink = undefined;
  }

  write(bytes: Uint8Array): void {
    const event = this.#log.append(this.number, bytes);
    if (this.#sink !== undefined) this.#hand(event, this.#sink);
  }

  end(): void {
    this.#sink?.end();
    this.#sink = undefined;
    this.#ended();
  }

  drained(): Promise<void> | undefined {
    return this.#sink?.drained();
  }

  #hand(event: LoggedEvent, sink: EventSink): void {
    sink.event(eventId(event), event.bytes);
    this.#delivered = event.position;
  }
}
