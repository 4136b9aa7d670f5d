/**
 * The outcome of a function that may fail for a reason that its caller should handle. Expected failure is a value: it
 * cannot be forgotten and carries no stack trace to a user. A throw is a bug of ours, and inside a decision a deny.
 */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}
