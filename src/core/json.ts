/**
 * A number whose lexeme a double cannot hold (beyond 2^53, more than 15 significant digits, exponent, minus zero).
 * It is the object that `JSON.rawJSON` makes: `JSON.stringify` writes the lexeme back unchanged.
 */
export type RawNumber = { readonly rawJSON: string };

/** Any JSON value as the wire hands it on. Objects keep `__proto__` as an ordinary own property. */
export type Json = null | boolean | number | string | RawNumber | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

export function isRawNumber(value: Json | undefined): value is RawNumber {
  return typeof value === "object" && value !== null && JSON.isRawJSON(value);
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Own property of an object, else undefined: a message cannot reach `Object.prototype` through a name. */
export function member(value: Json | undefined, name: string): Json | undefined {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
  return (value as JsonObject)[name]; // narrowed above; the compiler keeps RawNumber in the union
}

export function stringMember(value: Json | undefined, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === "string" ? found : undefined;
}
