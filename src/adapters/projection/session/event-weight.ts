/**
 * Weight and subject of events, for keeping the important ones of a trace that is too long, and for noise. They decide
 * nothing: the mechanism `projection` compares paths with a scope, whereas this file reads names only.
 */
import { type EffectEvent, type ProjectionPlaces, changesFiles } from "../../../core/isolation/effect-trace.ts";
import type { Sighting } from "../parts.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";

/** Names of files that usually hold secrets, and of files that other programs execute or obey. */
const sensitiveName =
  /\/(?:\.(?:ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|git-credentials|env|vault-token|pgpass|my\.cnf|bash_history|zsh_history|bashrc|bash_profile|profile|zshrc|zprofile|mcp\.json|mozilla|password-store)(?:[./]|$)|\.config\/(?:gh|gcloud|hub|autostart|systemd)(?:\/|$)|\.git\/(?:hooks|config)(?:\/|$)|id_(?:rsa|dsa|ecdsa|ed25519)|(?:shadow|sudoers|crontab|authorized_keys|environ|core_pattern|docker\.sock)$|keyrings?\/|login data|cookies)/i;

/** Folders where packages of the system keep public files under such names. */
const systemFolder = /^\/(?:usr|lib|lib64|bin|sbin|etc\/ssl)\//;

/** True if the name alone says that reading or changing it matters. */
export function looksSensitive(path: string | undefined): boolean {
  return path !== undefined && sensitiveName.test(path) && !systemFolder.test(path);
}

/** The part of a path that looks like a key, in lower case; undefined where `looksSensitive` says no. */
export function sensitiveNameIn(path: string): string | undefined {
  return systemFolder.test(path) ? undefined : sensitiveName.exec(path)?.[0].toLowerCase();
}

/** True if something of the file system may have changed. A name can be forged, so it excuses nothing. */
export function mayWrite(sighting: Pick<Sighting, "action" | "outcome">): boolean {
  return sighting.outcome !== "denied" && changesFiles(sighting);
}

/** True for an ordinary read: it was not denied and does not look sensitive. */
export function isPlainRead(sighting: Pick<Sighting, "action" | "outcome" | "path">): boolean {
  return sighting.action === "file-read" && sighting.outcome !== "denied" && !looksSensitive(sighting.path);
}

/** 0 weighs most: what looks sensitive, then what changes, leaves or was denied, then plain reads. */
export function weightClass(sighting: Pick<Sighting, "action" | "outcome" | "path" | "target">): 0 | 1 | 2 {
  if (looksSensitive(sighting.path) || looksSensitive(sighting.target)) return 0;
  return isPlainRead(sighting) ? 2 : 1;
}

type EventRank = {
  /** 0 weighs most. */
  readonly weight: number;
  /** The object of the event, so that many events on one object cannot crowd out an event on another. */
  readonly subject: string;
};

/** Number of leading parts that represent a path outside of all folders of the projection. */
const partsMax = 3;

/** Folders with programs of the machine: a program there is not the server's own. */
const programFolder = /^\/(?:usr|bin|sbin|opt|nix)?(?:\/(?:s?bin|local|local\/bin|store))?$/;

/** Loopback, and addresses that only the broker answers (RFC 2544): the broker's own event names the destination. */
const quietAddress = /^(?:127\.|::1$|198\.1[89]\.)/;

/**
 * Weight and subject of an event. A server writes its own events by acting: whatever it can do in any number (arguments
 * of a program, files of one folder, ports of its own loopback) must share one subject, and an event without
 * information must weigh less than one with it.
 */
export function rankOf(event: EffectEvent, places: ProjectionPlaces): EventRank {
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

/** The folder of the projection that contains a path, or the path's leading parts. */
function placeOf(path: string, { workspace, scratch, code }: ProjectionPlaces): string {
  const found = [workspace, scratch, code].flatMap((folders) => folders.find((one) => isWithin(path, one)) ?? []);
  return found[0] ?? path.split("/", partsMax + 1).join("/");
}

/** True if the event affects only the server itself: folders that vanish, its own programs, its own loopback. */
function isQuiet({ path, target, program, address, domain, grade }: EffectEvent, places: ProjectionPlaces): boolean {
  const vanishes = (one: string): boolean => places.scratch.some((folder) => isWithin(one, folder));
  if (program !== undefined)
    return places.code.some((folder) => !programFolder.test(folder) && isWithin(program, folder));
  if (address !== undefined) return domain === undefined && grade !== "broker" && quietAddress.test(address);
  return path !== undefined && vanishes(path) && (target === undefined || vanishes(target));
}
