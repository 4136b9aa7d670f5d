/** Globs on linear time: `*` within a segment, `**` across segments, `?` one character; everything else is literal. */
import { RE2JS } from "re2js";
import { patternUnitsMax } from "./limits.ts";
import { type InternetAddress, parseAddress, sharesPrefix } from "../../core/isolation/internet-address.ts";

function escaped(character: string): string {
  return /[\p{L}\p{N}]/u.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** RE2 source that is anchored at both ends. */
export function globSource(pattern: string, foldCase: boolean): string {
  let source = foldCase ? "(?is)^" : "(?s)^";
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? "";
    if (character === "?") source += "[^/]";
    else if (character !== "*") source += escaped(character);
    else if (characters[index + 1] !== "*") source += "[^/]*";
    else {
      index += 1;
      // `**/` also matches no folder at all, so that `**/x` finds `x` itself.
      const folder = characters[index + 1] === "/" && (index < 2 || characters[index - 2] === "/");
      source += folder ? "(?:.*/)?" : ".*";
      if (folder) index += 1;
    }
  }
  return `${source}$`;
}

/** True iff the whole text matches; a pattern with a slash is about paths, where some file systems fold case. */
export function globMatches(pattern: string, text: string, foldCase: boolean): boolean {
  return regexFinds(globSource(pattern, foldCase), text) === true;
}

/** Compiled expressions by pattern; policies are few and their patterns bounded. */
const compiled = new Map<string, RE2JS | undefined>();
const compiledMax = 4_096;

function expression(pattern: string): RE2JS | undefined {
  if (compiled.has(pattern)) return compiled.get(pattern);
  let made: RE2JS | undefined;
  try {
    made = pattern.length > patternUnitsMax ? undefined : RE2JS.compile(pattern);
  } catch {
    made = undefined; // not RE2 syntax: the caller reports it with its place
  }
  if (compiled.size >= compiledMax) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

/** The pattern is a linear-time expression: it meets hostile text, so no backtracking engine may run it. */
export function compilesAsRegex(pattern: string): boolean {
  return expression(pattern) !== undefined;
}

/** True iff the expression matches somewhere in the text; undefined if the pattern is not an expression. */
export function regexFinds(pattern: string, text: string): boolean | undefined {
  return expression(pattern)?.matcher(text).find();
}

export type Block = InternetAddress & { readonly prefix: number };

/** A block such as `10.0.0.0/8`; a bare address is a block of one. */
export function blockOf(text: string): Block | undefined {
  const [address = "", length, more] = text.split("/");
  const parsed = parseAddress(address);
  if (parsed === undefined || more !== undefined) return undefined;
  const width = parsed.version === 4 ? 32 : 128;
  if (length === undefined) return { ...parsed, prefix: width };
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length)) return undefined;
  // A block written inside IPv4-mapped IPv6 space counts its prefix from the left of all 128 bits.
  const prefix = Number(length) - (parsed.version === 4 && address.includes(":") ? 96 : 0);
  return prefix < 0 || prefix > width ? undefined : { ...parsed, prefix };
}

/** Host of a URL, `host:port`, `[v6]:port` or a plain address, as far as it is an IP address. */
function addressOf(text: string): InternetAddress | undefined {
  const trimmed = text.trim();
  const plain = parseAddress(trimmed);
  if (plain !== undefined) return plain;
  const host = trimmed.includes("://") && URL.canParse(trimmed) ? new URL(trimmed).hostname : trimmed;
  const bracketed = /^\[([^\]]*)\](?::[0-9]+)?$/.exec(host);
  return parseAddress(bracketed?.[1] ?? host.replace(/:[0-9]{1,5}$/, ""));
}

/** True iff the text is an address, or a URL or host with one, inside the block. */
export function insideBlock(block: string, text: string): boolean {
  const within = blockOf(block);
  const address = text.length > 2_048 ? undefined : addressOf(text);
  return within !== undefined && address !== undefined && sharesPrefix(within, address, within.prefix);
}
