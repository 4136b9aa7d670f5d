import type { RequestId } from "./message.ts";

/** Why bytes were not accepted as a message. Each kind names one attack or fault; none quotes the peer's text. */
export type WireErrorKind =
  | "too-large"
  | "invalid-utf8"
  | "invalid-json"
  | "too-deep"
  | "list-too-long"
  | "nul-in-name"
  | "ill-formed-name"
  | "duplicate-name"
  | "case-variant-name"
  | "unknown-envelope-name"
  | "invalid-envelope"
  | "invalid-id"
  | "invalid-method"
  | "batch-not-allowed"
  | "batch-length";

/**
 * A refusal of the wire layer. `about` and `id` come from a tolerant look at the refused bytes: a refused *request* is
 * answered with `code` and its id, a refused *response* ends the call of that id; neither is ever forwarded.
 */
export type WireError = {
  readonly kind: WireErrorKind;
  /** JSON-RPC code for the answer: -32700 for text that is not JSON, -32600 for a message that is not acceptable. */
  readonly code: -32700 | -32600;
  /** The fault and its remedy, for the peer and the log. */
  readonly message: string;
  readonly about: "request" | "notification" | "response" | "unknown";
  readonly id: RequestId | undefined;
  /** Ids of the requests that a refused message may answer, where it has none that is its own: a repeated id, a batch. */
  readonly among?: readonly RequestId[];
  /** Byte offset of the offence in the message, where there is one. */
  readonly position: number | undefined;
};

const sentences: Readonly<Record<WireErrorKind, string>> = {
  "too-large": "The message is larger than the gateway accepts. Send less at once or raise `messageBytesMax`.",
  "invalid-utf8": "The message is not valid UTF-8. Encode it as UTF-8.",
  "invalid-json": "The message is not valid JSON. Send one complete JSON-RPC message.",
  "too-deep": "The message is nested too deeply. Flatten it or raise `depthMax`.",
  "list-too-long": "A list or object in the message has too many members. Page it or raise `listLengthMax`.",
  "nul-in-name": "A member name holds a NUL character, which some readers cut off. Remove it.",
  "ill-formed-name": "A member name holds half of a surrogate pair, which readers replace differently. Remove it.",
  "duplicate-name": "An object has the same member name twice, so readers would disagree. Send each name once.",
  "case-variant-name":
    "A member name differs only in case from another or from a protocol name. Use the exact protocol spelling.",
  "unknown-envelope-name": "The message has a member that JSON-RPC does not define. Move it into `params._meta`.",
  "invalid-envelope": "This is not a JSON-RPC 2.0 request, notification, result or error. Check its members.",
  "invalid-id": "The id must be a string or a whole number within 2^53-1. Use such an id.",
  "invalid-method": "The method must be a non-empty string of reasonable length. Use a method of the protocol.",
  "batch-not-allowed": "Batches exist only in protocol revision 2025-03-26. Send the messages one by one.",
  "batch-length": "A batch must hold between 1 and the allowed number of messages. Split it.",
};

export type WireErrorFacts = {
  readonly about?: WireError["about"];
  readonly id?: RequestId | undefined;
  readonly among?: readonly RequestId[];
  readonly position?: number | undefined;
};

export function wireError(kind: WireErrorKind, facts: WireErrorFacts = {}): WireError {
  const code = kind === "invalid-json" || kind === "invalid-utf8" ? -32700 : -32600;
  const message = sentences[kind];
  const { about = "unknown", id, among, position } = facts;
  const error = { kind, code, message, about, id, position } as const;
  return among === undefined ? error : { ...error, among };
}
