/**
 * Names at the merged endpoint (gateway.md 7). A name that only one server uses stays as it is; on collision every
 * server's one gets the prefix `NAME__`. Deterministic in the set of servers and names, whatever order they answer in.
 */
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { ListMethod } from "../upstream/listed-tools.ts";

export type NamedBy = { readonly server: string; readonly name: string };

/** Characters that clients and model providers accept in the name of a tool. */
export const mergedNameCharactersMax = 64;

const tailCharacters = 8;

export class MergedNames {
  readonly #shown = new Map<string, NamedBy>();
  readonly #byOrigin = new Map<string, string>();

  /** `lists`: names by server. */
  constructor(lists: ReadonlyMap<string, readonly string[]>, hash: (text: string) => string) {
    const uses = new Map<string, number>();
    for (const names of lists.values()) for (const name of new Set(names)) uses.set(name, (uses.get(name) ?? 0) + 1);
    for (const server of [...lists.keys()].sort()) {
      for (const name of new Set(lists.get(server))) {
        const wanted = uses.get(name) === 1 ? name : `${server}__${name}`;
        const taken = wanted !== name && (uses.has(wanted) || this.#shown.has(wanted));
        this.#add(taken || wanted.length > mergedNameCharactersMax ? tailed(server, name, hash) : wanted, {
          server,
          name,
        });
      }
    }
  }

  /** The server and its own name behind a name that clients see. */
  resolve(shown: string): NamedBy | undefined {
    return this.#shown.get(shown);
  }

  shownAs(server: string, name: string): string {
    return this.#byOrigin.get(`${server} ${name}`) ?? name;
  }

  #add(shown: string, origin: NamedBy): void {
    this.#shown.set(shown, origin);
    this.#byOrigin.set(`${origin.server} ${origin.name}`, shown);
  }
}

/** A name cut to fit, with a tail that distinguishes it from every other one that starts alike. */
function tailed(server: string, name: string, hash: (text: string) => string): string {
  const tail = hash(`${server} ${name}`).slice(0, tailCharacters);
  return `${`${server}__${name}`.slice(0, mergedNameCharactersMax - tailCharacters - 1)}_${tail}`;
}

const scheme = "sluicegate://";

/** A resource URI (or template) of a server as clients of the merged endpoint see it. */
export function wrapUri(server: string, uri: string): string {
  return `${scheme}${server}/${uri}`;
}

export function unwrapUri(wrapped: string): { readonly server: string; readonly uri: string } | undefined {
  if (!wrapped.startsWith(scheme)) return undefined;
  const slash = wrapped.indexOf("/", scheme.length);
  if (slash < 0) return undefined;
  return { server: wrapped.slice(scheme.length, slash), uri: wrapped.slice(slash + 1) };
}

// Changes of messages at the merged endpoint: names and URIs, and nothing else.

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

/** A result whose resource URIs are wrapped (`wrapUri`), so that clients can read the resources back. */
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
