/**
 * Masks text that looks like a secret before it reaches a log (gateway.md 9): well-known token shapes, private key blocks,
 * and values behind a name such as `password`. It prefers to miss a secret over masking ordinary prose.
 *
 * Every pattern starts at a literal and has bounded repetition, so the time is linear in the text. A secret is replaced by
 * its kind and a keyed digest; a plain digest of a weak password could be guessed.
 */
import { type Json, isArray, isObject, isRawNumber } from "./json.ts";

export type SecretKind = "private-key" | "token" | "jwt" | "password" | "credential";

export type FoundSecret = { readonly kind: SecretKind; readonly digest: string };

/** Characters of a key block that are cut out at most; the rest of a longer one is not base64 text of a key. */
const keyBlockCharactersMax = 16_384;

/** Characters of a value behind a name of a secret that are looked at. */
const valueCharactersMax = 256;

/** Bits per character from which a value counts as random (English text lies near 2.5-3.2 in such short pieces). */
const entropyBitsMin = 3.3;

/** Shorter values behind `token=` and the like are settings (`token=none`), not secrets. */
const randomCharactersMin = 16;

const passwordCharactersMin = 4;

const tokenPattern =
  "AKIA[0-9A-Z]{16}|ASIA[0-9A-Z]{16}" + // AWS access key ids
  "|gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{20,64}" +
  "|xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[A-Za-z0-9-]{10,255}" + // Slack
  "|AIza[0-9A-Za-z_-]{35}|ya29\\.[0-9A-Za-z_-]{20,255}" + // Google
  "|sk-[A-Za-z0-9_-]{20,255}|[sr]k_live_[0-9A-Za-z]{16,255}" + // OpenAI, Anthropic, Stripe
  "|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,64}|SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}";

const jwtPattern = "eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{0,2048}";

const passwordNames = "passw(?:or)?d|passphrase|passwd|pwd";
const credentialNames =
  "api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|client[_-]?secret|secret|auth[_-]?token|token|credential";

const assigned = `["']?[ \\t]{0,4}[:=][ \\t]{0,4}["']?(?<value>[^\\s"'&,;<>{}$*]{4,${valueCharactersMax}})`;

const shapes = new RegExp(`(?<![A-Za-z0-9_-])(?:(?<token>${tokenPattern})|(?<jwt>${jwtPattern}))`, "g");
const assignments = new RegExp(`(?:(?<password>${passwordNames})|(?:${credentialNames}))${assigned}`, "gi");
const bearer = /\b(?:bearer|basic)[ \t]{1,4}(?<value>[A-Za-z0-9+/_=.~-]{16,256})/gi;
/** `scheme://user:password@host`. */
const userInfo = /:\/\/[^\s:/@"']{1,128}:(?<value>[^\s:/@"']{4,256})@/g;

const passwordName = new RegExp(`(?:${passwordNames})$`, "i");
const credentialName = new RegExp(`(?:${credentialNames}|authorization)$`, "i");

/**
 * First test of every logged text, on its lower-case form (a case-insensitive pattern takes three times as long). The two
 * patterns must match wherever `maskSecrets` could replace something. The first is anchored at characters that are rare
 * in prose and looks back from there, the second at less rare ones; one pattern of plain words takes four times as long.
 * Shapes that only exist in capitals are searched apart.
 */
const rareCharacters =
  /(?<=gh[pousr]|github_pat|npm|hf|k_live)_|(?<=glpat|xox[abeoprs]|xapp|sk)-|(?<=ya29|sg)\.|:\/\/|(?<=a)kia|(?<=(?:api|access|private)[_-]?)key|(?<=to)ken|(?<=ai)za|(?<=authori)z|(?<=ey)j|(?<=pass)w|(?<=p)wd/;
const commoner = /(?<=se)cret|credent|bearer|basic|(?<=pass)p/;

/** False only if `maskSecrets` would change nothing in the value whose JSON text this is. */
export function maySecret(jsonText: string): boolean {
  if (jsonText.includes("ASIA") || jsonText.includes("-----BEGIN")) return true;
  const lower = jsonText.toLowerCase();
  return rareCharacters.test(lower) || commoner.test(lower);
}

/** True iff `maskSecrets` would change something in this text: it is not to be repeated then. */
export function hasSecret(text: string): boolean {
  return maskSecrets(text, () => "").found.length > 0;
}

/** Shannon entropy of the characters, bits per character. */
function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

function looksRandom(value: string): boolean {
  if (value.length < randomCharactersMin) return false;
  return /[0-9]/.test(value) && entropyBits(value.slice(0, valueCharactersMax)) >= entropyBitsMin;
}

type Digest = (text: string) => string;

function marker(kind: SecretKind, secret: string, digest: Digest, found: FoundSecret[]): string {
  const entry: FoundSecret = { kind, digest: digest(secret) };
  found.push(entry);
  return `[secret ${entry.kind} ${entry.digest}]`;
}

function maskKeyBlocks(text: string, digest: Digest, found: FoundSecret[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const match of text.matchAll(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/g)) {
    if (match.index < done) continue; // inside the block before
    // The end is searched in a bounded window, so that a text of nothing but beginnings stays linear.
    const block = text.slice(match.index, match.index + keyBlockCharactersMax);
    const end = /-----END [A-Z0-9 ]{0,40}-----/.exec(block);
    const length = end === null ? block.length : end.index + end[0].length;
    pieces.push(text.slice(done, match.index), marker("private-key", block.slice(0, length), digest, found));
    done = match.index + length;
  }
  return pieces.join("") + text.slice(done);
}

/** A replacement may complete the shape of another secret; after these passes the text is left as it is. */
const passesMax = 4;

/** The text with every secret-looking part replaced. */
function maskText(text: string, digest: Digest, found: FoundSecret[]): string {
  let masked = text;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const again = maskOnce(masked, digest, found);
    if (again === masked) return masked;
    masked = again;
  }
  return masked;
}

function maskOnce(text: string, digest: Digest, found: FoundSecret[]): string {
  let masked = text.includes("-----BEGIN ") ? maskKeyBlocks(text, digest, found) : text;
  masked = masked.replace(shapes, (whole, ...rest) => {
    const groups = rest.at(-1) as { token?: string }; // the last argument of a replacer with named groups
    return marker(groups.token === undefined ? "jwt" : "token", whole, digest, found);
  });
  const replaceValue = (kind: SecretKind, always: boolean) =>
    function (whole: string, ...rest: readonly unknown[]): string {
      const groups = rest.at(-1) as { value: string; password?: string }; // as above
      if (
        groups.value.startsWith("[secret") ||
        (!always && groups.password === undefined && !looksRandom(groups.value))
      )
        return whole;
      const shown = groups.password === undefined ? kind : "password";
      const place = whole.lastIndexOf(groups.value);
      const tail = whole.slice(place + groups.value.length);
      return whole.slice(0, place) + marker(shown, groups.value, digest, found) + tail;
    };
  masked = masked.replace(assignments, replaceValue("credential", false));
  masked = masked.replace(bearer, replaceValue("credential", false));
  return masked.replace(userInfo, replaceValue("password", true));
}

/** The kind of a member whose whole value is a secret by its name; undefined for any other. */
function isSecretMember(name: string, value: string): SecretKind | undefined {
  if (passwordName.test(name)) return value.length >= passwordCharactersMin ? "password" : undefined;
  return credentialName.test(name) && looksRandom(value) ? "credential" : undefined;
}

/** The value with every secret-looking text replaced, member names included. `found` has an entry for each replacement. */
export function maskSecrets(value: Json, digest: Digest): { readonly value: Json; readonly found: FoundSecret[] } {
  const found: FoundSecret[] = [];
  const walk = (node: Json): Json => {
    if (typeof node === "string") return maySecret(node) ? maskText(node, digest, found) : node;
    if (isRawNumber(node)) return node;
    if (isArray(node)) return node.map(walk);
    if (!isObject(node)) return node;
    const members = Object.entries(node).map(([name, child]): [string, Json] => {
      const masked = maySecret(name) ? maskText(name, digest, found) : name;
      const kind = typeof child === "string" ? isSecretMember(name, child) : undefined;
      if (kind === undefined || typeof child !== "string") return [masked, walk(child)];
      return [masked, marker(kind, child, digest, found)];
    });
    return Object.fromEntries(members); // defines own properties, `__proto__` included
  };
  return { value: walk(value), found };
}
