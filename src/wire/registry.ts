/**
 * Which methods exist in which revision. A method that is not listed for a revision is refused by its absence: no
 * `if` anywhere has to remember it. A newer method therefore cannot be smuggled to a side that negotiated an older
 * revision, where nobody would look at it.
 */
import type { Revision } from "./message.ts";
import { legacyMethods } from "./registry-legacy.ts";
import { modernMethods } from "./registry-modern.ts";

/** Way that a message travels: from the client to the server or back. */
export type Direction = "to-server" | "to-client";

export type MethodEntry = {
  readonly method: string;
  readonly kind: "request" | "notification";
  readonly direction: Direction;
  /** `embedded` requests never travel alone: in the modern era they sit in `inputRequests` of a result. */
  readonly form: "message" | "embedded";
  /** Extension that must be negotiated for the method to exist, if it is not core protocol. */
  readonly extension: string | undefined;
};

export type MethodQuery = Pick<MethodEntry, "method" | "kind" | "direction"> & { readonly form?: MethodEntry["form"] };

export function registryOf(revision: Revision): readonly MethodEntry[] {
  switch (revision) {
    case "2024-11-05":
    case "2025-03-26":
    case "2025-06-18":
    case "2025-11-25":
      return legacyMethods[revision];
    case "2026-07-28":
      return modernMethods;
  }
}

const keyOf = (entry: MethodQuery): string =>
  `${entry.direction} ${entry.kind} ${entry.form ?? "message"} ${entry.method}`;

const indexes = new Map<Revision, ReadonlyMap<string, MethodEntry>>();

/** The entry for a method as it travels, or undefined where the revision does not have it. */
export function findMethod(revision: Revision, query: MethodQuery): MethodEntry | undefined {
  let index = indexes.get(revision);
  if (index === undefined) {
    index = new Map(registryOf(revision).map((entry) => [keyOf(entry), entry]));
    indexes.set(revision, index);
  }
  return index.get(keyOf(query));
}
