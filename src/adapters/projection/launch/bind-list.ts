/** The mounts of a projection, from wide to narrow. */
import { lstatSync } from "node:fs";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";

export type Bind =
  /** `source` is a path in the mount namespace of the launcher, which differs where it was staged or projected. */
  | { readonly kind: "bind"; readonly source: string; readonly target: string; readonly access: "read" | "write" }
  /** A private folder in memory. */
  | { readonly kind: "scratch"; readonly target: string }
  /** Covers a path that a wider bind would show. */
  | { readonly kind: "mask"; readonly target: string; readonly folder: boolean };

/** Mounts of one path: a later one covers an earlier one. Masks of a scope cover everything else. */
const order: Readonly<Record<Bind["kind"], number>> = { scratch: 0, bind: 1, mask: 2 };

/**
 * Wide paths first, so that a narrow bind is not hidden by a wide one; masks last, because a forbidden path stays
 * forbidden even if a bind names a part of it. Of several binds of one path only the strongest stays, of equal ones the
 * last.
 */
export function orderBinds(binds: readonly Bind[]): readonly Bind[] {
  const kept = new Map<string, Bind>();
  for (const bind of binds) {
    const key = `${bind.kind === "mask" ? "mask" : "mount"} ${bind.target}`;
    const before = kept.get(key);
    if (before === undefined || strength(bind) >= strength(before)) kept.set(key, bind);
  }
  const masks = [...kept.values()].filter((bind) => bind.kind === "mask");
  const ordered = [...kept.values()]
    .filter((bind) => bind.kind === "mask" || !masks.some((mask) => isWithin(bind.target, mask.target)))
    .toSorted(
      (one, other) =>
        Number(one.kind === "mask") - Number(other.kind === "mask") ||
        depth(one.target) - depth(other.target) ||
        one.target.localeCompare(other.target),
    );
  const shown = ordered.filter((bind, index) => !shownAlready(bind, ordered.slice(0, index)));
  return shown.filter((bind) => !isShownLink(bind, shown));
}

/**
 * True if a mount around it shows the bind as a link whose target has a mount of its own: nothing can be mounted on a
 * link, and nothing has to be.
 */
function isShownLink(bind: Bind, all: readonly Bind[]): boolean {
  if (bind.kind !== "bind" || bind.source === bind.target) return false;
  const around = all.findLast((wide) => wide.target !== bind.target && isWithin(bind.target, wide.target));
  // The target may be shown by a mount of its own or by one around it, such as the installation of an interpreter.
  const isShown = all.some((one) => one.kind === "bind" && isWithin(bind.source, one.target));
  if (around?.kind !== "bind" || !isShown) return false;
  const place = around.source + bind.target.slice(around.target.length);
  return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** True iff the nearest mount around a bind shows the same thing with the same rights. */
function shownAlready(bind: Bind, before: readonly Bind[]): boolean {
  const around = before.findLast((wide) => wide.target !== bind.target && isWithin(bind.target, wide.target));
  if (bind.kind !== "bind" || around?.kind !== "bind" || around.access !== bind.access) return false;
  return bind.source === around.source + bind.target.slice(around.target.length);
}

function strength(bind: Bind): number {
  return order[bind.kind] * 2 + (bind.kind === "bind" && bind.access === "write" ? 1 : 0);
}

function depth(path: string): number {
  return path.split("/").length;
}
