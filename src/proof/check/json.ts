/**
 * A bounded copy of hostile JSON whose objects have no prototype, so that a key reaches nothing but data, and the RFC 8785
 * text by which two values are compared.
 */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export const depthMax = 64;
const valuesMax = 4_000_000;

/**
 * Copies JSON. Depth and number of values are bounded, so a cyclic or huge value ends here.
 * @returns undefined where the value is not JSON or beyond the limits.
 */
export function plainCopy(value: unknown, most: number = valuesMax): Json | undefined {
  let left = most;
  const copy = (from: unknown, depth: number): Json | undefined => {
    left -= 1;
    if (left < 0 || depth > depthMax) return undefined;
    if (from === null || typeof from === "boolean" || typeof from === "string") return from;
    if (typeof from === "number") return Number.isFinite(from) ? from : undefined;
    if (Array.isArray(from)) return copyList(from, (item) => copy(item, depth + 1));
    if (typeof from !== "object") return undefined;
    const prototype: unknown = Object.getPrototypeOf(from);
    if (prototype !== null && prototype !== Object.prototype) return undefined;
    const entries = copyList(Object.entries(from), ([, item]) => copy(item, depth + 1));
    const to: { [key: string]: Json } = Object.create(null);
    Object.keys(from).forEach((key, index) => void (to[key] = entries?.[index] ?? null));
    return entries === undefined ? undefined : to;
  };
  return copy(value, 0);
}

/** Stops at the first item that cannot be copied: a list of a billion holes must not be walked to its end. */
function copyList<T>(items: readonly T[], copy: (item: T) => Json | undefined): Json[] | undefined {
  const copied: Json[] = [];
  for (const item of items) {
    const one = copy(item);
    if (one === undefined) return undefined;
    copied.push(one);
  }
  return copied;
}

/** The RFC 8785 text: members sorted by UTF-16 code units, numbers and strings as ECMAScript writes them. */
export function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`).join(",")}}`;
}

/** Foreign text for use in an error sentence: short, and quoted so that it cannot pose as part of it. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
