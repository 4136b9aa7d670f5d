/**
 * What no server may write into a workspace, whatever its scope says of the folder around it: by its name, since programs of
 * the user obey it (core/obeyed-files.ts), or by what it is.
 */
import { obeyedFile } from "../../core/obeyed-files.ts";

export type Guard = {
  readonly id: string;
  readonly why: string;
  /** True for a name that an operator can allow; false for what is never written. */
  readonly allowable: boolean;
};

/** Why a server may not write this path by its name, or undefined. `path` is relative to the workspace. */
export function guardOfName(path: string, isFolder: boolean): Guard | undefined {
  const file = obeyedFile(path, isFolder);
  return file === undefined ? undefined : { ...file, allowable: true };
}

export const specialGuard: Guard = {
  id: "special-file",
  why: "devices, pipes and sockets do not belong into a workspace",
  allowable: false,
};
export const privilegeGuard: Guard = {
  id: "setuid",
  why: "a program with these bits runs with the rights of its owner",
  allowable: false,
};
export const leavingGuard: Guard = { id: "link-leaves", why: "the link leads out of the workspace", allowable: false };
export const unreadableGuard: Guard = { id: "unreadable", why: "what it holds cannot be looked at", allowable: false };
export const nameGuard: Guard = { id: "name", why: "its name is no text, or its path is too deep", allowable: false };

/**
 * True iff a symbolic link at `path` (relative to the workspace) may lead out of it. `..` counts only in front: behind a
 * name it would climb from wherever that name leads, and the name may be a link itself.
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
