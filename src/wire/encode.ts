/**
 * Message to bytes. Requests and notifications are always written anew from the object that was judged, so no byte that
 * the judge did not see reaches a server. Results and errors that nothing changed go out as the bytes they came in:
 * that saves a 5 MB `JSON.stringify`, and the guard has already refused every text that two readers read differently.
 */
import type { ErrorMessage, Message, RawSpan, RequestId, ResponseMessage } from "./message.ts";

const encoder = new TextEncoder();

/** The JSON text of a message in the usual member order; numbers keep their lexeme. One line, no line end. */
export function serialise(message: Message): string {
  switch (message.kind) {
    case "request": {
      const { id, method, params } = message;
      return JSON.stringify({ jsonrpc: "2.0", id, method, params });
    }
    case "notification": {
      const { method, params } = message;
      return JSON.stringify({ jsonrpc: "2.0", method, params });
    }
    case "response": {
      const { id, result } = message;
      return JSON.stringify({ jsonrpc: "2.0", id, result });
    }
    case "error": {
      const { id, error } = message;
      return JSON.stringify({ jsonrpc: "2.0", id, error });
    }
  }
}

/** The bytes of a message without line end; never contains a line break, so every framing may append its own. */
export function encodeMessage(message: Message): Uint8Array {
  if (message.kind === "response" || message.kind === "error") {
    const { raw, rawId, id } = message;
    if (raw !== undefined && rawId !== undefined) return rawWithId(raw, rawId, id);
  }
  return encoder.encode(serialise(message));
}

/** The same answer under another id; its body keeps its bytes. */
export function withId<Answer extends ResponseMessage | ErrorMessage>(answer: Answer, id: RequestId): Answer {
  return { ...answer, id };
}

/** Puts the id where the old one stood. It is compared too, so a stale span can never send an answer under a wrong id. */
function rawWithId(raw: Uint8Array, span: RawSpan, id: RequestId | null): Uint8Array {
  const wanted = encoder.encode(JSON.stringify(id));
  const same = wanted.length === span.end - span.start && wanted.every((byte, at) => raw[span.start + at] === byte);
  if (same) return raw;
  const bytes = new Uint8Array(raw.length - (span.end - span.start) + wanted.length);
  bytes.set(raw.subarray(0, span.start));
  bytes.set(wanted, span.start);
  bytes.set(raw.subarray(span.end), span.start + wanted.length);
  return bytes;
}

/** A batch for a peer of revision 2025-03-26, in the order given. */
export function encodeBatch(messages: readonly Message[]): Uint8Array {
  return encoder.encode(`[${messages.map(serialise).join(",")}]`);
}
