/**
 * A number whose lexeme a double cannot hold (beyond 2^53, more than 15 significant digits, exponent, minus zero).
 * It is the object that `JSON.rawJSON` makes: `JSON.stringify` writes the lexeme back unchanged.
 */
export type RawNumber = { readonly rawJSON: string };

/** A JSON value. Objects keep `__proto__` as an ordinary own property. */
export type Json = null | boolean | number | string | RawNumber | readonly Json[] | JsonObject;

/** A JSON object; read members of hostile ones by `member`. */
export type JsonObject = { readonly [key: string]: Json };

/** True for a number that kept its lexeme. */
export function isRawNumber(value: Json | undefined): value is RawNumber {
  return typeof value === "object" && value !== null && JSON.isRawJSON(value);
}

/** True for an object that is neither an array nor a raw number. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

/** An object whose members are not known yet, as a parser of another format hands it on. */
export function isPlainObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** The own property of an object, else undefined: no name of a message reaches `Object.prototype`. */
export function member(value: Json | undefined, name: string): Json | undefined {
  if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
  return (value as JsonObject)[name]; // narrowed above; the compiler keeps RawNumber in the union
}

/** As `member`; undefined where the value is not a string. */
export function stringMember(value: Json | undefined, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === "string" ? found : undefined;
}

/** Defines an own property, `__proto__` included, where an assignment would set the prototype. */
export function setOwn<V>(object: { [key: string]: V }, name: string, value: V): void {
  Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}
