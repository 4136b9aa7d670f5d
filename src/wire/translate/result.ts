/**
 * Results and errors of a server, across the eras.
 *
 * | legacy server, modern client | modern server, legacy client |
 * |---|---|
 * | gains `resultType: "complete"`, and cache hints on lists and reads | loses `resultType`, `ttlMs`, `cacheScope` |
 * | error -32002 (resource not found) becomes -32602 | -32602 stays: legacy clients know it |
 * | error -32042 (URL elicitation) becomes `input_required` | `input_required` becomes requests (translate-input) |
 * | -32020 to -32022 are not its to give and become -32600 | the same, a code that the older revisions define |
 * | `{task}` becomes a flat task with `resultType: "task"` | a task is an error: no legacy client asked for it |
 */
import { isArray, isObject, member, type JsonObject } from "../../core/json.ts";
import { errorCodes, isModernError } from "../errors.ts";
import { metaKeys } from "../meta.ts";
import type { ErrorMessage } from "../message.ts";
import { cacheableMethods, inputRequestsMax, resultTypeOf, runCache, type InputRequest } from "../modern.ts";
import { withMeta, without } from "../object.ts";

/** A legacy server's result for a modern client. */
export function resultToModern(method: string, result: JsonObject): JsonObject {
  // A legacy server has no say about these members: one that forges `input_required` gets no modern treatment.
  const rest = without(result, ["resultType", "ttlMs", "cacheScope", "inputRequests", "requestState"]);
  return { resultType: "complete", ...rest, ...(cacheableMethods.has(method) ? runCache : {}) };
}

/**
 * A modern server's complete result for a legacy client; undefined if it is not complete (an open question, a task or
 * an unknown type), which a legacy client would read as an empty success.
 */
export function resultToLegacy(method: string, result: JsonObject): JsonObject | undefined {
  if (resultTypeOf(result) !== "complete") return undefined;
  const rest = without(result, cacheableMethods.has(method) ? ["resultType", "ttlMs", "cacheScope"] : ["resultType"]);
  const meta = member(rest, "_meta");
  if (!isObject(meta)) return rest;
  return withMeta(rest, without(meta, [metaKeys.serverInfo, metaKeys.subscriptionId]));
}

/** A legacy server's error for a modern client. Codes by which modern peers choose their version are not its to give. */
export function errorToModern(message: ErrorMessage): ErrorMessage {
  if (isModernError(message.error.code)) return errorToLegacy(message);
  return withCode(message, errorCodes.legacyResourceNotFound, errorCodes.invalidParams);
}

/** A modern server's error for a legacy client. */
export function errorToLegacy(message: ErrorMessage): ErrorMessage {
  return isModernError(message.error.code) ? withCode(message, message.error.code, errorCodes.invalidRequest) : message;
}

function withCode(message: ErrorMessage, from: number, to: number): ErrorMessage {
  if (message.error.code !== from) return message;
  return { kind: "error", id: message.id, error: { ...message.error, code: to } };
}

/**
 * The questions in a legacy -32042 error ("visit these URLs, then repeat the call"): exactly what `input_required`
 * says in the modern era. Undefined if it is another error or is malformed; then it stays an error.
 */
export function urlQuestions(message: ErrorMessage): readonly InputRequest[] | undefined {
  if (message.error.code !== errorCodes.urlElicitationRequired) return undefined;
  const asked = member(message.error.data, "elicitations");
  if (!isArray(asked) || asked.length === 0 || asked.length > inputRequestsMax) return undefined;
  const requests: InputRequest[] = [];
  for (const params of asked) {
    if (!isObject(params)) return undefined;
    // Only URLs may be asked for this way; a form in here never passed the client's capability check.
    if (member(params, "mode") !== "url" || typeof member(params, "url") !== "string") return undefined;
    const question = without(params, ["elicitationId"]);
    requests.push({ key: `url-${requests.length}`, method: "elicitation/create", params: question });
  }
  return requests;
}
