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
