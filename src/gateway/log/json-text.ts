/** Stored JSON back into values. Numbers keep their lexeme, or a replay would see other arguments than the server. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject } from "../../core/json.ts";

/**
 * Hits every number that a double would write differently (long, exponent, trailing zero, minus zero, below 1e-6).
 * Digits inside strings hit too, which costs time and nothing else.
 */
const mayBeInexact = /[0-9][0-9.]{15}|[0-9][eE]|\.[0-9]*0(?![0-9])|-0(?!\.[0-9])|0\.0{6}/;

function keepLexeme(_name: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined || String(value) === context.source) return value;
  return JSON.rawJSON(context.source);
}

/** The value of a JSON text, undefined if it is none. */
export function readJson(text: string): Json | undefined {
  try {
    // Both casts: `JSON.parse` gives JSON by definition, and the reviver puts in nothing but `RawNumber`.
    return mayBeInexact.test(text) ? (JSON.parse(text, keepLexeme) as Json) : (JSON.parse(text) as Json);
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
