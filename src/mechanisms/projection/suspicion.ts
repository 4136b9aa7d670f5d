/**
 * Events in scope that are still strange, as data (semantic suspicion of arXiv 2602.14281, decided by rule). They are not
 * certain, so consent is asked; a judge, where one is configured, may be stricter and never laxer. Only numbers that grow
 * with the trace are compared, so more events never make a call look better.
 */
import type { LabelSource } from "../../core/contract.ts";
import { changesFiles, type EffectEvent } from "../../core/isolation/effect-trace.ts";
import { isWithin, normalPath } from "../../core/isolation/scope-patterns.ts";
import { destinationOf, looksForLoopback } from "./destinations.ts";
import { leaves, mayExecute, mayLeave, mayWriteAnything } from "./effect-rules.ts";
import { inWorkspace, isSystemRead, leadsToScope, mayRead, normalIn } from "./file-scope.ts";
import { type Finding, type Grounds, shown, took } from "./grounds.ts";
import { baseName, isListed, mayStart } from "./scope-rules.ts";

/** Files that a call may read beside those that its arguments name, before it also sends data. */
export const filesReadMax = 16;

/** Places outside of the scope that a call may look for and not find. */
export const placesProbedMax = 24;

/** Files that one call may delete without its arguments naming them. */
export const filesDeletedMax = 16;

/** Bytes that a call may send when its tool only reads from outside. */
export const readerBytesMax = 262_144;

/** Programs that carry data away. */
const carriers = new Set(
  [
    "curl wget nc ncat netcat socat telnet ftp tftp ssh scp sftp rsync",
    "rclone aws gsutil az gcloud dig nslookup openssl",
  ].flatMap((row) => row.split(" ")),
);
/** Programs that put many files into one. */
const packers = new Set(["tar", "zip", "gzip", "bzip2", "xz", "zstd", "7z", "7za", "7zr", "rar", "cpio", "dd"]);
type Seen = {
  readonly grounds: Grounds;
  /** Events that are neither noise nor held against the call already. */
  readonly events: readonly EffectEvent[];
};

export type SuspicionRule = {
  readonly id: string;
  /** The suspicious act as a clause, or undefined if the rule does not fit. */
  readonly what: (seen: Seen) => string | undefined;
};

export const suspicionRules: readonly SuspicionRule[] = [
  {
    id: "suspicion.loopback",
    what: ({ events, grounds }) => {
      const found = events.find((event) => looksForLoopback(event, grounds));
      return found === undefined ? undefined : `looked for a service of this machine at ${shown(destinationOf(found))}`;
    },
  },
  {
    id: "suspicion.collects-and-sends",
    what: (seen) => {
      const { size } = new Set(unasked(seen, ({ action }) => action === "file-read"));
      // Reads that were not kept are reads all the same.
      const files = size + (size === 0 ? 0 : seen.grounds.trace.dropped);
      if (files <= filesReadMax || !seen.events.some(leaves)) return undefined;
      return `read ${files} files that the call does not name, and sent something`;
    },
  },
  {
    id: "suspicion.credentials-and-sends",
    what: (seen) => {
      if (!seen.events.some(leaves)) return undefined;
      const found = unasked(seen, ({ action, path }) => action === "file-read" && holdsCredentials(path))[0];
      return found === undefined ? undefined : `read ${shown(found)}, where keys are kept, and sent something`;
    },
  },
  {
    id: "suspicion.writes-elsewhere",
    what: ({ grounds }) => {
      const { called, trace } = grounds;
      if (called?.paths === undefined || called.paths.length === 0) return undefined;
      const found = trace.changes.find(({ path }) => !isNamedChange(path, grounds));
      return found === undefined ? undefined : `changed ${shown(found.path)}, which no argument of the call names`;
    },
  },
  {
    id: "suspicion.deletes-much",
    what: ({ grounds }) => {
      const { length } = grounds.trace.changes.filter(
        ({ kind, path }) => kind === "deleted" && !isNamedChange(path, grounds),
      );
      return length <= filesDeletedMax ? undefined : `deleted ${length} files that the call does not name`;
    },
  },
  {
    id: "suspicion.carrier",
    what: ({ events, grounds }) => {
      const stays = grounds.called !== undefined && !mayLeave(grounds.called.effects);
      const found = stays ? events.find((event) => starts(event, grounds, carriers)) : undefined;
      return found === undefined ? undefined : `started ${shown(found.program)}, which carries data away`;
    },
  },
  {
    id: "suspicion.packs-and-sends",
    what: ({ events, grounds }) => {
      const found = events.find((event) => starts(event, grounds, packers));
      return found === undefined || !events.some(leaves)
        ? undefined
        : `packed something with ${shown(found.program)} and sent something`;
    },
  },
  {
    id: "suspicion.probes",
    what: ({ grounds }) => {
      const { size } = new Set(
        grounds.trace.events
          .filter((event) => isProbe(event, grounds))
          .map(({ path }) => normalPath(path ?? "") ?? path),
      );
      return size <= placesProbedMax ? undefined : `looked for ${size} files outside of its scope`;
    },
  },
  {
    id: "suspicion.reader-sends",
    what: ({ events, grounds: { called } }) => {
      const writesOut = called?.effects.some((effect) => !effect.startsWith("read")) === true;
      if (called === undefined || writesOut) return undefined;
      const bytes = events.reduce((all, event) => (event.action === "net-send" ? all + (event.bytes ?? 0) : all), 0);
      return bytes <= readerBytesMax ? undefined : `sent ${bytes} bytes, although its tool only reads`;
    },
  },
];

/** Events of a call within its scope that a rule finds suspicious. */
export function suspicions(events: readonly EffectEvent[], grounds: Grounds): readonly Finding[] {
  return suspicionRules.flatMap((rule): readonly Finding[] => {
    const what = rule.what({ events, grounds });
    const way = "look at what it did before you let it pass";
    return what === undefined ? [] : [{ rule: rule.id, code: "SG-SUSPICION", verdict: "confirm", what, way }];
  });
}

/** Files that keep keys in a workspace; they belong to the workspace, so reading one is no violation by itself. */
function holdsCredentials(path: string | undefined): boolean {
  return /\/(?:\.env(?:\.[^/]+)?|\.npmrc|\.netrc|credentials(?:\.json)?|secrets?\.(?:json|ya?ml|toml)|id_(?:rsa|ed25519|ecdsa)|[^/]+\.pem)$/.test(
    path ?? "",
  );
}

/** Paths of the workspace of such events that no argument of the call names. */
function unasked({ events, grounds }: Seen, fits: (event: EffectEvent) => boolean): readonly string[] {
  return events.flatMap((event) =>
    event.path !== undefined &&
    fits(event) &&
    took(event) &&
    inWorkspace(event.path, grounds) &&
    !isNamed(event.path, grounds)
      ? [event.path]
      : [],
  );
}

/** An argument of the call names this file, or a folder around it. */
export function isNamed(path: string | undefined, grounds: Grounds): boolean {
  const normal = normalIn(path, grounds);
  return normal !== undefined && namedIn(grounds).some((base) => isWithin(normal, base));
}

const namedKnown = new WeakMap<Grounds, readonly string[]>();

/** Paths that the arguments name; a relative path may be in each folder of the workspace. */
function namedIn(grounds: Grounds): readonly string[] {
  const made = namedKnown.get(grounds);
  if (made !== undefined) return made;
  const { called, trace } = grounds;
  const bases = (called?.paths ?? []).flatMap((given) =>
    given.startsWith("/") ? [given] : trace.places.workspace.map((folder) => `${folder}/${given}`),
  );
  const named = bases.flatMap((base) => normalPath(base) ?? []);
  namedKnown.set(grounds, named);
  return named;
}

function isNamedChange(path: string, grounds: Grounds): boolean {
  return (
    grounds.trace.places.workspace.some((folder) => isNamed(`${folder}/${path}`, grounds)) || isKeptByGit(path, grounds)
  );
}

/** Where git keeps what the call names: a file in its index, and the content among its objects. Refs and settings are more. */
function isKeptByGit(path: string, grounds: Grounds): boolean {
  const repository = /^((?:.*\/)?)\.git\/(?:index(?:\.lock)?|objects\/.+)$/.exec(path)?.[1];
  if (repository === undefined) return false;
  const roots = grounds.trace.places.workspace.map((folder) => normalPath(`${folder}/${repository}`));
  return roots.some((root) => root !== undefined && namedIn(grounds).some((base) => isWithin(base, root)));
}

/** One of these programs, that the scope does not name. */
function starts(event: EffectEvent, grounds: Grounds, programs: ReadonlySet<string>): boolean {
  const { action, outcome, program } = event;
  if (action !== "process-spawn" || outcome === "failed" || isListed(event, grounds)) return false;
  return programs.has(baseName(program));
}

function isProbe({ action, outcome, path }: EffectEvent, grounds: Grounds): boolean {
  const nothing = outcome === "failed" || outcome === "denied";
  if (action !== "file-read" || !nothing || isSystemRead(path, grounds) || leadsToScope(path, grounds)) return false;
  return !mayRead(path, grounds);
}

/**
 * Events that are in scope, no noise, and that neither declared labels nor the arguments of the call explain: what a judge
 * is asked about. Programs that need no judge leave their start out, and nothing else.
 */
export function unexplained(
  events: readonly EffectEvent[],
  grounds: Grounds,
  unjudged: readonly string[],
): readonly EffectEvent[] {
  const { called } = grounds;
  if (called === undefined) return [];
  // An unlabelled tool may do everything that its process can, which explains nothing.
  const guessed: readonly LabelSource[] = ["unknown", "enforced", "inference"];
  const declared = guessed.includes(called.source) ? [] : called.effects;
  const isElsewhere = ({ path, target }: EffectEvent): boolean =>
    called.paths !== undefined && ![path, target].some((one) => isNamed(one, grounds));
  return events.filter((event) => {
    if (event.action === "file-read") return isElsewhere(event);
    if (changesFiles(event)) return !mayWriteAnything(declared) || isElsewhere(event);
    if (event.action !== "process-spawn") return leaves(event) && !mayLeave(declared);
    const { program } = event;
    if (unjudged.includes(baseName(program)) || unjudged.includes(program ?? "")) return false;
    return !mayExecute(declared) && !mayStart(event, grounds);
  });
}
