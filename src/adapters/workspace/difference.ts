/** One difference between a workspace and its projection, with everything that a commit needs. */
import type { WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import { type EntryFacts, type EntryType, absent } from "./entry-facts.ts";
import { pathPartsMax } from "./workspace-limits.ts";
import { contentOf } from "./content.ts";
import { obeyedFile } from "../../core/isolation/execution-hooks.ts";
import type { ObeyedFile } from "../../core/isolation/obeyed/row.ts";
import {
  isRepositoryHead,
  obeyedByContent,
  obeyedContentBytesMax,
  repositoriesAround,
  repositoryPart,
  tellsByContent,
} from "../../core/isolation/obeyed-content.ts";

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

/** Result of either scan, before the names are checked. */
export type Found = Omit<Difference, "guard" | "bytes" | "mode" | "mark" | "after"> & {
  readonly facts: EntryFacts | undefined;
};

export type Judging = {
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Guarded names that an operator allows by naming them, relative to the workspace. */
  readonly allowed: ReadonlySet<string>;
};

/** Adds guard, type, size, mode and mark to a found difference. `at` is where the server's version lies. */
export function differenceOf(found: Found, judging: Judging, at: string): Difference {
  const { facts, ...rest } = found;
  const guard = guardOf(found, judging, at);
  return {
    ...rest,
    after: facts?.type ?? absent,
    bytes: facts?.bytes ?? 0,
    mode: facts?.mode ?? 0,
    mark: facts?.stamp ?? absent,
    ...(guard === undefined ? {} : { guard }),
  };
}

/**
 * Guards without exception come first: no name that an operator allows may create a device, a set-user-id file or a
 * link that leaves.
 */
function guardOf(found: Found, judging: Judging, at: string): Guard | undefined {
  const { path, facts, target, before } = found;
  // Names that are not valid UTF-8 contain replacement characters and match no entry.
  if (path.includes("\uFFFD") || path.split("/").length > pathPartsMax) return nameGuard;
  if (facts === undefined && found.kind === "special") return unreadableGuard;
  if (facts?.type === "special" || found.kind === "special") return specialGuard;
  if (facts?.type === "file" && (facts.mode & 0o6000) !== 0) return privilegeGuard;
  if (facts?.type === "link" && linkLeaves(path, target ?? "/", judging.workspace)) return leavingGuard;
  const named =
    guardOfName(path, (facts?.type ?? before) === "folder") ??
    guardOfContent(path, facts?.type, at) ??
    guardOfRepository(path, judging.workspace);
  if (named === undefined) return undefined;
  // A guard is lifted only if this file existed before and the operator wrote its exact name into the scope.
  return before !== absent && judging.allowed.has(path) ? undefined : named;
}

/** The difference in the form of a trace. */
export function changeOf(difference: Difference): WorkspaceChange {
  const { path, kind, bytes, guard } = difference;
  return { path, kind, bytes, guarded: guard !== undefined };
}

/** A reason for which no server may write a path, even if its scope permits the folder around it. */
type Guard = {
  readonly id: string;
  readonly why: string;
  /** True for a name that an operator can allow; false for an entry that is never written. */
  readonly allowable: boolean;
};

/** The guard of a file that programs of the user execute or obey, by its name. `path` is relative to the workspace. */
export function guardOfName(path: string, isFolder: boolean): Guard | undefined {
  return allowable(obeyedFile(path, isFolder));
}

/** The guard of a file whose content tells that a program obeys it. `type`: what it is now; undefined = it is gone. */
export function guardOfContent(path: string, type: EntryType | undefined, at: string): Guard | undefined {
  if (type === undefined || type === "folder" || !tellsByContent(path)) return undefined;
  // A link may come to lead to any content.
  const text = type === "file" ? contentOf(at, obeyedContentBytesMax) : undefined;
  return allowable(obeyedByContent(path, text));
}

/** The guard of what git obeys in a repository that the workspace holds already, such as a bare one. */
function guardOfRepository(path: string, workspace: string): Guard | undefined {
  const found = repositoriesAround(path).some((folder) => {
    const head = contentOf([workspace, folder, "HEAD"].filter((part) => part !== "").join("/"), obeyedContentBytesMax);
    return head !== undefined && isRepositoryHead(head);
  });
  return found ? allowable(repositoryPart) : undefined;
}

function allowable(file: ObeyedFile | undefined): Guard | undefined {
  return file === undefined ? undefined : { ...file, allowable: true };
}

const specialGuard: Guard = {
  id: "special-file",
  why: "devices, pipes and sockets do not belong into a workspace",
  allowable: false,
};
const privilegeGuard: Guard = {
  id: "setuid",
  why: "a program with these bits runs with the rights of its owner",
  allowable: false,
};
const leavingGuard: Guard = { id: "link-leaves", why: "the link leads out of the workspace", allowable: false };
const unreadableGuard: Guard = { id: "unreadable", why: "what it holds cannot be looked at", allowable: false };
const nameGuard: Guard = { id: "name", why: "its name is not text, or its path is too deep", allowable: false };

/**
 * True iff a symbolic link at `path` (relative to the workspace) may lead out of it. `..` counts only in front: behind
 * a name it would climb from wherever that name leads, and the name may be a link itself.
 */
export function linkLeaves(path: string, target: string, workspace: string): boolean {
  const inside = target === workspace || target.startsWith(`${workspace}/`);
  if (target.startsWith("/") && !inside) return true;
  const parts = (inside ? target.slice(workspace.length) : target)
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  const climbs = parts.findIndex((part) => part !== "..");
  const ups = climbs === -1 ? parts.length : climbs;
  const depth = inside ? 0 : path.split("/").length - 1;
  return ups > depth || parts.slice(ups).includes("..");
}
