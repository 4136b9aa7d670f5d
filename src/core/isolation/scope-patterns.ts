/**
 * Patterns of a scope: paths and destinations. Paths are compared by whole components after normalisation as text; links
 * are not followed, since the kernel does that: a match here explains evidence and opens nothing.
 */
import type { ProjectionPlaces } from "./effect-trace.ts";
import { type InternetAddress, parseAddress, sharesPrefix } from "./internet-address.ts";

/** Port of a destination that names none. */
export const defaultPort = 443;

/** Shortest prefixes of blocks of addresses; a wider block opens networks instead of hosts, and matches nothing. */
export const blockPrefixBitsMin: Readonly<Record<4 | 6, number>> = { 4: 24, 6: 64 };

const pathCharactersMax = 4_096; // PATH_MAX of Linux
const nameCharactersMax = 253; // RFC 1035 section 3.1, without the root dot
const labelCharactersMax = 63;

/** Absolute normal form of an absolute path: no `.`, `..`, empty part or closing slash; else undefined. */
export function normalPath(path: string): string | undefined {
  if (!path.startsWith("/") || path.length > pathCharactersMax || path.includes("\0")) return undefined;
  // Most paths come from a kernel and are in this form already.
  if (!path.includes("//") && !path.includes("/.") && (path === "/" || !path.endsWith("/"))) return path;
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") kept.pop();
    else kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/** True iff `path` is `folder` or lies below it; both in normal form. */
export function isWithin(path: string, folder: string): boolean {
  // Asked for each path and each folder of a scope: no text is made for it.
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder.endsWith("/") || path[folder.length] === "/";
}

/** All absolute paths that a pattern names: `./x` names one in each folder of the workspace. */
export function resolvePatterns(pattern: string, places: ProjectionPlaces): readonly string[] {
  const bases = pattern.startsWith("/")
    ? [""]
    : /^~(?:\/|$)/.test(pattern)
      ? [places.home]
      : /^\.(?:\/|$)/.test(pattern)
        ? places.workspace
        : [];
  return bases.flatMap((base) => {
    const folder = base === "" ? "/" : normalPath(base);
    const path = normalPath(base === "" ? pattern : `${base}/${pattern.slice(1)}`);
    // `~/../other` speaks of a home folder and means another one: it names nothing.
    return folder === undefined || path === undefined || !isWithin(path, folder) || climbs(pattern) ? [] : [path];
  });
}

/** The absolute path that a pattern names (in the first folder of the workspace), or undefined. */
export function resolvePattern(pattern: string, places: ProjectionPlaces): string | undefined {
  return resolvePatterns(pattern, places)[0];
}

/** True iff the pattern names this absolute path or a folder around it. */
export function matchesPath(pattern: string, path: string, places: ProjectionPlaces): boolean {
  const normal = normalPath(path);
  return normal !== undefined && resolvePatterns(pattern, places).some((named) => isWithin(normal, named));
}

/** True iff a pattern leaves its base on the way, even where it comes back. */
function climbs(pattern: string): boolean {
  let depth = 0;
  for (const part of pattern.split("/").slice(1)) {
    if (part !== "" && part !== ".") depth += part === ".." ? -1 : 1;
    if (depth < 0) return true;
  }
  return false;
}

/** A destination of a scope, parsed. */
export type DestinationPattern = { readonly port: number } & (
  | { readonly kind: "name"; readonly name: string }
  /** `*.name`: one label or more before the name, and never the name itself. */
  | { readonly kind: "below"; readonly name: string }
  | { readonly kind: "block"; readonly address: InternetAddress; readonly prefix: number }
);

/** Reads `host[:port]`, `*.name[:port]`, `address[/prefix][:port]`, `[v6[/prefix]][:port]`; undefined for all else. */
export function parseDestination(text: string): DestinationPattern | undefined {
  const split = splitPort(text);
  if (split === undefined) return undefined;
  const { host, port } = split;
  const [head = "", bits, more] = host.split("/");
  const address = parseAddress(head);
  if (address !== undefined) {
    const width = address.version === 4 ? 32 : 128;
    if (more !== undefined || (bits !== undefined && !/^[1-9][0-9]{0,2}$/.test(bits))) return undefined;
    const prefix = bits === undefined ? width : Number(bits) - (head.includes(":") && width === 32 ? 96 : 0);
    const wide = prefix < blockPrefixBitsMin[address.version];
    return wide || prefix > width ? undefined : { kind: "block", address, prefix, port };
  }
  const below = host.startsWith("*.");
  const name = canonicalHost(below ? host.slice(2) : host);
  return name === undefined ? undefined : { kind: below ? "below" : "name", name, port };
}

/** True iff the pattern names this host (name or address) and port. */
export function matchesDestination(pattern: string, host: string, port: number): boolean {
  const wanted = parseDestination(pattern);
  if (wanted === undefined || wanted.port !== port) return false;
  const address = parseAddress(unbracketed(host));
  switch (wanted.kind) {
    case "block":
      return address !== undefined && sharesPrefix(wanted.address, address, wanted.prefix);
    case "name":
      return address === undefined && canonicalHost(host) === wanted.name;
    case "below":
      return address === undefined && canonicalHost(host)?.endsWith(`.${wanted.name}`) === true;
  }
}

/**
 * A host name as a resolver compares it: IDNA (UTS 46 as in the URL standard), lower case, no root dot. Undefined for
 * what is no name: addresses, other spellings of numbers (`0x7f.1`), characters that IDNA would map away.
 */
export function canonicalHost(text: string): string | undefined {
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  // A long name is cut off before it is normalised: encoding in Punycode takes time in the square of its length.
  if (name.length > nameCharactersMax || !/^[\p{L}\p{M}\p{N}._-]+$/u.test(name)) return undefined;
  if (name.normalize("NFKC") !== name || !URL.canParse(`http://${name}/`)) return undefined;
  const host = new URL(`http://${name}/`).hostname;
  const labels = host.split(".");
  if (host.length > nameCharactersMax || parseAddress(host) !== undefined) return undefined;
  return labels.some((label) => label === "" || label.length > labelCharactersMax) ? undefined : host;
}

function unbracketed(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

function splitPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const bracketed = /^\[([^\]]*)\](?::([0-9]+))?$/.exec(text);
  const plain = text.split(":").length > 2 ? ([text, text, undefined] as const) : /^([^:]*)(?::([0-9]+))?$/.exec(text);
  const found = bracketed ?? plain;
  if (found?.[1] === undefined || found[1] === "") return undefined;
  if (bracketed !== null && !found[1].includes(":")) return undefined;
  if (found[2] === undefined) return { host: found[1], port: defaultPort };
  const port = Number(found[2]);
  return /^[1-9][0-9]{0,4}$/.test(found[2]) && port <= 65_535 ? { host: found[1], port } : undefined;
}
