/** Stored JSON back into values. Numbers keep their lexeme, or a replay would see other arguments than the server. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject } from "../../core/json.ts";

function keepLexeme(_name: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || String(value) === context.source) return value;
  return JSON.rawJSON(context.source);
}

function holdsNumber(value: Json): boolean {
  if (typeof value === "number") return true;
  if (isArray(value)) return value.some(holdsNumber);
  return isObject(value) && Object.values(value).some((part: Json) => holdsNumber(part));
}

/** The value of a JSON text, undefined if it is none. */
export function readJson(text: string): Json | undefined {
  try {
    // Both casts: `JSON.parse` gives JSON by definition, and the reviver puts in nothing but `RawNumber`.
    const value = JSON.parse(text) as Json;
    // A text that comes out as it went in has no number that a double would write differently. Texts of the log are
    // written this way, so nearly all do, and comparing is much cheaper than a reviver for every member. The largest
    // texts are results, which seldom have any number.
    const isExact = !holdsNumber(value) || JSON.stringify(value) === text;
    return isExact ? value : (JSON.parse(text, keepLexeme) as Json);
  } catch {
    return undefined;
  }
}

export function readJsonObject(text: string): JsonObject | undefined {
  const value = readJson(text);
  return isObject(value) ? value : undefined;
}

/** Items between two ends, as one flat text: what is put together with `+` is copied again by each who reads it. */
export function listText(start: string, items: readonly string[], end: string): string {
  const [first = "", ...rest] = items;
  const last = rest.pop();
  return last === undefined ? start + first + end : [start + first, ...rest, last + end].join(",");
}
