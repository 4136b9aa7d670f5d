/** Refusals as the client sees them: a tool result that the model can read, or an error with the way on. */
import type { Decision } from "../core/decision.ts";
import type { Refusal } from "../core/render.ts";
import { rejectedResultText, sentenceForModel } from "../core/render.ts";
import { emptyCompletion, refusalError, refusalResult } from "../wire/errors.ts";
import type { ErrorMessage, RequestId, ResponseMessage } from "../wire/message.ts";
import type { Reason } from "../core/opinion.ts";

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

/** The answer in place of a result that was refused for good. Constant text: it carries nothing of the result. */
export function rejectionOf(request: RefusedRequest, call: string): ResponseMessage | ErrorMessage {
  if (request.method === "completion/complete") return emptyCompletion(request.id, request.modern);
  return refusalMessage(request, call, rejectedResultText);
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

/** A reason that the gateway itself has for asking. */
export function gatewayReason(code: string, facts: Reason["facts"]): Reason {
  return { mechanism: "gateway", code, verdict: "confirm", facts };
}
