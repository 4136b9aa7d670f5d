/**
 * Shapes: one description of a document, from which come the checks of the parser, the published JSON Schema and the
 * TypeScript types (`Infer`).
 */
import { given } from "../../core/given.ts";

declare const shapeOf: unique symbol;

/** A description of the JSON values that are a `T`. The type exists for the compiler only. */
export type Shape<T> = ShapeNode & { readonly [shapeOf]?: T };

export type ShapeNode =
  | StringNode
  | { readonly kind: "enum"; readonly values: readonly string[]; readonly what: string }
  | { readonly kind: "const"; readonly value: string | number | boolean }
  | {
      readonly kind: "number";
      readonly what: string;
      readonly integer: boolean;
      readonly min?: number;
      readonly max?: number;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  | { readonly kind: "any" }
  | { readonly kind: "array"; readonly items: ShapeNode; readonly min: number; readonly max?: number }
  | {
      readonly kind: "record";
      readonly values: ShapeNode;
      readonly what: string;
      readonly pattern?: string;
      /** At least one key must be present. */
      readonly notEmpty?: true;
    }
  | ObjectNode
  | { readonly kind: "union"; readonly options: readonly ShapeNode[]; readonly what: string }
  /** A named shape, written once into the schema; recursion goes through it. */
  | { readonly kind: "named"; readonly name: string; readonly get: () => ShapeNode };

type StringNode = {
  readonly kind: "string";
  readonly what: string;
  readonly pattern?: string;
  readonly example?: string;
};

export type FieldNode = { readonly shape: ShapeNode; readonly required: boolean; readonly says: string };

export type ObjectNode = {
  readonly kind: "object";
  readonly what: string;
  readonly fields: { readonly [name: string]: FieldNode };
  /** Exactly one key of the group must be present. */
  readonly oneOf?: readonly string[];
  /** At least one key must be present. */
  readonly notEmpty?: true;
};

/** One member of an object; `says` is its description in messages and in the published schema. */
export type Field<T, Required extends boolean> = {
  readonly shape: Shape<T>;
  readonly required: Required;
  readonly says: string;
};
type Fields = { readonly [name: string]: Field<unknown, boolean> };
type IsRequired = { readonly required: true };

/** The JSON values that a shape describes. */
export type Infer<S> = S extends { readonly [shapeOf]?: infer T } ? T : never;

/**
 * The object that some fields make. A comment above a field is the comment of its member, in the published types too.
 * Where no member is required there is no part for them: the compiler would take anything for an empty object.
 */
export type Members<F> = (F[keyof F] extends { readonly required: false } ? unknown : RequiredMembers<F>) &
  OptionalMembers<F>;
type RequiredMembers<F> = {
  readonly [K in keyof F as F[K] extends IsRequired ? K : never]: F[K] extends Field<infer T, true> ? T : never;
};
export type OptionalMembers<F> = {
  readonly [K in keyof F as F[K] extends IsRequired ? never : K]?: F[K] extends Field<infer T, false> ? T : never;
};

export function required<T>(shape: Shape<T>, says: string): Field<T, true> {
  return { shape, required: true, says };
}

export function optional<T>(shape: Shape<T>, says: string): Field<T, false> {
  return { shape, required: false, says };
}

export function text(what: string, pattern?: string, example?: string): Shape<string> {
  return given<StringNode>({ kind: "string", what, pattern, example });
}

export function oneOf<const T extends string>(what: string, values: readonly T[]): Shape<T> {
  return { kind: "enum", values, what };
}

export function constant<const T extends string | number | boolean>(value: T): Shape<T> {
  return { kind: "const", value };
}

export function number(what: string, min?: number, max?: number): Shape<number> {
  return {
    kind: "number",
    what,
    integer: false,
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
  };
}

export function integer(what: string, min: number, max: number): Shape<number> {
  return { kind: "number", what, integer: true, min, max };
}

export const flag: Shape<boolean> = { kind: "boolean" };
export const nothing: Shape<null> = { kind: "null" };
export const anything: Shape<unknown> = { kind: "any" };

export function list<T>(items: Shape<T>, min = 0, max?: number): Shape<readonly T[]> {
  return { kind: "array", items, min, ...(max === undefined ? {} : { max }) };
}

/** Exactly two of the same, such as both ends of an interval. */
export function pair<T>(items: Shape<T>): Shape<readonly [T, T]> {
  return { kind: "array", items, min: 2, max: 2 };
}

export function mapOf<T>(what: string, values: Shape<T>, pattern?: string): Shape<{ readonly [key: string]: T }> {
  return { kind: "record", values, what, ...(pattern === undefined ? {} : { pattern }) };
}

/** A map of which an empty one would say nothing. */
export function someOf<T>(what: string, values: Shape<T>): Shape<{ readonly [key: string]: T }> {
  return { kind: "record", values, what, notEmpty: true };
}

export function object<F extends Fields>(
  what: string,
  fields: F,
  options: { readonly oneOf?: readonly (keyof F & string)[]; readonly notEmpty?: true } = {},
): Shape<Members<F>> {
  return { kind: "object", what, fields, ...options };
}

/** An object of which exactly one key must be present. */
export function oneKey<F extends Fields>(what: string, fields: F): Shape<Members<F>> {
  return { kind: "object", what, fields, oneOf: Object.keys(fields) };
}

export function either<T extends readonly unknown[]>(
  what: string,
  ...options: { readonly [I in keyof T]: Shape<T[I]> }
): Shape<T[number]> {
  return { kind: "union", what, options };
}

export function named<T>(name: string, get: () => Shape<T>): Shape<T> {
  let made: Shape<T> | undefined;
  return { kind: "named", name, get: () => (made ??= get()) };
}
