/**
 * Server-sent events as bytes, so that their data reaches the strict parser unchanged (WHATWG HTML, 9.2.6).
 * An event over the cap is dropped as it arrives; memory stays within the cap plus one chunk.
 */
import { joined, keepPart } from "../../wire/parse/byte-parts.ts";

export type ServerEvent =
  | { readonly kind: "event"; readonly name: string; readonly data: Uint8Array; readonly id: string | undefined }
  /** An event whose data was over the cap; `head` is how it began. */
  | { readonly kind: "oversize"; readonly head: Uint8Array; readonly tail: Uint8Array; readonly id: string | undefined }
  | { readonly kind: "retry"; readonly delayMs: number };

const lineFeed = 10;
const carriageReturn = 13;

/** Field names, event names and ids are short; a longer one is cut, and as an id ignored. */
const fieldBytesMax = 4_096;

const nothing = new Uint8Array(0);

/** Bytes kept of both ends of data over the cap, where the id of the message is. */
const sampleBytes = 1_024;

export class SseParser {
  readonly #dataBytesMax: number;
  readonly #line: Uint8Array[] = [];
  #lineBytes = 0;
  #data: Uint8Array[] = [];
  #dataBytes = 0;
  #hasData = false;
  #oversize = false;
  #name = "";
  #id: string | undefined;
  #afterReturn = false;
  #first = true;

  constructor(dataBytesMax: number) {
    this.#dataBytesMax = dataBytesMax;
  }

  /** Takes the next bytes and returns the events that they complete. An event cut off by the end is none. */
  push(chunk: Uint8Array): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    let start = 0;
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false;
      if (chunk[0] === lineFeed) start = 1;
    }
    while (start < chunk.length) {
      const end = lineEnd(chunk, start);
      this.#hold(chunk.subarray(start, end ?? chunk.length));
      if (end === undefined) break;
      this.#endLine(events);
      start = end + 1;
      if (chunk[end] !== carriageReturn) continue;
      if (start === chunk.length) this.#afterReturn = true;
      else if (chunk[start] === lineFeed) start += 1;
    }
    return events;
  }

  #hold(part: Uint8Array): void {
    if (part.length === 0) return;
    keepPart(this.#line, part);
    this.#lineBytes += part.length;
    if (this.#lineBytes <= this.#dataBytesMax + sampleBytes) return;
    // A line that long is over the cap whatever its field is: its ends are kept, what is between them is dropped.
    const whole = joined(this.#line);
    this.#line.splice(0, this.#line.length, whole.slice(0, 2 * sampleBytes), whole.slice(-sampleBytes));
    this.#lineBytes = 3 * sampleBytes;
    this.#oversize = true;
  }

  #endLine(events: ServerEvent[]): void {
    let line = joined(this.#line);
    this.#line.length = 0;
    this.#lineBytes = 0;
    if (this.#first) {
      this.#first = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3);
    }
    if (line.length === 0) return this.#dispatch(events);
    const colon = line.indexOf(58);
    if (colon === 0) return;
    const field = text(colon < 0 ? line : line.subarray(0, colon));
    const from = colon < 0 ? line.length : line[colon + 1] === 32 ? colon + 2 : colon + 1;
    const value = line.subarray(from);
    if (field === "data") this.#addData(value);
    else if (field === "event") this.#name = text(value);
    else if (field === "id") this.#id = value.length <= fieldBytesMax && !value.includes(0) ? text(value) : this.#id;
    else if (field === "retry" && /^\d{1,9}$/.test(text(value))) {
      events.push({ kind: "retry", delayMs: Number(text(value)) });
    }
  }

  #addData(value: Uint8Array): void {
    if (this.#hasData) keepPart(this.#data, newLine);
    this.#hasData = true;
    keepPart(this.#data, value);
    this.#dataBytes += value.length + 1;
    if (this.#dataBytes > this.#dataBytesMax + 1) this.#oversize = true;
    if (!this.#oversize) return;
    const whole = joined(this.#data);
    this.#data = [whole.slice(0, 2 * sampleBytes), whole.slice(-sampleBytes)];
  }

  #dispatch(events: ServerEvent[]): void {
    const name = this.#name === "" ? "message" : this.#name;
    const id = this.#id;
    if (this.#oversize) {
      const [head = nothing, tail = nothing] = this.#data;
      events.push({ kind: "oversize", head, tail, id });
    } else if (this.#hasData) {
      events.push({ kind: "event", name, data: joined(this.#data), id });
    }
    this.#data = [];
    this.#dataBytes = 0;
    this.#hasData = false;
    this.#oversize = false;
    this.#name = "";
  }
}

function lineEnd(chunk: Uint8Array, start: number): number | undefined {
  const feed = chunk.indexOf(lineFeed, start);
  const until = feed < 0 ? chunk.length : feed;
  const found = chunk.subarray(start, until).indexOf(carriageReturn);
  if (found >= 0) return start + found;
  return feed < 0 ? undefined : feed;
}

const newLine = new Uint8Array([lineFeed]);

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, fieldBytesMax)).toString("utf8");
}
