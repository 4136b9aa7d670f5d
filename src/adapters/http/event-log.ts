/**
 * Messages that a legacy client may ask for again after its stream was cut (`Last-Event-ID`, revisions 2025-03-26 to
 * 2025-11-25). It holds what was released to this very session and nothing else, within two caps; the oldest go first.
 *
 * An id names its stream and the position in it, so that nothing is ever replayed on another stream.
 */
import { BoundedMap } from "../../core/bounded-map.ts";

export type LoggedEvent = { readonly stream: number; readonly position: number; readonly bytes: Uint8Array };

export class EventLog {
  readonly #eventsMax: number;
  readonly #bytesMax: number;
  readonly #events: LoggedEvent[] = [];
  /** The last message of each stream that had to go; streams of long ago are forgotten with their messages. */
  readonly #dropped: BoundedMap<number, number>;
  #heldBytes = 0;
  #position = 0;

  constructor(eventsMax: number, bytesMax: number) {
    this.#eventsMax = eventsMax;
    this.#bytesMax = bytesMax;
    this.#dropped = new BoundedMap(eventsMax);
  }

  /** Keeps one message and returns its place; an empty message only marks a place to resume from. */
  append(stream: number, bytes: Uint8Array): LoggedEvent {
    this.#position += 1;
    const event = { stream, position: this.#position, bytes };
    this.#events.push(event);
    this.#heldBytes += bytes.length;
    while (this.#events.length > this.#eventsMax || this.#heldBytes > this.#bytesMax) {
      const oldest = this.#events.shift();
      if (oldest === undefined) break;
      this.#heldBytes -= oldest.bytes.length;
      if (oldest.bytes.length > 0) this.#dropped.set(oldest.stream, oldest.position);
    }
    return event;
  }

  /** Whether every message of a stream after a position is still there. */
  isWhole(stream: number, position: number): boolean {
    return (this.#dropped.get(stream) ?? 0) <= position;
  }

  /** The messages of a stream after a position, oldest first. */
  after(stream: number, position: number): readonly LoggedEvent[] {
    return this.#events.filter(
      (event) => event.stream === stream && event.position > position && event.bytes.length > 0,
    );
  }
}

/** The id of an event as the client sees it. */
export function eventId(event: LoggedEvent): string {
  return `${event.stream}-${event.position}`;
}

/** Reads an id that a client sends back; undefined if its form is invalid. */
export function readEventId(text: string): { readonly stream: number; readonly position: number } | undefined {
  const found = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return found === null ? undefined : { stream: Number(found[1]), position: Number(found[2]) };
}
