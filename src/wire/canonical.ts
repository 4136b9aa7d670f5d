/**
 * Canonical JSON (RFC 8785) and digests over it: two messages that mean the same have the same digest, whatever their
 * member order, white space and escapes. Approvals, pins and memo keys are bound to these digests.
 *
 * Two rules go beyond the RFC, because a digest must exist for every message and never equate different values:
 * - A number kept as a lexeme counts by its exact decimal value: `1.0` and `1e0` are written `1`, `-0` is `0`, and what
 *   no double holds is written as digits and exponent (`9007199254740993`, `1e400`). Doubles are written as the RFC
 *   says, so only equal values share a form.
 * - Half a surrogate pair in a string is written as its `\u` escape, where the RFC has no answer.
 */
import { isArray, isObject, isRawNumber, type Json } from "../core/json.ts";

/** Hash of a text, for example SHA-256 in hex; pure code gets it from its caller. */
export type Hash = (text: string) => string;

/** The digest of a value. Names of different purposes should be kept apart by wrapping the value in an object. */
export function digest(value: Json, hash: Hash): string {
  return hash(canonicalJson(value));
}

/** Canonical text of a value. Recursion is bounded by `depthMax` of the wire for everything that came in. */
export function canonicalJson(value: Json): string {
  if (isRawNumber(value)) return canonicalNumber(value.rawJSON);
  if (isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  // JavaScript's form of a double is the form that the RFC requires.
  if (!isObject(value)) return typeof value === "number" ? String(value) : JSON.stringify(value);
  let text = "";
  for (const name of inOrder(Object.keys(value))) {
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(value[name] ?? null)}`;
  }
  return `{${text}}`;
}

/** Names that are put in order one by one; above it the time of that grows too fast. */
const fewNamesMax = 16;

/**
 * Sorts by UTF-16 code units, which is the order that the RFC asks for. Most objects have a few names, often in order
 * already, and for these `sort` would mostly make copies.
 */
function inOrder(names: string[]): readonly string[] {
  if (names.length > fewNamesMax) return names.sort();
  for (let next = 1; next < names.length; next += 1) {
    const name = names[next] ?? "";
    let place = next;
    for (; place > 0; place -= 1) {
      const before = names[place - 1] ?? "";
      if (before <= name) break;
      names[place] = before;
    }
    names[place] = name;
  }
  return names;
}

/** Digits of an exponent we compute with; a longer one is hostile, and its lexeme is its own form. */
const exponentDigitsMax = 9;

/** A JSON number lexeme in its canonical spelling. */
export function canonicalNumber(lexeme: string): string {
  const exact = decimalOf(lexeme);
  if (exact === undefined) return lexeme;
  if (exact.digits === "") return "0";
  const double = String(Number(lexeme));
  const shown = decimalOf(double);
  const same = shown?.digits === exact.digits && shown.exponent === exact.exponent;
  if (same) return double;
  const sign = exact.negative ? "-" : "";
  const whole = exact.exponent >= 0 && exact.exponent + exact.digits.length <= 40;
  return whole ? sign + exact.digits + "0".repeat(exact.exponent) : `${sign}${exact.digits}e${exact.exponent}`;
}

/** The number as digits without outer zeros times a power of ten; undefined when it is not a readable number. */
function decimalOf(lexeme: string): { negative: boolean; digits: string; exponent: number } | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(lexeme);
  if (parts === null) return undefined;
  const [, sign = "", whole = "", fraction = "", power = "0"] = parts;
  if (power.replace(/^[+-]?0*/, "").length > exponentDigitsMax) return undefined;
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = withoutTrailingZeros(all);
  const exponent = Number(power) - fraction.length + (all.length - digits.length);
  return { negative: sign === "-", digits, exponent };
}

/** A loop, because `/0+$/` is quadratic on long runs of zeros that do not end the text. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end -= 1;
  return digits.slice(0, end);
}
