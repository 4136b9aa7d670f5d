/** What the client gets of a message that was judged: the message, what redaction left of it, or a refusal instead. */
import type { Json } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import type { RequestId } from "../wire/message.ts";
import type { Call } from "./call.ts";
import { warningMetaKey } from "./meta.ts";
import type { RefusedRequest } from "./refusals.ts";
import { logFailureAfterText, refusalMessage, rejectionOf } from "./refusals.ts";
import type { Ruling } from "./releases.ts";
import type { Answered, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";

/** The request of a call, as its answer has to fit it. */
export function requestOf<Q>(scene: Scene<Q>, call: Call<Q>): RefusedRequest {
  return { id: call.request.id, method: call.method, modern: isModern(scene) };
}

/** A message of a server, on its way to the request that it answers. */
export type Released = {
  readonly asked: RefusedRequest;
  /** Id of the decision. */
  readonly decision: string;
  readonly message: Answered;
  readonly ruling: Ruling;
  /** What the call costs, for the client to show. */
  readonly warnings?: readonly string[];
};

/** The answer once the release is on record; `durable` is what became of that. */
export function releasedAnswer(released: Released, durable: boolean): Answered {
  const { asked, decision, message, ruling, warnings = [] } = released;
  if (!durable) return refusalMessage(asked, decision, logFailureAfterText);
  if (ruling.how !== "pass") return rejectionOf(asked, decision);
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
