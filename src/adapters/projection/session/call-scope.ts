/** Reads the text of an `isolate` obligation. Strict: an unknown member must neither widen the scope nor be ignored. */
import { type Json, isArray, isObject, member } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { CallScope } from "../../../core/isolation/scope.ts";
import { callDestinationsMax, callScopeCharactersMax } from "./session-limits.ts";

const refused =
  "Not executed: the scope of the call could not be read, so it could not be enforced. Report this as a fault of Sluicegate.";

const otherOrder =
  "Not executed: the policy for this server has changed since it was started. Restart the session to run it under the new one.";

/**
 * The scope of one call, or a sentence. Anything but exactly the members of a `CallScope` is refused, and so is a call
 * that was judged under another order than `order`, the digest of the one that its server runs under.
 */
export function parseCallScope(text: string, order: string | undefined): Result<CallScope, string> {
  if (text.length > callScopeCharactersMax) return err(refused);
  let value: Json;
  try {
    value = JSON.parse(text) as Json; // what JSON.parse gives is Json, by its definition
  } catch {
    return err(refused);
  }
  const judged = member(value, "order");
  const allow = member(value, "allow");
  const serial = member(value, "serial");
  if (!isObject(value) || Object.keys(value).length !== 3 || typeof judged !== "string") return err(refused);
  if (typeof serial !== "boolean" || !isArray(allow) || allow.length > callDestinationsMax) return err(refused);
  const names = allow.filter((one) => typeof one === "string");
  if (names.length !== allow.length) return err(refused);
  return order === undefined || judged === order ? ok({ order: judged, allow: names, serial }) : err(otherOrder);
}
