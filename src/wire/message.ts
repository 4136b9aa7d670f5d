/** JSON-RPC messages of all revisions as one set of types. `raw` holds the bytes that a message was parsed from. */
import type { Json, JsonObject } from "../core/json.ts";

/** JSON-RPC id. Numbers are integers within ±(2^53 - 1); null ids exist only on errors that answer nothing. */
export type RequestId = string | number;

/**
 * Protocol era. `legacy` has a handshake, sessions and requests from the server (revisions 2024-11-05 to 2025-11-25);
 * `modern` has none of them: every request carries its version and capabilities in `_meta` (2026-07-28, SEP-2575).
 */
export type Era = "legacy" | "modern";

export type Revision = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28";

/** Offsets in `raw`: first byte and the byte after the last. */
export type RawSpan = { readonly start: number; readonly end: number };

export type RequestMessage = {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly raw?: Uint8Array;
};

export type NotificationMessage = {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly raw?: Uint8Array;
};

/** A value and the text that writing it anew would give. */
export type WrittenJson = { readonly value: Json; readonly text: string };

export type ResponseMessage = {
  readonly kind: "response";
  readonly id: RequestId;
  readonly result: Json;
  /** The result as it came, where it is large and the same text; a recorder need not serialise it. */
  readonly written?: WrittenJson;
  readonly raw?: Uint8Array;
  readonly rawId?: RawSpan;
};

export type ErrorMessage = {
  readonly kind: "error";
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
  readonly raw?: Uint8Array;
  readonly rawId?: RawSpan;
};

/**
 * One JSON-RPC message, strictly parsed. `raw` holds the bytes it was parsed from (no line end) and is present only
 * while nothing in the message was changed: code that changes a message builds a new one without `raw`. The one
 * exception is the id of a result or error: `rawId` gives its place in `raw`, so that a gateway with own ids need not
 * write 5 MB anew for it; `withId` makes such a message.
 */
export type Message = RequestMessage | NotificationMessage | ResponseMessage | ErrorMessage;
