/**
 * What a server that is isolated by default misses among files: a path of this machine that its projection does not have,
 * or may not write. Programs look for files that are nowhere all the time, so what counts is what lies there outside.
 */
import { existsSync } from "node:fs";
import type { MissedFile, MissedIn } from "../../adapters/projection/parts.ts";
import { hasSecret } from "../../core/secret.ts";
import { isWithin, normalPath } from "../../core/isolation/scope-patterns.ts";
import type { EffectEvent, EffectTrace, ProjectionPlaces } from "../../core/isolation/effect-trace.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { groundsOf } from "../../mechanisms/projection/grounds.ts";
import { noiseOf } from "../../mechanisms/projection/noise.ts";
import { breadthFault, spellingFault } from "../../policy/isolation/path-faults.ts";
import { givesAway, isObeyedPlace } from "../../policy/isolation/sensitive.ts";

/** What a failed attempt at a file asks for, and the entry that gives it; undefined where there is nothing to tell. */
export function missedFile(
  { order, seen, places }: MissedIn,
  exists: (path: string) => boolean = existsSync,
): MissedFile | undefined {
  const path = normalPath(seen.target ?? seen.path ?? "");
  const hidden = order.scope.files.workspace.mode === "none";
  if (path === undefined || (!hidden && places.workspace.some((folder) => isWithin(path, folder)))) return undefined;
  const event: EffectEvent = { ...seen, sequence: 0, phase: "call", count: 1, outcome: "denied" };
  if (noiseOf(event, groundsOf(order, traceOf(event, places), undefined)) !== undefined) return undefined;
  const own = places.code.some((folder) => isWithin(path, folder));
  const shown = plainOf(path, places);
  // Nothing that gives keys away is proposed, and no text that may be a key is repeated.
  if (hasSecret(shown) || givesAway(shown) !== undefined || isObeyedPlace(shown)) return undefined;
  if (event.action !== "file-read") return own ? { path: shown, kind: "own-code" } : missedFolder(path, places, exists);
  if (own || !exists(path) || !isNameable(shown)) return undefined;
  return isOpen(order, "read", shown) ? undefined : { path: shown, kind: "read", entry: shown };
}

/** Programs write a file beside its place and rename it, so it is the folder that has to be there. */
function missedFolder(
  path: string,
  places: ProjectionPlaces,
  exists: (path: string) => boolean,
): MissedFile | undefined {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (folder === "" || !exists(folder)) return undefined;
  const [shown, entry] = [plainOf(path, places), plainOf(folder, places)];
  if (givesAway(entry) !== undefined || !isNameable(entry)) return undefined;
  return { path: shown, kind: "write", entry };
}

function isNameable(entry: string): boolean {
  return spellingFault(entry) === undefined && breadthFault(entry) === undefined;
}

/** The scope names it already, so something else was the matter. */
function isOpen({ scope }: IsolationOrder, kind: "read" | "write", entry: string): boolean {
  return scope.files[kind].some((one) => entry === one || entry.startsWith(`${one}/`));
}

function plainOf(path: string, { home }: ProjectionPlaces): string {
  return home !== "/" && isWithin(path, home) ? `~${path.slice(home.length)}` : path;
}

/** Nothing is private to the server here: what it misses in its own home folder may lie in that of the user. */
function traceOf(event: EffectEvent, places: ProjectionPlaces): EffectTrace {
  return { tier: "A", complete: true, dropped: 0, places: { ...places, scratch: [] }, events: [event], changes: [] };
}
