/**
 * Shapes of JSON as data, and the types that follow from them. A member that a shape does not name is refused unless
 * the shape is `open`: an unknown condition must not count as no condition.
 */
import { type Json, quoted } from "./json.ts";

type Members = { readonly [name: string]: Shape };
export type Shape =
  | "text"
  | "flag"
  | "whole"
  | "any"
  | { readonly words: readonly string[] }
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly fields: Members; readonly optional?: Members; readonly open?: true };

type Optional<S> = S extends { readonly optional: infer O } ? { readonly [K in keyof O]?: Typed<O[K]> } : unknown;
export type Typed<S> = S extends "text"
  ? string
  : S extends "flag"
    ? boolean
    : S extends "whole"
      ? number
      : S extends { readonly words: readonly (infer W)[] }
        ? W
        : S extends { readonly list: infer I }
          ? readonly Typed<I>[]
          : S extends { readonly map: infer V }
            ? { readonly [key: string]: Typed<V> }
            : S extends { readonly fields: infer F }
              ? { readonly [K in keyof F]: Typed<F[K]> } & Optional<S>
              : Json;

/** @returns the first place where the value does not have the shape, as a sentence without full stop. */
export function misfit(value: Json | undefined, shape: Shape, place: string): string | undefined {
  if (value === undefined) return `${place} is missing`;
  if (shape === "any") return undefined;
  if (typeof shape === "string") return ofSort(value, shape) ? undefined : `${place} is not a ${sorts[shape]}`;
  if ("words" in shape) {
    const known = typeof value === "string" && shape.words.includes(value);
    return known ? undefined : `${place} is not one of ${shape.words.join(", ")}`;
  }
  if ("list" in shape) {
    if (!Array.isArray(value)) return `${place} is not a list`;
    return firstOf(value.entries(), ([index, item]) => misfit(item, shape.list, `${place}[${index}]`));
  }
  if (value === null || typeof value !== "object" || isList(value)) return `${place} is not an object`;
  if ("map" in shape) {
    return firstOf(Object.entries(value), ([key, item]) => misfit(item, shape.map, `${place}.${short(key)}`));
  }
  const optional = shape.optional ?? {};
  const known = (key: string): boolean => Object.hasOwn(shape.fields, key) || Object.hasOwn(optional, key);
  const stranger = shape.open === true ? undefined : Object.keys(value).find((key) => !known(key));
  if (stranger !== undefined) return `${place} has an unknown member ${quoted(stranger)}`;
  const missing = firstOf(Object.entries(shape.fields), ([key, of]) => misfit(value[key], of, `${place}.${key}`));
  const present = Object.entries(optional).filter(([key]) => value[key] !== undefined);
  return missing ?? firstOf(present, ([key, of]) => misfit(value[key], of, `${place}.${key}`));
}

const sorts = { text: "text", flag: "truth value", whole: "whole number from 0" } as const;

function ofSort(value: Json, sort: keyof typeof sorts): boolean {
  if (sort === "text") return typeof value === "string";
  if (sort === "flag") return typeof value === "boolean";
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const short = (key: string): string => quoted(key).slice(1, -1);

function firstOf<T>(items: Iterable<T>, find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
