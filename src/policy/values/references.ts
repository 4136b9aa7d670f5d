/**
 * References of an injected call to the call that needs it: `{call/POINTER}` in a text of its arguments stands for what is
 * at that place of the other call's arguments. A text that is nothing but a reference becomes the value itself, of any
 * type; inside a longer text the value must be a text, a number or a Boolean.
 */
import { type Json, type JsonObject, isArray, isObject, isRawNumber, setOwn } from "../../core/json.ts";
import { pointerTokens, valueAt } from "../../core/pointer.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { injectedUnitsMax } from "./limits.ts";

const reference = /\{call(\/[^{}]*)?\}/g;

/** A reference that cannot be replaced; `place` is its pointer, in the words of the policy. */
export type Unfilled = { readonly place: string; readonly why: "absent" | "not a text" | "too long" };

/** The places that arguments refer to, each once; an empty one is a reference without a pointer. */
export function placesIn(value: Json): readonly string[] {
  const places = new Set<string>();
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === "string") for (const [, place = ""] of next.matchAll(reference)) places.add(place);
    else if (isArray(next) || isObject(next)) open.push(...Object.values(next));
  }
  return [...places].sort();
}

/** Whether a place of a reference is a pointer to a part of the arguments. */
export function isPlace(place: string): boolean {
  return place.length > 1 && pointerTokens(place) !== undefined;
}

/** The arguments with every reference replaced by what the call gives there; they share no budget with other rules. */
export function filledFrom(template: JsonObject, given: JsonObject): Result<JsonObject, Unfilled> {
  const filling: Filling = { given, units: 0, fault: undefined };
  const filled = objectFrom(template, filling);
  return filling.fault === undefined ? ok(filled) : err(filling.fault);
}

type Filling = { readonly given: JsonObject; units: number; fault: Unfilled | undefined };

/** Nesting is that of the policy document, which its parser bounds. */
function valueFrom(template: Json, filling: Filling): Json {
  if (typeof template === "string") return textFrom(template, filling);
  if (isArray(template)) return template.map((one) => valueFrom(one, filling));
  return isObject(template) ? objectFrom(template as JsonObject, filling) : template; // narrowed; RawNumber is left
}

function objectFrom(template: JsonObject, filling: Filling): JsonObject {
  const made: Record<string, Json> = {};
  for (const [name, value] of Object.entries(template)) setOwn(made, name, valueFrom(value, filling));
  return made;
}

function textFrom(text: string, filling: Filling): Json {
  const whole = /^\{call(\/[^{}]*)\}$/.exec(text)?.[1];
  if (whole !== undefined) return found(whole, filling);
  return text.replaceAll(reference, (_, place: string) => {
    const value = found(place, filling);
    if (typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean" || isRawNumber(value)) return JSON.stringify(value);
    filling.fault ??= { place, why: "not a text" };
    return "";
  });
}

function found(place: string, filling: Filling): Json {
  const value = valueAt(filling.given, place);
  if (value === undefined) filling.fault ??= { place, why: "absent" };
  else if ((filling.units += JSON.stringify(value).length) > injectedUnitsMax) {
    filling.fault ??= { place, why: "too long" };
  }
  return value ?? null;
}
