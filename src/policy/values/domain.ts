/** Domain names in the form in which a resolver compares them: IDNA, lower case, no root dot. */
import { isPlain, normaliseText } from "./text.ts";
import { canonicalTextUnitsMax } from "./limits.ts";

const domainUnitsMax = 253; // RFC 1035 section 3.1, without the root dot
const labelUnitsMax = 63;
const nameCharacters = /^[\p{L}\p{M}\p{N}._-]+$/u;
const numericLabel = /^(?:0[xX][0-9a-fA-F]*|[0-9]+)$/;

/**
 * IDNA form of a domain name (UTS 46 as in the URL standard), or undefined. Names with unseen or compatibility
 * characters are refused although IDNA would map them away, and so is every number but a plain IPv4 address: `0x7f.1`
 * must not pass for `127.0.0.1` in one place and for a name in another.
 */
export function canonicalDomain(text: string): string | undefined {
  if (text.length > canonicalTextUnitsMax) return undefined;
  const trimmed = normaliseText(text);
  const name = trimmed.endsWith(".") ? trimmed.slice(0, -1) : trimmed;
  if (!nameCharacters.test(name) || !isPlain(name)) return undefined;
  const host = hostOf(name);
  if (host === undefined || host.length > domainUnitsMax) return undefined;
  const labels = host.split(".");
  if (labels.some((label) => label === "" || label.length > labelUnitsMax)) return undefined;
  const last = name.slice(name.lastIndexOf(".") + 1);
  return numericLabel.test(last) && host !== name ? undefined : host;
}

function hostOf(name: string): string | undefined {
  try {
    return new URL(`http://${name}/`).hostname;
  } catch {
    return undefined; // the URL parser is the test whether this is a host at all
  }
}

const localUnitsMax = 64; // RFC 5321 section 4.5.3.1.1
const localCharacters = /^[^\p{White_Space}"(),:;<>@[\\\]]+$/u;

/**
 * `local@domain` with the domain in IDNA form. The local part is kept exactly, or folded where a counter must not be
 * escaped by changing case. Comments and quoted local parts are refused: servers disagree about what they mean.
 */
export function canonicalEmail(text: string, foldLocalPart: boolean): string | undefined {
  if (text.length > canonicalTextUnitsMax) return undefined;
  const address = normaliseText(text);
  const at = address.lastIndexOf("@");
  if (at < 1) return undefined;
  const local = address.slice(0, at);
  if (local.length > localUnitsMax || !localCharacters.test(local) || !isPlain(local)) return undefined;
  const domain = canonicalDomain(address.slice(at + 1));
  if (domain === undefined) return undefined;
  return `${foldLocalPart ? foldCase(local) : local}@${domain}`;
}

/** Lower case of upper case, so that letters with several lower forms (final sigma) meet; NFC again. */
function foldCase(text: string): string {
  return text.toUpperCase().toLowerCase().normalize("NFC");
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;
const control = /\p{Cc}/u;

/**
 * Canonical URL, or undefined for text without a scheme, with control characters inside (the parser would drop them,
 * so that `exa<TAB>mple.com` became `example.com`), or with a host that needs compatibility mapping.
 */
export function canonicalUrl(text: string): string | undefined {
  if (text.length > canonicalTextUnitsMax) return undefined;
  const trimmed = normaliseText(text);
  if (!scheme.test(trimmed) || control.test(trimmed) || !isPlain(authorityOf(trimmed))) return undefined;
  const once = withoutFragment(trimmed);
  // Opaque paths may end in blanks that a second parse drops: a key must be its own canonical form.
  return once !== undefined && withoutFragment(once) === once ? once : undefined;
}

function withoutFragment(text: string): string | undefined {
  try {
    const { href } = new URL(text);
    const hash = href.indexOf("#");
    return hash < 0 ? href : href.slice(0, hash);
  } catch {
    return undefined;
  }
}

function authorityOf(text: string): string {
  const rest = text.slice(text.indexOf(":") + 1).replace(/^[/\\]{1,8}/, "");
  const end = rest.search(/[/\\?#]/);
  return end < 0 ? rest : rest.slice(0, end);
}
