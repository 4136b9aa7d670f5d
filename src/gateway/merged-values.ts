/** What changes in messages at the merged endpoint: names and URIs, and nothing else. */
import type { Json, JsonObject } from "../core/json.ts";
import { isArray, isObject, member, stringMember } from "../core/json.ts";
import type { ListMethod } from "./catalogue.ts";
import { wrapUri } from "./merged-names.ts";
import type { MergedNames } from "./merged-names.ts";

/** An entry of a list under the name or URI that clients see. */
export function shownEntry(method: ListMethod, server: string, entry: Json, names: MergedNames): Json {
  if (!isObject(entry)) return entry;
  switch (method) {
    case "tools/list":
    case "prompts/list": {
      const name = stringMember(entry, "name") ?? "";
      const shown = names.shownAs(server, name);
      return shown === name ? entry : { ...entry, name: shown };
    }
    case "resources/list":
      return { ...entry, uri: wrapUri(server, stringMember(entry, "uri") ?? "") };
    case "resources/templates/list":
      return { ...entry, uriTemplate: wrapUri(server, stringMember(entry, "uriTemplate") ?? "") };
  }
}

/** A result with the URIs of resources as clients can read them back. */
export function shownResult(server: string, result: Json): Json {
  if (!isObject(result)) return result;
  const blocks = member(result, "content");
  const contents = member(result, "contents");
  const messages = member(result, "messages");
  if (![blocks, contents, messages].some(isArray)) return result;
  return {
    ...result,
    ...(isArray(blocks) ? { content: blocks.map((block) => shownBlock(server, block)) } : {}),
    ...(isArray(contents) ? { contents: contents.map((one) => shownUri(server, one)) } : {}),
    ...(isArray(messages) ? { messages: messages.map((one) => shownMessage(server, one)) } : {}),
  };
}

function shownMessage(server: string, message: Json): Json {
  const content = member(message, "content");
  return isObject(message) && isObject(content) ? { ...message, content: shownBlock(server, content) } : message;
}

function shownBlock(server: string, block: Json): Json {
  if (!isObject(block)) return block;
  const type = stringMember(block, "type");
  if (type === "resource_link") return shownUri(server, block);
  const resource = member(block, "resource");
  return type === "resource" && resource !== undefined ? { ...block, resource: shownUri(server, resource) } : block;
}

function shownUri(server: string, value: Json): Json {
  const uri = stringMember(value, "uri");
  return isObject(value) && uri !== undefined ? { ...value, uri: wrapUri(server, uri) } : value;
}

/** What the servers say of themselves as one: capabilities united, instructions joined under their names. */
export function mergedIdentity(said: ReadonlyMap<string, JsonObject>): JsonObject {
  const capabilities: Record<string, Json> = {};
  const instructions: string[] = [];
  for (const [server, result] of said) {
    const own = member(result, "capabilities");
    for (const [name, value] of isObject(own) ? Object.entries(own) : []) {
      // Task ids are not told apart here, and experiments are between two parties.
      if (name === "tasks" || name === "experimental" || name === "extensions" || !isObject(value)) continue;
      const known = capabilities[name];
      Object.defineProperty(capabilities, name, {
        value: isObject(known) ? { ...known, ...trueOnly(value) } : value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    const text = stringMember(result, "instructions");
    if (text !== undefined) instructions.push(`Server \`${server}\`: ${text}`);
  }
  return { capabilities, ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }) };
}

function trueOnly(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, flag]) => flag !== false));
}
