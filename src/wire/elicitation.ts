/**
 * What a client says of the questions that it can put to its person. An empty `elicitation` means forms, as it did
 * before there were modes (2025-06-18); from 2025-11-25 on a client names its modes, and one that names only `url` has
 * nowhere to show a form.
 */
import type { JsonObject } from "../core/json.ts";
import { isObject, member } from "../core/json.ts";

export function takesForms(capabilities: JsonObject): boolean {
  const elicitation = member(capabilities, "elicitation");
  if (!isObject(elicitation)) return false;
  const form = member(elicitation, "form");
  return form === undefined ? member(elicitation, "url") === undefined : isObject(form);
}
