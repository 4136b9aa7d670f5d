/** Error codes, and the errors that the gateway sends in its own name. */
import type { Json, JsonObject } from "../core/json.ts";
import { ownMetaPrefix } from "./meta.ts";
import type { ErrorMessage, RequestId, ResponseMessage, Revision } from "./message.ts";
import type { WireError } from "./wire-error.ts";

export const errorCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Resource not found, revisions to 2025-11-25; later ones use `invalidParams` (SEP-2164). */
  legacyResourceNotFound: -32002,
  /** URL elicitation required, revision 2025-11-25 only. */
  urlElicitationRequired: -32042,
  /** Headers and body disagree (2026-07-28). */
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** Ours: the policy refused something that is not a tool call. */
  refused: -32010,
} as const;

/** The content of a refusal: the decision to look up, and an open remedy. */
export type Refusal = { readonly decision: string; readonly sentence: string; readonly way: string };

export function errorMessage(id: RequestId | null, code: number, message: string, data?: Json): ErrorMessage {
  return { kind: "error", id, error: data === undefined ? { code, message } : { code, message, data } };
}

/** Refusal of anything but a tool call: error -32010 with `data: {decision, way}`. */
export function refusalError(id: RequestId, refusal: Refusal): ErrorMessage {
  const { decision, way } = refusal;
  return errorMessage(id, errorCodes.refused, refusal.sentence, { decision, way });
}

/**
 * Refusal of a tool call: a result with `isError: true`, so that the model reads it and can take the way on. The
 * decision id is for users and logs; it sits in `_meta`, which clients do not show to the model.
 */
export function refusalResult(id: RequestId, refusal: Refusal, modern: boolean): ResponseMessage {
  const text = refusal.way === "" ? refusal.sentence : `${refusal.sentence} ${refusal.way}`;
  const result: JsonObject = {
    ...(modern ? { resultType: "complete" } : {}),
    content: [{ type: "text", text }],
    isError: true,
    _meta: { [`${ownMetaPrefix}decision`]: refusal.decision },
  };
  return { kind: "response", id, result };
}

/** The answer to a completion that may not be sent: nothing to offer, which every client handles. */
export function emptyCompletion(id: RequestId, modern: boolean): ResponseMessage {
  const completion = { values: [], total: 0, hasMore: false };
  return { kind: "response", id, result: modern ? { resultType: "complete", completion } : { completion } };
}

/** The answer to bytes that were no acceptable message. */
export function wireErrorAnswer(error: WireError): ErrorMessage {
  return errorMessage(error.id ?? null, error.code, error.message, { reason: error.kind });
}

export function methodNotFound(id: RequestId, method: string): ErrorMessage {
  // The name is the peer's text: bounded, and without anything that could end a line in a log.
  const shown = method.slice(0, 100).replaceAll(/[^\x20-\x7E]/g, "?");
  return errorMessage(id, errorCodes.methodNotFound, `Method not found: ${shown}`);
}

/** UnsupportedProtocolVersionError of 2026-07-28. */
export function unsupportedVersion(id: RequestId, requested: string, supported: readonly Revision[]): ErrorMessage {
  const data = { supported: [...supported], requested: requested.slice(0, 100) };
  return errorMessage(id, errorCodes.unsupportedVersion, "Unsupported protocol version", data);
}

/** MissingRequiredClientCapabilityError of 2026-07-28. */
export function missingClientCapability(id: RequestId, requiredCapabilities: JsonObject): ErrorMessage {
  const sentence = "Missing required client capability";
  return errorMessage(id, errorCodes.missingClientCapability, sentence, { requiredCapabilities });
}

/** Modern codes that tell a modern server from a legacy one when a probe fails (versioning, compatibility matrix). */
export function isModernError(code: number): boolean {
  return (
    code === errorCodes.headerMismatch ||
    code === errorCodes.missingClientCapability ||
    code === errorCodes.unsupportedVersion
  );
}
