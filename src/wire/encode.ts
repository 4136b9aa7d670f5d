/**
 * Message to bytes. Requests and notifications are always written anew from the object that was judged, so no byte that
 * the judge did not see reaches a server. Results and errors that nothing changed go out as the bytes they came in:
 * that saves a 5 MB `JSON.stringify`, and the guard has already refused every text that two readers read differently.
 */
import type { Message } from "./message.ts";

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
  const reusable = message.kind === "response" || message.kind === "error";
  if (reusable && message.raw !== undefined) return message.raw;
  return encoder.encode(serialise(message));
}

/** A batch for a peer of revision 2025-03-26, in the order given. */
export function encodeBatch(messages: readonly Message[]): Uint8Array {
  return encoder.encode(`[${messages.map(serialise).join(",")}]`);
}
