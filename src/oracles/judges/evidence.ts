/**
 * Evidence as a judge gets it: data between marks that no data can contain. Every text is written as a JSON string in
 * which `<`, `>`, `|` and all hidden characters are escaped, so that evidence cannot end its own field, forge a tag of
 * the protocol, or say something that a reader would not see (invisible and direction characters are the usual carrier
 * of instructions). Long texts keep their beginning and their end, since either could hold what matters.
 */
import { type Json, isArray, isObject, isRawNumber } from "../../core/json.ts";
import { fieldCharsMax, nameCharsMax, valueDepthMax, valueNodesMax } from "./limits.ts";

/** Control, format, surrogate, private and unassigned characters, separators, and letters that show nothing. */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\p{Variation_Selector}|\u034f|\u17b4|\u17b5/gu;

/** One text as a quoted string without marks and without anything hidden; at most about six times as long as its cap. */
export function quotedText(text: string, charsMax: number = fieldCharsMax): string {
  // Cut before anything else: the work on a huge text must not depend on its length.
  return JSON.stringify(shortened(text, charsMax)).replace(hidden, escaped).replace(/[<>|]/g, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`;
}

function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const head = text.slice(0, Math.ceil(charsMax * 0.75));
  const tail = text.slice(text.length - Math.floor(charsMax * 0.25));
  // A cut through a surrogate pair leaves half of it, which is escaped like everything else that is hidden.
  return `${head} [${text.length - charsMax} characters left out] ${tail}`;
}

export function quotedName(text: string): string {
  return quotedText(text, nameCharsMax);
}

/** A JSON value in one line, with the number of its nodes, its depth and each of its texts bounded. */
export function quotedValue(value: Json): string {
  const work = { nodesLeft: valueNodesMax, charsLeft: fieldCharsMax };
  return written(value, 0, work);
}

type Work = { nodesLeft: number; charsLeft: number };

const leftOut = '"[left out]"';

function written(value: Json, depth: number, work: Work): string {
  work.nodesLeft -= 1;
  if (work.nodesLeft < 0 || work.charsLeft <= 0 || depth > valueDepthMax) return leftOut;
  if (typeof value === "string") return spent(value, work);
  if (isRawNumber(value)) return spent(value.rawJSON, work);
  if (isArray(value)) return `[${each(value, (item) => written(item, depth + 1, work), work)}]`;
  if (isObject(value)) {
    const member = ([name, item]: readonly [string, Json]): string =>
      `${spent(name, work)}: ${written(item, depth + 1, work)}`;
    return `{${each(Object.entries(value), member, work)}}`;
  }
  return JSON.stringify(value);
}

function spent(text: string, work: Work): string {
  const charsMax = Math.max(16, work.charsLeft);
  work.charsLeft -= Math.min(text.length, charsMax);
  return quotedText(text, charsMax);
}

function each<T>(items: readonly T[], write: (item: T) => string, work: Work): string {
  const parts: string[] = [];
  for (const item of items) {
    if (work.nodesLeft <= 0 || work.charsLeft <= 0) {
      parts.push(leftOut);
      break;
    }
    parts.push(write(item));
  }
  return parts.join(", ");
}

/** The kind of a value, which says nothing of the value. */
export function shapeOf(value: Json): string {
  if (value === null) return "null";
  if (isArray(value)) return "list";
  if (isRawNumber(value)) return "number";
  return isObject(value) ? "object" : typeof value;
}
