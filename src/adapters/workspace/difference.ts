/** One difference between a workspace and its projection, with all that a commit needs to know of it. */
import type { WorkspaceChange } from "../../core/effect-trace.ts";
import type { EntryFacts, EntryType } from "./entry-facts.ts";
import { absent } from "./entry-facts.ts";
import type { Guard } from "./guarded.ts";
import {
  guardOfName,
  leavingGuard,
  linkLeaves,
  nameGuard,
  privilegeGuard,
  specialGuard,
  unreadableGuard,
} from "./guarded.ts";
import { pathPartsMax } from "./limits.ts";

export type Difference = {
  /** Relative to the workspace, `/` between parts. */
  readonly path: string;
  readonly kind: WorkspaceChange["kind"];
  readonly before: EntryType | typeof absent;
  readonly after: EntryType | typeof absent;
  readonly bytes: number;
  readonly mode: number;
  /** Of a symbolic link. */
  readonly target?: string;
  /** State of the projection's entry: the same mark, the same content (`entry-facts.ts`). */
  readonly mark: string;
  /** Stamp of the workspace's own entry when this change was first seen. */
  readonly base: string;
  /** The workspace's own entry was changed by others after the server made its version. */
  readonly outside: boolean;
  readonly guard?: Guard;
};

/** What both scans find, before the names are judged. */
export type Found = Omit<Difference, "guard" | "bytes" | "mode" | "mark" | "after"> & {
  readonly facts: EntryFacts | undefined;
};

export type Judging = {
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Guarded names that an operator allows by naming them, relative to the workspace. */
  readonly allowed: ReadonlySet<string>;
};

export function differenceOf(found: Found, judging: Judging): Difference {
  const { facts, ...rest } = found;
  const guard = guardOf(found, judging);
  return {
    ...rest,
    after: facts?.type ?? absent,
    bytes: facts?.bytes ?? 0,
    mode: facts?.mode ?? 0,
    mark: facts?.stamp ?? absent,
    ...(guard === undefined ? {} : { guard }),
  };
}

/** What is never written comes first: no name that an operator allows makes a device or an open door of it. */
function guardOf(found: Found, judging: Judging): Guard | undefined {
  const { path, facts, target, before } = found;
  // Names that are no UTF-8 come with replacement characters, and lead to nothing.
  if (path.includes("\uFFFD") || path.split("/").length > pathPartsMax) return nameGuard;
  if (facts === undefined && found.kind === "special") return unreadableGuard;
  if (facts?.type === "special" || found.kind === "special") return specialGuard;
  if (facts?.type === "file" && (facts.mode & 0o6000) !== 0) return privilegeGuard;
  if (facts?.type === "link" && linkLeaves(path, target ?? "/", judging.workspace)) return leavingGuard;
  const named = guardOfName(path, (facts?.type ?? before) === "folder");
  if (named === undefined) return undefined;
  // Allowing means: this very file was there before, and a person wrote its name into the scope.
  return before !== absent && judging.allowed.has(path) ? undefined : named;
}

export function changeOf(difference: Difference): WorkspaceChange {
  const { path, kind, bytes, guard } = difference;
  return { path, kind, bytes, guarded: guard !== undefined };
}
