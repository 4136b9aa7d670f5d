/** Hosts that the arguments of a call name, for the destinations of that call (lifecycle.md 2). */
import { isControl } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../core/json.ts";
import { type Lattice, isUntrusted } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import { canonicalHost } from "../../core/isolation/scope-patterns.ts";
import { isFileName } from "./file-endings.ts";

/** Destinations that one call can name. */
export const argumentHostsMax = 16;

/** Values of one argument that are looked at, and how deep. */
const valuesMax = 256;
const depthMax = 8;
const textCharactersMax = 8_192;

/** Characters of all texts together in which names are looked for: a search takes up to 64 steps for each. */
const searchedCharactersMax = 65_536;

/** Names that resolvers answer by themselves, or that lead into the network of the user (RFC 6761, 6762, 8375). */
const privateSuffixes = [
  "localhost",
  "local",
  "localdomain",
  "internal",
  "intranet",
  "lan",
  "home",
  "corp",
  "private",
  "test",
  "invalid",
  "example",
  "onion",
  "arpa",
  "alt",
];

/**
 * Destinations that arguments name by URL or host, where the role of the argument is `destination` and no untrusted
 * author can have chosen its value. Only names in the form of a public host: an argument never lets an address, a bare
 * name or a name of a private network through, because an attacker who talks the agent into it would reach the machine
 * or its neighbours.
 */
export function trustedHosts(option: CallOption, given: JsonObject, lattice: Lattice): readonly string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(given)) {
    const { role } = option.contract.arguments.get(name) ?? option.contract.rest;
    const label = option.arguments.get(name);
    if (role !== "destination" || !isControl(role) || label === undefined) continue;
    if (isUntrusted(lattice, label.range.hi)) continue;
    for (const text of textsIn(value)) {
      const destination = publicDestination(text);
      if (destination !== undefined && found.size < argumentHostsMax) found.add(destination);
    }
  }
  return [...found];
}

/**
 * Hosts named anywhere in the arguments of a call, trusted or not: what a judge may choose among. A name counts if it is
 * written as a URL, or if nothing says that it is something else: a file, a part of a path, the domain of a mail address,
 * a call in source text. An argument that is a path names files.
 */
export function namedHosts({ contract }: Pick<CallOption, "contract">, given: JsonObject): readonly string[] {
  const found = new Set<string>();
  let left = searchedCharactersMax;
  for (const [name, value] of Object.entries(given)) {
    const isPath = (contract.arguments.get(name) ?? contract.rest).role === "path";
    for (const text of textsIn(value)) {
      const searched = text.slice(0, Math.min(left, textCharactersMax));
      left -= searched.length;
      for (const match of searched.matchAll(hostPattern)) {
        if (!isUrl(searched, match) && (isPath || isOther(searched, match))) continue;
        const destination = publicDestination(match[0]);
        if (destination !== undefined && found.size < argumentHostsMax) found.add(destination);
      }
    }
  }
  return [...found];
}

const hostPattern =
  /(?:(?:https?|wss?):\/\/)?(?:[\p{L}\p{N}_-]{1,63}\.){1,16}\p{L}[\p{L}\p{N}-]{1,62}(?::[0-9]{1,5})?/giu;

/** With a scheme of its own, or after one of another protocol than those of the pattern. */
function isUrl(text: string, { 0: match, index }: RegExpExecArray): boolean {
  const before = text.slice(Math.max(0, index - 7), index).toLowerCase();
  return match.includes("://") || (before.endsWith("://") && !before.endsWith("file://"));
}

/** Right after a path, a mail address or a variable, or right before a call. */
function isOther(text: string, { 0: match, index }: RegExpExecArray): boolean {
  return /[/\\@.~$#]/.test(text.slice(Math.max(0, index - 1), index)) || text[index + match.length] === "(";
}

/** `host:port` of a URL or a host with or without a port, if its name is in the form of a public host, not of a file. */
export function publicDestination(text: string): string | undefined {
  if (text.length > textCharactersMax || /[\s\p{C}\\]/u.test(text)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && !Object.hasOwn(ports, scheme)) return undefined;
  const url = `${scheme === undefined ? "https://" : ""}${text}`;
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, username, password } = new URL(url);
  // `https://trusted.example@evil.example/`: a reader in passing sees another host than the client that connects.
  if (username !== "" || password !== "") return undefined;
  const host = canonicalHost(hostname);
  // A top level begins with a letter: what ends otherwise is some spelling of an address, or nothing.
  if (host === undefined || !/\.[a-z][a-z0-9-]*$/.test(host)) return undefined;
  if (privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))) return undefined;
  if (scheme === undefined && isFileName(host)) return undefined;
  return `${host}:${port === "" ? ports[scheme ?? "https"] : port}`;
}

const ports: Readonly<Record<string, number>> = { https: 443, http: 80, wss: 443, ws: 80 };

/** Texts in a value, within bounds. */
export function textsIn(value: Json): readonly string[] {
  const found: string[] = [];
  const visit = (item: Json, depth: number): void => {
    if (found.length >= valuesMax || depth > depthMax) return;
    if (typeof item === "string") found.push(item);
    else if (isArray(item)) for (const one of item) visit(one, depth + 1);
    else if (isObject(item)) for (const one of Object.values(item)) visit(one as Json, depth + 1);
  };
  visit(value, 0);
  return found;
}
