/**
 * Questions of a server across the eras. In the legacy era they are requests of their own, in the modern era members
 * of an `input_required` result; the same three methods in both.
 *
 * | legacy server, modern client | modern server, legacy client |
 * |---|---|
 * | request → one entry of `inputRequests`, the call stays open | each entry → a request to the client |
 * | entry of `inputResponses` → the response to that request | responses → `inputResponses` of the repeated call |
 * | `elicitationId`, `mode: "form"` are dropped or added as the revision of the receiver wants | |
 */
import { member, type JsonObject } from "../../core/json.ts";
import type { ErrorMessage, RequestId, RequestMessage, ResponseMessage, Revision } from "../message.ts";
import type { InputRequest } from "../modern.ts";
import { without } from "../object.ts";
import { findMethod } from "../registry.ts";

/** A legacy server's request as an entry of `inputRequests`; undefined if the modern era cannot ask it (ping, tasks). */
export function questionToModern(message: RequestMessage, key: string): InputRequest | undefined {
  const query = { method: message.method, kind: "request", direction: "to-client", form: "embedded" } as const;
  if (findMethod("2026-07-28", query) === undefined) return undefined;
  if (message.params === undefined) return { key, method: message.method, params: undefined };
  const params = without(message.params, ["elicitationId", "task", "_meta"]);
  return { key, method: message.method, params };
}

/** The answer to a legacy server's request, from an entry of `inputResponses`. */
export function answerToLegacy(id: RequestId, answer: JsonObject): ResponseMessage {
  return { kind: "response", id, result: without(answer, ["resultType"]) };
}

/**
 * A modern server's question as a request to a legacy client. `elicitationId` is a fresh id of the gateway, which URL
 * mode wants from 2025-11-25 on. Undefined if the client's revision has no such request or no such mode.
 */
export function questionToLegacy(
  question: InputRequest,
  ids: { readonly request: RequestId; readonly elicitation: string },
  revision: Revision,
): RequestMessage | undefined {
  const { method } = question;
  if (findMethod(revision, { method, kind: "request", direction: "to-client" }) === undefined) return undefined;
  const params = legacyParams(question, ids.elicitation, revision);
  if (params === "impossible") return undefined;
  return { kind: "request", id: ids.request, method, params };
}

function legacyParams(
  question: InputRequest,
  elicitationId: string,
  revision: Revision,
): JsonObject | undefined | "impossible" {
  const { method, params } = question;
  if (method === "sampling/createMessage") {
    // Sampling with tools came with 2025-11-25; an older client would ignore the tools and answer something else.
    const withTools = member(params, "tools") !== undefined || member(params, "toolChoice") !== undefined;
    return withTools && revision !== "2025-11-25" ? "impossible" : params;
  }
  if (method !== "elicitation/create" || params === undefined) return params;
  const url = member(params, "mode") === "url";
  if (revision === "2025-11-25") return url ? { ...params, elicitationId } : params;
  return url ? "impossible" : without(params, ["mode"]);
}

/**
 * A legacy client's answer as an entry of `inputResponses`. An error has no place there: a refused elicitation counts
 * as cancelled, and for other questions undefined tells the gateway to end the call.
 */
export function answerToModern(method: string, answer: ResponseMessage | ErrorMessage): JsonObject | undefined {
  if (answer.kind === "error") return method === "elicitation/create" ? { action: "cancel" } : undefined;
  const result = answer.result;
  if (typeof result !== "object" || result === null || Array.isArray(result) || JSON.isRawJSON(result))
    return undefined;
  return without(result as JsonObject, ["resultType"]); // The line above leaves nothing but an object.
}

/** The repeated call of a modern round trip: the original request with the answers and the server's state. */
export function retryWith(
  request: RequestMessage,
  id: RequestId,
  answers: ReadonlyMap<string, JsonObject>,
  requestState: string | undefined,
): RequestMessage {
  const params: JsonObject = {
    ...without(request.params ?? {}, ["inputResponses", "requestState"]),
    ...(answers.size > 0 ? { inputResponses: Object.fromEntries(answers) } : {}),
    ...(requestState === undefined ? {} : { requestState }),
  };
  return { kind: "request", id, method: request.method, params };
}
