/**
 * What a text says when its escapes and encodings are undone. Escapes replace single characters of a text (JSON,
 * percent, HTML, quoted-printable, bytes, tags), so they are undone in their places; encodings replace a text as a whole
 * (`encodings.ts`). Only for what may be found too much.
 */
import { encodedIn } from "./encodings.ts";

/** Times that escapes are undone: a redirect inside of a link in JSON text has them one in the other. */
const escapesUndoneMax = 3;

/** Times that encodings are undone, one in the other. */
const encodingsUndoneMax = 2;

/** The text, and what it says when its escapes and encodings are undone, or all, and again. Never empty. */
export function spellingsOf(text: string): readonly string[] {
  const spellings = unescaped(text);
  for (const spelling of encoded(spellings)) spellings.add(spelling);
  return [...spellings];
}

/** The text as it stands and with everything undone may hold encodings; what is between them says no more. */
function encoded(spellings: ReadonlySet<string>): readonly string[] {
  const [first, ...rest] = spellings;
  let sources = [first, rest.at(-1)].flatMap((each) => each ?? []);
  const found: string[] = [];
  for (let times = 0; times < encodingsUndoneMax && sources.length > 0; times += 1) {
    sources = sources.flatMap((source) => [...unescaped(encodedIn(source) ?? "")]).filter((each) => each !== "");
    found.push(...sources);
  }
  return found;
}

/** In the order in which they are mostly put into each other, the outermost first; done only where `present` is found. */
const undoings: readonly { readonly present: RegExp; readonly undo: (text: string) => string }[] = [
  { present: /[\u{e0020}-\u{e007e}]/u, undo: withoutTags },
  { present: /%[0-9a-fA-F]{2}/, undo: withoutPercent },
  { present: /\\/, undo: withoutEscapes },
  { present: /&[#A-Za-z][0-9A-Za-z]/, undo: withoutEntities },
  { present: /=(?:[0-9a-fA-F]{2}|[ \t]{0,8}\r?\n)/, undo: withoutQuoted },
];

function unescaped(text: string): Set<string> {
  const spellings = new Set([text]);
  // Each of these also by itself: in `C:\temp%20files` only one of both marks is an escape.
  if (text.includes("%")) spellings.add(withoutPercent(text));
  if (text.includes("\\")) spellings.add(withoutEscapes(text));
  let undone = text;
  for (let times = 0; times < escapesUndoneMax; times += 1) {
    const before = undone;
    for (const { present, undo } of undoings) if (present.test(undone)) undone = undo(undone);
    if (undone === before) break;
    spellings.add(undone);
  }
  return spellings;
}

/** Tags are ASCII that is not seen. */
function withoutTags(text: string): string {
  return text.replace(/[\u{e0020}-\u{e007e}]/gu, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000));
}

const jsonEscape = /\\(?:u[0-9a-fA-F]{4}|[nrtbf"\\/])/g;
const byteEscapes = /(?:\\x[0-9a-fA-F]{2})+/g;

function withoutEscapes(text: string): string {
  return text
    .replace(byteEscapes, (run) => bytesAsText(run.split("\\x").slice(1)))
    .replace(jsonEscape, (escape) => (escape[1] === "u" ? unicodeOf(escape) : plainOf(escape)));
}

function unicodeOf(escape: string): string {
  return String.fromCharCode(Number.parseInt(escape.slice(2), 16));
}

function plainOf(escape: string): string {
  const character = escape.charAt(1);
  return '"\\/'.includes(character) ? character : " ";
}

function withoutPercent(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) => bytesAsText(run.split("%").slice(1)));
}

/** Quoted-printable: the bytes of `=4F`, and lines that were cut only because lines are short. */
function withoutQuoted(text: string): string {
  return text
    .replace(/=[ \t]{0,8}\r?\n/g, "")
    .replace(/(?:=[0-9a-fA-F]{2})+/g, (run) => bytesAsText(run.split("=").slice(1)));
}

const strict = new TextDecoder("utf-8", { fatal: true });

/** Pairs of hexadecimal digits as UTF-8, else byte by byte, so that one bad byte does not hide those around it. */
function bytesAsText(pairs: readonly string[]): string {
  const bytes = Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
  try {
    return strict.decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

const entity = /&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][0-9A-Za-z]{1,7}))(?:;|(?![0-9A-Za-z;]))/g;
/** Entities of letters with a mark begin with the letter; the mark is no difference here. */
const marked = /^([A-Za-z])(?:acute|grave|circ|uml|tilde|cedil|ring|caron|slash)$/;
const letters: Readonly<Record<string, string>> = { szlig: "ß", aelig: "æ", AElig: "Æ", commat: "@", amp: "&" };

function withoutEntities(text: string): string {
  return text.replace(entity, (whole, hexadecimal?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return namedEntity(whole, name);
    const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Without its semicolon a name may be one of a query (`?a=1&to=2`). All other entities are marks or blanks. */
function namedEntity(whole: string, name: string): string {
  if (!whole.endsWith(";")) return whole;
  return (Object.hasOwn(letters, name) ? letters[name] : marked.exec(name)?.[1]) ?? " ";
}
