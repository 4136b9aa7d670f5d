/** Data with members that may be absent: an absent member is no key at all, so it is absent in the JSON as well. */

/** Removes the keys whose value is undefined. */
export function given<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  // Only keys that hold undefined are dropped, and `T` has them optional; the compiler cannot follow fromEntries.
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

/** The value in another form; undefined stays undefined. */
export function mapped<A, B>(value: A | undefined, form: (value: A) => B): B | undefined {
  return value === undefined ? undefined : form(value);
}
