/**
 * What an event is about, so that many about one thing cannot crowd out one about another. A server writes its own
 * events by acting: whatever it can do in any number (arguments of a program, files of one folder, ports of its own
 * loopback) must share one subject, and what says nothing must weigh less than what does.
 */
import type { EffectEvent, ProjectionPlaces } from "../../core/effect-trace.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import { sensitiveNameIn, weightClass } from "./event-weight.ts";

export type Standing = {
  /** 0 weighs most. */
  readonly weight: number;
  readonly subject: string;
};

/** Parts of a path that stand for it where it lies in no place of the projection. */
const partsMax = 3;

/** Folders with every program of the machine: what lies there is no program of the server. */
const systemFolder = /^\/(?:usr|bin|sbin|opt|nix)?(?:\/(?:s?bin|local|local\/bin|store))?$/;

/** Itself, and addresses that only the broker answers, whose own event says where it went (RFC 2544). */
const quietAddress = /^(?:127\.|::1$|198\.1[89]\.)/;

/** Weight and subject of an event. */
export function standingOf(event: EffectEvent, places: ProjectionPlaces): Standing {
  const weight = weightClass(event);
  if (weight === 0) return { weight, subject: keyName(event.path, places) ?? keyName(event.target, places) ?? "" };
  const subject = subjectOf(event, places);
  if (weight === 2) return { weight: 3, subject };
  return { weight: isQuiet(event, places) ? 2 : 1, subject };
}

/** The name that looks like a key, and whether it is in the home of the user, where keys are. */
function keyName(path: string | undefined, { home }: ProjectionPlaces): string | undefined {
  const name = path === undefined ? undefined : sensitiveNameIn(path);
  return name === undefined || path === undefined ? undefined : `${isWithin(path, home) ? "~" : ""}${name}`;
}

function subjectOf({ path, target, program, domain, address, detail }: EffectEvent, places: ProjectionPlaces): string {
  if (program !== undefined) return program;
  const host = domain ?? address;
  if (host !== undefined) return host;
  if (path === undefined) return detail ?? "";
  return target === undefined ? placeOf(path, places) : `${placeOf(path, places)} ${placeOf(target, places)}`;
}

/** The folder of the projection in which a path lies, or where it begins. */
function placeOf(path: string, { workspace, scratch, code }: ProjectionPlaces): string {
  const found = [workspace, scratch, code].flatMap((folders) => folders.find((one) => isWithin(path, one)) ?? []);
  return found[0] ?? path.split("/", partsMax + 1).join("/");
}

/** Nobody is touched by it: folders that vanish, the server's own programs, its own loopback. */
function isQuiet({ path, target, program, address, domain, grade }: EffectEvent, places: ProjectionPlaces): boolean {
  const vanishes = (one: string): boolean => places.scratch.some((folder) => isWithin(one, folder));
  if (program !== undefined)
    return places.code.some((folder) => !systemFolder.test(folder) && isWithin(program, folder));
  if (address !== undefined) return domain === undefined && grade !== "broker" && quietAddress.test(address);
  return path !== undefined && vanishes(path) && (target === undefined || vanishes(target));
}
