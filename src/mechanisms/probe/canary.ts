/**
 * Canaries: texts that exist nowhere else, put into arguments, variables and files of a probe. Where one turns up tells what
 * a server does with what it is given. They look like what they stand for, since a server reads them.
 */
import type { TextSource } from "./sample.ts";
import { plausibleText } from "./plausible.ts";

/** What a canary was put into. */
export type CanaryPlace =
  | { readonly kind: "argument"; readonly probe: number; readonly name: string }
  /** `name`: the name of a file in the home folder, not its content. */
  | { readonly kind: "variable" | "file" | "name"; readonly name: string };

export type Canary = { readonly token: string; readonly place: CanaryPlace };

/** Letters and digits of a token: as many as no other text has by chance. */
export const tokenCharacters = 20;

/** A token of a source of randomness, in letters and digits that no encoding of a name or address changes. */
export function tokenOf(bytes: Uint8Array): string {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return Array.from({ length: tokenCharacters }, (_, at) => letters[(bytes[at] ?? 0) % letters.length]).join("");
}

/** Texts of which each carries a token of its own, in the form that its name and format ask for. */
export function canaryTexts(tokens: () => string, probe: number, planted: Canary[]): TextSource {
  return (asked) => {
    const plain = plausibleText(asked);
    const token = tokens();
    planted.push({ token, place: { kind: "argument", probe, name: asked.path.join("/") } });
    if (plain.includes("://")) return `https://${token}.example.com/page`;
    if (plain.includes("@")) return `${token}@example.com`;
    if (asked.format === undefined && plain === "notes.txt") return `${token}.txt`;
    return asked.format === undefined ? `${token}` : plain;
  };
}

/** The canaries that a text carries, plain or in a spelling in which texts are hidden from those who search them. */
export function canariesIn(text: string, canaries: readonly Canary[]): readonly Canary[] {
  if (canaries.length === 0) return [];
  const spelled = spellings(text.slice(0, searchedMax));
  return canaries.filter(({ token }) => spelled.some((one) => one.includes(token)));
}

const searchedMax = 1_000_000;

/** The text as it stands, without separators, backwards, and what base64, hexadecimal digits and percent signs in it say. */
function spellings(text: string): readonly string[] {
  const lower = text.toLowerCase();
  const dense = lower.replace(/[^a-z0-9]+/g, "");
  const found = [lower, dense, [...dense].toReversed().join("")];
  found.push(lower.replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))));
  for (const run of text.match(/[A-Za-z0-9+/_-]{24,}/g) ?? [])
    for (const shift of [0, 1, 2, 3]) found.push(fromBase64(run.slice(shift)));
  for (const run of lower.match(/(?:[0-9a-f]{2}[^0-9a-z]?){20,}/g) ?? []) found.push(fromHex(run));
  return found;
}

const base64Signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The bytes as characters, lower case; what is not base64 gives noise, which carries no token. */
function fromBase64(run: string): string {
  let [bits, held] = [0, 0];
  let text = "";
  for (const sign of run.replaceAll("-", "+").replaceAll("_", "/")) {
    held = ((held << 6) | Math.max(0, base64Signs.indexOf(sign))) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    text += String.fromCharCode((held >> bits) & 0xff);
  }
  return text.toLowerCase();
}

function fromHex(run: string): string {
  const digits = run.replace(/[^0-9a-f]/g, "");
  return digits.replace(/../g, (pair) => String.fromCharCode(Number.parseInt(pair, 16))).toLowerCase();
}
