/**
 * The abilities of a client by its declared capabilities. In the modern era capabilities come with every request, and hold
 * for that request alone.
 */
import { isObject, member, stringMember, type JsonObject } from "../core/json.ts";
import { takesForms } from "./elicitation.ts";

type Question = { readonly method: string; readonly params: JsonObject | undefined };

/** Whether a question of a server may be put to a client with these capabilities. */
export function canAnswer(capabilities: JsonObject, { method, params }: Question): boolean {
  switch (method) {
    case "elicitation/create":
      return stringMember(params, "mode") === "url" ? takesUrls(capabilities) : takesForms(capabilities);
    case "sampling/createMessage":
      return isObject(member(capabilities, "sampling"));
    case "roots/list":
      return isObject(member(capabilities, "roots"));
    default:
      return false;
  }
}

/** Two clients whose text is the same can be asked the same. A few values and no more, whatever else they declare. */
export function abilitiesOf(capabilities: JsonObject): string {
  const sampling = member(capabilities, "sampling");
  const abilities = {
    forms: takesForms(capabilities),
    urls: takesUrls(capabilities),
    roots: isObject(member(capabilities, "roots")),
    sampling: isObject(sampling),
    context: isObject(member(sampling, "context")),
    tools: isObject(member(sampling, "tools")),
  };
  return Object.entries(abilities)
    .flatMap(([name, has]) => (has ? [name] : []))
    .join(" ");
}

function takesUrls(capabilities: JsonObject): boolean {
  return isObject(member(member(capabilities, "elicitation"), "url"));
}
