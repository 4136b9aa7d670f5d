/**
 * The outcome of something that may fail for a reason its caller should handle.
 *
 * Expected failure is a value, so that it cannot be forgotten and cannot carry a stack trace to a user; a throw is
 * always a bug of ours (and, inside a decision, a deny).
 */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}
