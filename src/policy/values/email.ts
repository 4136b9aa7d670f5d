/** Addresses as keys: one mailbox, no display name, no comment, no quoting. */
import { canonicalDomain } from "./domain.ts";
import { canonicalTextUnitsMax } from "./limits.ts";
import { isPlain, normaliseText } from "./text.ts";

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
