import type { ServerResponse } from "node:http";
import { encodeMessage } from "../../wire/encode.ts";
import { errorMessage } from "../../wire/errors.ts";
import type { ErrorMessage } from "../../wire/message.ts";

/** No response may be cached by a proxy or interpreted as another type by a browser. */
const commonHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/** Sends a whole response with the common headers; does nothing if a response was begun or the connection is gone. */
export function answerBytes(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.headersSent || response.destroyed) return;
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  response.writeHead(status, { ...commonHeaders, "content-length": String(length), ...headers });
  response.end(body);
}

/** A JSON-RPC error as the whole answer. */
export function answerError(
  response: ServerResponse,
  status: number,
  error: ErrorMessage,
  headers: Readonly<Record<string, string>> = {},
): void {
  answerBytes(response, status, encodeMessage(error), { "content-type": "application/json", ...headers });
}

/** A refusal that belongs to no request: an error without id, which the specification allows. */
export function refuse(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  answerError(response, status, errorMessage(null, -32600, text), headers);
}

/** The same while the body is still arriving: the connection cannot be used again. */
export function refuseAndClose(response: ServerResponse, status: number, text: string): void {
  refuse(response, status, text, { connection: "close" });
}
