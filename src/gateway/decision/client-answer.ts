/** Refusals as the client sees them: a tool result that the model can read, or an error with the way on. */
import type { Decision } from "../../core/decision.ts";
import { type Refusal, rejectedResultText, sentenceForModel } from "../../core/explain/render.ts";
import { emptyCompletion, errorCodes, errorMessage, refusalError, refusalResult } from "../../wire/errors.ts";
import type { ErrorMessage, RequestId, ResponseMessage } from "../../wire/message.ts";
import { type Json, isObject, member, stringMember } from "../../core/json.ts";
import type { Call } from "./call.ts";
import type { Ruling } from "./release.ts";
import { warningMetaKey } from "../ports/ids.ts";
import type { Answered, ClientState } from "../ports/conversation.ts";
import { isModern } from "../upstream/client-facts.ts";

export type RefusedRequest = { readonly id: RequestId; readonly method: string; readonly modern: boolean };

/** The answer to a request that was not sent, or whose result is withheld. */
export function refusalOf(
  { id, method, modern }: RefusedRequest,
  decision: Decision,
  call: string,
  refusal: Refusal,
): ResponseMessage | ErrorMessage {
  if (method === "completion/complete") return emptyCompletion(id, modern);
  const sentence = sentenceForModel(decision, call, refusal);
  return refusalMessage({ id, method, modern }, call, sentence);
}

/**
 * The answer in place of a result that was refused for good. Constant text: it carries nothing of the result. `loss`:
 * what the rejection costs beside it, in a sentence of ours.
 */
export function rejectionOf(request: RefusedRequest, call: string, loss?: string): ResponseMessage | ErrorMessage {
  if (request.method === "completion/complete") return emptyCompletion(request.id, request.modern);
  return refusalMessage(request, call, loss === undefined ? rejectedResultText : `${rejectedResultText} ${loss}`);
}

export function refusalMessage(
  { id, method, modern }: RefusedRequest,
  call: string,
  sentence: string,
): ResponseMessage | ErrorMessage {
  const content = { decision: call, sentence, way: "" };
  return method === "tools/call" ? refusalResult(id, content, modern) : refusalError(id, content);
}

/** The log cannot be written, so nothing may be sent or released. */
export const logFailureText =
  "Not done: the gateway's event log cannot be written, so calls are stopped. Ask the user to run `sluicegate doctor`.";

/** The log failed after the call had been sent. */
export const logFailureAfterText =
  "The call was executed and must not be repeated. Its result is stopped because the gateway's event log cannot be written.";

// The client's answer after a message was judged: the message, its redacted form, or a refusal instead.

type Needs = {
  readonly client: ClientState;
};

/** The facts of a call's request that its answer has to fit: id, method and era. */
export function requestOf(needs: Needs, call: Call): RefusedRequest {
  return { id: call.request.id, method: call.method, modern: isModern(needs) };
}

/** A message of a server, on its way to the request that it answers. */
export type Released = {
  readonly asked: RefusedRequest;
  /** Id of the decision. */
  readonly decision: string;
  readonly message: Answered;
  readonly ruling: Ruling;
  /** Costs of the call, for the client to show. */
  readonly warnings?: readonly string[];
  /** Of a rejected result: what else of the run is not there any more. */
  readonly loss?: string;
};

/** The answer once the release is on record; `durable`: whether the record was written. */
export function releasedAnswer(released: Released, durable: boolean): Answered {
  const { asked, decision, message, ruling, warnings = [] } = released;
  if (!durable) return refusalMessage(asked, decision, logFailureAfterText);
  if (ruling.how !== "pass") return rejectionOf(asked, decision, released.loss);
  const value = warnings.length === 0 || message.kind === "error" ? ruling.value : warned(ruling.value, warnings);
  return passed(message, value, asked.id);
}

/** The result with the warnings beside it: in `_meta`, since the content is the server's. */
function warned(value: Json, warnings: readonly string[]): Json {
  if (!isObject(value)) return value;
  const meta = member(value, "_meta");
  return { ...value, _meta: { ...(isObject(meta) ? meta : {}), [warningMetaKey]: [...warnings] } };
}

/** The message itself when nothing in it was changed (its bytes go out again), else one with the new value. */
export function passed(message: Answered, value: Json, id: RequestId): Answered {
  if (message.kind === "response") {
    return value === message.result && message.id === id ? message : { kind: "response", id, result: value };
  }
  const data = member(value, "data");
  const unchanged = member(value, "message") === message.error.message && data === message.error.data;
  if (message.id === id && unchanged) return message;
  const text = stringMember(value, "message") ?? "";
  return errorMessage(id, message.error.code, text, data);
}

/** Text of an error as a value to judge. */
export function errorValue(error: { readonly message: string; readonly data?: Json }): Json {
  return error.data === undefined ? { message: error.message } : { message: error.message, data: error.data };
}

/** An acknowledgement without content, or the protocol's own constant text. */
export function isEmptyAnswer(answer: Answered): boolean {
  if (answer.kind === "error") {
    return (
      answer.error.code === errorCodes.methodNotFound &&
      answer.error.data === undefined &&
      answer.error.message === "Method not found"
    );
  }
  return isObject(answer.result) && Object.keys(answer.result).every((name) => name === "resultType");
}
