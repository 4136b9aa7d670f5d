/**
 * Other spellings of one thing, for tests that meet text of an adversary. A permission must hold for every spelling
 * that a reader could see in it, a restriction for any: `/srv/x://../../etc/passwd` is not a URL, `~/.ssh` is inside a
 * home folder, and `2130706433` is an address of this machine.
 */
import { testLeavesMax, canonicalTextUnitsMax } from "./limits.ts";
import { canonicalPath, isInside } from "./path.ts";
import { normaliseText } from "./text.ts";
import { canonicalUrl } from "./domain.ts";

const url = /^[A-Za-z][A-Za-z0-9+.-]+:\/\//;
const fileUri = /^file:/i;
const web = /^(?:https?|wss?|ftp):/i;
const home = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|\/var\/root|[A-Z]:\/Users\/[^/]+|~[^/]*)(?=\/|$)/i;
const climbing = /^(?:~\/)?\.\.(?:\/|$)/;
const parent = /(?:^|[/\\])\.\.(?:[/\\]|$)/;

/** A URL by its beginning. `://` further on is part of a path: readers of paths resolve `..` behind it. */
export function isUrl(text: string): boolean {
  return url.test(text) && !fileUri.test(text);
}

/** Every spelling under which a text must fit a pattern to be permitted; undefined if it has no normal form. */
export function permittedSpellings(pattern: string, text: string): readonly string[] | undefined {
  if (/^\*+$/.test(pattern)) return [text];
  // Without a slash in it a pattern still meets paths: `*` stops at a slash, and not at a backslash.
  const crosses = (pattern.includes("**") && /[/\\]/.test(text)) || parent.test(text);
  if (!pattern.includes("/") && !crosses) return [text];
  const normal = isUrl(text) ? normalUrl(text) : normalPath(pattern, text);
  return normal === undefined ? undefined : [text, normal];
}

function normalUrl(text: string): string | undefined {
  const canonical = canonicalUrl(text);
  // The standard writes a slash behind a bare host; the author of the pattern may have left it out, too.
  return /:\/\/[^/?#]*$/.test(text) ? canonical?.replace(/\/$/, "") : canonical;
}

function normalPath(pattern: string, text: string): string | undefined {
  const path = canonicalPath(text);
  return path !== undefined && fileUri.test(text) && pattern.includes("://") ? `file://${path}` : path;
}

/** Spellings of which one that fits is enough to be restricted; undefined if the text could name anything. */
export function restrictedSpellings(pattern: string, text: string): readonly string[] | undefined {
  if (!pattern.includes("/")) return [text, normaliseText(text)];
  if (text.length > canonicalTextUnitsMax) return undefined;
  if (isUrl(text)) return [text, canonicalUrl(text) ?? text, ...webSpellings(text)];
  // Characters that no normal form has are part of a name, which `..` behind it takes away again.
  const slashed = text
    .trim()
    .replaceAll("\\", "/")
    .replace(/\p{Cc}/gu, "_");
  const normal = canonicalPath(text) ?? canonicalPath(slashed);
  if (normal === undefined && fileUri.test(text)) return undefined;
  // From where it climbs is not known here, so it could end up wherever the pattern speaks of.
  if (normal !== undefined && climbing.test(normal) && /^[/~]/.test(pattern)) return undefined;
  const spellings = [text, slashed, ...(normal === undefined ? [] : [normal])];
  return [...spellings, ...spellings.map(withHome), ...webSpellings(text)];
}

/**
 * The spellings that readers of web addresses derive from a text. They trim it, do without slashes
 * (`https:example.com`), and map the letters of the host; the answer of a server depends neither on the user, nor on a
 * root dot, nor on the encoding of a letter of the path.
 */
function webSpellings(text: string): readonly string[] {
  if (!web.test(text.trim().replace(/[\t\n\r]/g, "")) || !URL.canParse(text)) return [];
  const { href, protocol, host, pathname, search } = new URL(text);
  const place = `${protocol}//${host.replace(/\.(?=:|$)/, "")}`;
  const path = canonicalPath(decoded(pathname)) ?? pathname;
  const pages = pathname === "/" ? ["/", ""] : [pathname, path, `${path}/`];
  return [href, ...pages.flatMap((page) => [place + page, place + page + search])];
}

/** Percent escapes of ASCII characters as the characters. */
function decoded(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The pattern as it is and, if it speaks of a home folder, with `~` in its place. */
export function homePatterns(pattern: string): readonly string[] {
  const short = withHome(pattern);
  return short === pattern ? [pattern] : [pattern, short];
}

function withHome(text: string): string {
  return text.replace(home, "~");
}

/** Where a path begins that some programs expand, open as something else, or take for an option. */
const ambiguousStart = /^(?:~[^/]|\$[{(\w]|%\w+%|[-|]|[A-Za-z][A-Za-z0-9+.-]*:)/;
const plainStart = /^(?:[A-Za-z]:[/\\]|file:)/i;

/**
 * The readings of a path all of which a permission must hold for, since some programs trim it, decode it or map its
 * letters; undefined where it may name anything at all: `~root/x`, `${HOME}/x`, `s3://x`, `-o/etc/x`.
 */
export function pathReadings(text: string): readonly string[] | undefined {
  const readings = [...new Set([text, text.trim(), text.normalize("NFKC"), decoded(text)])];
  return readings.some((one) => ambiguousStart.test(one) && !plainStart.test(one)) ? undefined : readings;
}

/** True unless the path surely lies outside of the folder, whatever case a file system folds and whose home `~` is. */
export function maybeInside(path: string, folder: string): boolean {
  if (climbing.test(path)) return true;
  const [low, lowFolder] = [path.toLowerCase(), folder.toLowerCase()];
  if (isInside(low, lowFolder)) return true;
  const oneIsShort = path.startsWith("~") !== folder.startsWith("~");
  return oneIsShort && isInside(withHome(low), withHome(lowFolder));
}

/**
 * True where readers of addresses disagree about the host: `http://a.example\\@b.example` is at `a.example` for browsers
 * and at `b.example` for others, so is `b.example/@a.example` for readers that add the missing scheme, and
 * `me%40b.example%2Cyou@a.example` are two mailboxes for readers that decode it.
 */
export function isAmbiguousHost(text: string): boolean {
  const trimmed = text.trim();
  if (/[\\\s\p{Cc}]/u.test(trimmed)) return true;
  const user = trimmed.slice(0, Math.max(0, trimmed.indexOf("@"))); // a search for all of it at once is quadratic
  if (url.test(trimmed)) return false;
  return user.includes("%") || (!/^mailto:/i.test(user) && /[/?#]/.test(user));
}

/** Pieces of a text that a reader could take for a host, without user, scheme and port. */
export function hostPieces(text: string): readonly string[] {
  const readings = new Set([text, decoded(text), text.normalize("NFKC")]);
  const pieces = [...readings].flatMap((each) => each.split(/[\s,;<>"'`()[\]{}|/\\?#=&]+/, testLeavesMax));
  return [...new Set(pieces.flatMap(bareHosts))].filter((piece) => piece !== "");
}

/** A colon may stand before a port, after a scheme, or inside an address. */
function bareHosts(piece: string): readonly string[] {
  const host = piece.slice(piece.lastIndexOf("@") + 1);
  if (!host.includes(":")) return [host];
  return [host, host.replace(/^[A-Za-z][A-Za-z0-9+.-]*:(?=[^0-9])/, "").replace(/:[0-9]{1,5}$/, "")];
}

/** UTF-16 units of a name that is mapped: more than any name has, and the encoding takes quadratic time. */
const mappedUnitsMax = 512;

/** The host that a resolver makes of a name with other than ASCII letters: full-width and unseen ones are mapped away. */
export function mappedHost(piece: string): string | undefined {
  if (piece.length > mappedUnitsMax || /^[\0-\x7f]*$/.test(piece) || !URL.canParse(`http://${piece}/`))
    return undefined;
  return new URL(`http://${piece}/`).hostname.replace(/\.$/, "");
}

/** The address that a number alone means to a resolver (`127.1`, `0x7f000001`, `2130706433`), in dotted form. */
export function addressOfNumber(piece: string): string | undefined {
  if (piece.length > 64) return undefined;
  if (!/^(?:0[xX][0-9a-fA-F]*|[0-9]+)(?:\.(?:0[xX][0-9a-fA-F]*|[0-9]+)){0,3}\.?$/.test(piece)) return undefined;
  return URL.canParse(`http://${piece}/`) ? new URL(`http://${piece}/`).hostname : undefined;
}
