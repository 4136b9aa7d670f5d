/**
 * One fuzz case for the wire layer: whatever the bytes, nothing throws, and what is accepted means the same after it
 * was written and read again. A throw of this function is a finding.
 */
import type { Json } from "../../src/core/json.ts";
import type { Result } from "../../src/core/result.ts";
import { canonicalJson } from "../../src/wire/canonical.ts";
import { classify } from "../../src/wire/classify.ts";
import { encodeMessage, serialise, withId } from "../../src/wire/encode.ts";
import { checkHeaders, headerParameters, headersFor } from "../../src/wire/headers.ts";
import type { WireLimits } from "../../src/wire/limits.ts";
import type { ErrorMessage, Message, ResponseMessage } from "../../src/wire/message.ts";
import { parseMessage, type ParsedFrame } from "../../src/wire/parse/parse.ts";
import { leaves } from "../../src/core/pointer.ts";
import { recoverSample } from "../../src/wire/parse/recover.ts";
import { LineSplitter } from "../../src/wire/parse/splitter.ts";
import type { WireError } from "../../src/wire/wire-error.ts";

/** Small, so that random bytes reach every limit. */
const limits: WireLimits = {
  messageBytesMax: 4096,
  depthMax: 16,
  listLengthMax: 200,
  idLengthMax: 64,
  methodLengthMax: 64,
  batchLengthMax: 8,
};

/** What is fuzzed; a test replaces parts of it to see that the checks can fail. */
export type FuzzSubject = {
  readonly serialise: (message: Message) => string;
  readonly encode: (message: Message) => Uint8Array;
  readonly canonical: (value: Json) => string;
  readonly headers: typeof headersFor;
  readonly parse: typeof parseMessage;
};

const ours: FuzzSubject = {
  serialise,
  encode: encodeMessage,
  canonical: canonicalJson,
  headers: headersFor,
  parse: parseMessage,
};

export function fuzzOne(bytes: Uint8Array, subject: FuzzSubject = ours): void {
  const splitter = new LineSplitter(limits.messageBytesMax);
  const half = bytes.length >> 1;
  const events = [...splitter.push(bytes.subarray(0, half)), ...splitter.push(bytes.subarray(half)), ...splitter.end()];
  for (const event of events) {
    if (event.kind === "oversize") recoverSample(event.head, event.tail);
    else fuzzFrame(event.bytes, subject);
  }
  fuzzFrame(bytes, subject);
}

function fuzzFrame(bytes: Uint8Array, subject: FuzzSubject): void {
  for (const revision of ["2025-03-26", "2026-07-28"] as const) {
    const frame = parseMessage(bytes, limits, revision);
    const large = subject.parse(padded(bytes), { ...limits, messageBytesMax: 64 * 1024 }, revision);
    if (bytes.length <= limits.messageBytesMax && told(large) !== told(frame)) {
      throw new Error(`a message means something else after white space: ${told(frame)}, ${told(large)}`);
    }
    if (!frame.ok) continue;
    if (frame.value.kind === "single") fuzzMessage(frame.value.message, subject);
    else for (const entry of frame.value.entries) if (entry.ok) fuzzMessage(entry.value, subject);
  }
}

/** The same message with white space before it: so long that it takes the way of large messages through the parser. */
function padded(bytes: Uint8Array): Uint8Array {
  const large = new Uint8Array(limits.messageBytesMax + bytes.length).fill(32);
  large.set(bytes, limits.messageBytesMax);
  return large;
}

function told(frame: Result<ParsedFrame, WireError>): string {
  if (!frame.ok) return `refused: ${frame.error.kind}`;
  if (frame.value.kind === "single") return serialise(frame.value.message);
  return frame.value.entries.map((entry) => (entry.ok ? serialise(entry.value) : entry.error.kind)).join();
}

function fuzzMessage(message: Message, subject: FuzzSubject): void {
  const text = subject.serialise(message);
  // Escapes may make the text longer than the bytes it came from, hence the generous second limit.
  const again = parseMessage(new TextEncoder().encode(text), { ...limits, messageBytesMax: 64 * 1024 });
  if (!again.ok || again.value.kind !== "single")
    throw new Error(`what was accepted is refused after encoding: ${text}`);
  if (serialise(again.value.message) !== text) throw new Error(`encoding is not stable: ${text}`);
  const sent = parseMessage(subject.encode(message), { ...limits, messageBytesMax: 64 * 1024 });
  if (!sent.ok || sent.value.kind !== "single" || serialise(sent.value.message) !== text) {
    throw new Error(`the bytes sent do not mean what was judged: ${text}`);
  }
  if (message.kind === "response" || message.kind === "error") fuzzId(message, subject);
  const body = bodyOf(message);
  const form = subject.canonical(body);
  if (subject.canonical(bodyOf(again.value.message)) !== form) throw new Error(`canonical form differs: ${text}`);
  for (const leaf of leaves(body)) if (!leaf.pointer.startsWith("/")) break;
  classify(message, { transport: "http", header: "2026-07-28" });
  const parameters = headerParameters(body) ?? [];
  const headers = subject.headers(message, parameters);
  if (headers !== undefined && checkHeaders(headers, message, parameters) !== undefined) {
    throw new Error(`our own headers are refused: ${text}`);
  }
}

/** An answer under another id must be the same answer. */
function fuzzId(message: ResponseMessage | ErrorMessage, subject: FuzzSubject): void {
  const renamed = withId(message, "other\n");
  const sent = parseMessage(subject.encode(renamed), { ...limits, messageBytesMax: 64 * 1024 });
  if (!sent.ok || sent.value.kind !== "single" || serialise(sent.value.message) !== serialise(renamed)) {
    throw new Error(`another id changed the answer: ${serialise(message)}`);
  }
}

function bodyOf(message: Message): Json {
  switch (message.kind) {
    case "request":
    case "notification":
      return message.params ?? null;
    case "response":
      return message.result;
    case "error":
      return message.error;
  }
}
