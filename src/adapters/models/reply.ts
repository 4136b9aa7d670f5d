/** Reading what model servers answer. The JSON is untrusted: every step checks a value before it uses it. */
import { type Json, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelFailure, ModelReply, TokenChance } from "../../gateway/ports/model.ts";
import { candidatesMax } from "./model-limits.ts";
import { type Posted, statusFailure } from "./model-link.ts";

const unreadable: ModelFailure = { kind: "unreadable", cause: "its answer cannot be read" };

/** The JSON of a successful answer. */
export function jsonOf(posted: Posted): Result<Json, ModelFailure> {
  if (posted.status < 200 || posted.status > 299) return err(statusFailure(posted.status));
  try {
    return ok(JSON.parse(posted.text) as Json); // JSON.parse gives JSON
  } catch {
    return err(unreadable);
  }
}

/** Reply of a chat completion in the OpenAI form. */
export function chatReply(body: Json): Result<ModelReply, ModelFailure> {
  const choice = first(member(body, "choices"));
  const text = stringMember(member(choice, "message"), "content");
  if (text === undefined) return err(unreadable);
  return ok({ text, tokens: count(member(member(body, "usage"), "total_tokens")), first: chatChances(body) });
}

/** Candidates for the first token of a chat completion in the OpenAI form. */
export function chatChances(body: Json): readonly TokenChance[] | undefined {
  const logprobs = member(first(member(body, "choices")), "logprobs");
  return chances(member(first(member(logprobs, "content")), "top_logprobs"));
}

/** Reply of Ollama's `/api/chat`. */
export function ollamaReply(body: Json): Result<ModelReply, ModelFailure> {
  const text = stringMember(member(body, "message"), "content");
  if (text === undefined) return err(unreadable);
  const read = count(member(body, "prompt_eval_count"));
  const written = count(member(body, "eval_count"));
  const tokens = read === undefined || written === undefined ? undefined : read + written;
  return ok({ text, tokens, first: chances(member(first(member(body, "logprobs")), "top_logprobs")) });
}

function chances(value: Json | undefined): readonly TokenChance[] | undefined {
  if (!isArray(value)) return undefined;
  const found = value.slice(0, candidatesMax).flatMap((each): readonly TokenChance[] => {
    const token = stringMember(each, "token");
    const logProbability = member(each, "logprob");
    // A probability above 1 or a NaN is a lie that would tilt every sum it enters.
    const legal = typeof logProbability === "number" && logProbability <= 1e-6;
    return token === undefined || !legal ? [] : [{ token: token.slice(0, 64), logProbability }];
  });
  return found.length === 0 ? undefined : found;
}

function first(value: Json | undefined): Json | undefined {
  return isArray(value) ? value[0] : undefined;
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
