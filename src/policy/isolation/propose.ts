/**
 * The least scope that would have let a server do what it was seen doing (lifecycle.md 2, `learn`), as policy text with
 * the evidence beside each line. It is a proposal for the operator to read, so it never contains an entry that gives
 * access to keys; it only reports such an entry.
 */
import type { EffectEvent, EffectTrace, ProjectionPlaces } from "../../core/isolation/effect-trace.ts";
import { isWithin, normalPath } from "../../core/isolation/scope-patterns.ts";
import { breadthFault, spellingFault } from "./path-faults.ts";
import { destinationGivesAway, givesAway, isObeyedPlace } from "./sensitive.ts";
import { destinationFault } from "./destination-faults.ts";

/** The trace of one call; without a tool, the trace outside of calls. */
export type Watched = { readonly tool: string | undefined; readonly trace: EffectTrace };

/** One entry of the scope: where it stands, its text, and why. */
export type ProposedEntry = {
  readonly place: "files.read" | "files.write" | "net.allow" | "exec.programs";
  /** The tool that alone needs it; undefined = the server. */
  readonly tool: string | undefined;
  readonly value: string;
  readonly evidence: string;
};

export type Proposal = {
  readonly server: string;
  readonly workspace: { readonly mode: "none" | "read" | "overlay"; readonly evidence: string };
  readonly entries: readonly ProposedEntry[];
  /** Recorded events that are not proposed, one sentence each. */
  readonly withheld: readonly string[];
  /** The proposal as a policy. */
  readonly text: string;
};

/** Files of one folder beyond which the folder is named in their place. */
const filesNamedMax = 4;

/** Entries of one place; for a server that touches more, the operator must state the purpose. */
const entriesMax = 64;

type Use = { readonly place: ProposedEntry["place"]; readonly value: string };
type Seen = { times: number; readonly tools: Set<string | undefined> };

export type Surroundings = {
  /** Says which events runtimes cause by themselves, so that they need no line. */
  readonly noise: (event: EffectEvent, places: ProjectionPlaces) => boolean;
  /** Whether a path is there now, outside of any projection: a scope can only name what is. */
  readonly exists: (path: string) => boolean;
};

/** A denied attempt counts as a wish: what a server tried is what it needs. */
export function proposeScope(server: string, watched: readonly Watched[], around: Surroundings): Proposal {
  const seen = new Map<string, Seen & Use>();
  const withheld = new Set<string>();
  const reached = new Set(watched.flatMap(({ trace }) => trace.events.flatMap(reachedName)));
  let reads = 0;
  let writes = 0;
  for (const { tool, trace } of watched) {
    writes += trace.changes.length;
    for (const event of trace.events) {
      if (inWorkspace(event, trace.places)) {
        if (event.action === "file-read") reads += event.count;
        else if (event.outcome !== "failed") writes += event.count;
        if (event.action.startsWith("file-")) continue;
      }
      // A name that was asked for and then reached is a wish to reach it there, and nowhere else.
      const asked = event.action === "dns-query" && reached.has(event.domain ?? "");
      if (asked || around.noise(event, trace.places)) continue;
      for (const wish of usesOf(event, trace.places).map((use) => nameable(use, trace.places, around))) {
        if (typeof wish === "string") withheld.add(wish);
        else note(seen, withheld, { use: wish, tool, event });
      }
    }
  }
  const entries = bounded(joined([...seen.values()]), withheld);
  const workspace = {
    mode: writes > 0 ? "overlay" : reads > 0 ? "read" : "none",
    evidence: reads + writes === 0 ? "not touched" : `read ${times(reads)}, written ${times(writes)}`,
  } as const;
  const proposal = { server, workspace, entries, withheld: [...withheld] };
  return { ...proposal, text: textOf(proposal) };
}

function reachedName({ action, domain }: EffectEvent): readonly string[] {
  return domain !== undefined && (action === "net-connect" || action === "net-send") ? [domain] : [];
}

/** The use as an entry that a policy may hold, or why there can be none, as a sentence. */
function nameable(use: Use, places: ProjectionPlaces, { exists }: Surroundings): Use | string {
  if (!use.place.startsWith("files.")) return wishFault(use, places) ?? use;
  const verb = use.place === "files.write" ? "write" : "read";
  const wanted = `it wanted to ${verb} ${use.value}`;
  if (spellingFault(use.value) !== undefined) return `${wanted}, which a scope cannot name: name a folder above it`;
  const absolute = (path: string): string => (path.startsWith("~") ? places.home + path.slice(1) : path);
  if (use.place === "files.write" && within(absolute(use.value), places.code)) {
    return `it wanted to write in ${folderOf(use.value)}, which is its own code: tell it another place for its files`;
  }
  let value = use.value;
  if (use.place === "files.write" && !exists(absolute(value))) {
    const settings = value.startsWith("~/.");
    while (value !== "" && value !== "~" && !exists(absolute(value))) value = folderOf(value);
    // The home folder of a projection is its own and empty, which is enough for what runtimes keep there.
    if (settings) return `${wanted}: that vanishes with its private home folder, name it in files.write if it must not`;
  }
  const broad = breadthFault(value === "" ? "/" : value);
  if (broad === undefined) return wishFault({ ...use, value }, places) ?? { ...use, value };
  const way = use.place === "files.write" ? "make a folder for it and name that" : "name what it needs in it";
  return `${wanted}, and an entry for that would open ${broad}: ${way}`;
}

function within(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(path, folder));
}

function note(
  seen: Map<string, Seen & Use>,
  withheld: Set<string>,
  { use, tool, event }: { readonly use: Use; readonly tool: string | undefined; readonly event: EffectEvent },
): void {
  const gives = use.place === "net.allow" ? destinationGivesAway(use.value) : givesAway(use.value);
  if (gives !== undefined) {
    const verb = { "files.read": "read", "files.write": "write", "net.allow": "reach", "exec.programs": "start" }[
      use.place
    ];
    withheld.add(`it wanted to ${verb} ${use.value}, which gives away ${gives}`);
    return;
  }
  const key = `${use.place} ${use.value}`;
  let known = seen.get(key);
  if (known === undefined) seen.set(key, (known = { ...use, times: 0, tools: new Set() }));
  known.times += event.count;
  known.tools.add(event.phase === "call" ? tool : undefined);
}

function inWorkspace({ path }: EffectEvent, { workspace }: ProjectionPlaces): boolean {
  const plain = path === undefined ? undefined : normalPath(path);
  return plain !== undefined && workspace.some((folder) => isWithin(plain, folder));
}

/** The entries that would have put an event in scope; none for what needs no entry or can have none. */
function usesOf(event: EffectEvent, places: ProjectionPlaces): readonly Use[] {
  switch (event.action) {
    case "file-read":
      // A file that is not there needs no permission: its absence was the answer.
      return event.outcome === "failed" ? [] : pathUse("files.read", event.path, places);
    case "file-write":
    case "file-create":
    case "file-delete":
    case "file-permissions":
    case "file-link":
      return pathUse("files.write", event.path, places);
    case "file-rename":
      return [...pathUse("files.write", event.path, places), ...pathUse("files.write", event.target, places)];
    case "net-connect":
    case "net-send":
    case "dns-query":
      return destinationUse(event);
    case "process-spawn":
      return programUse(event, places);
    case "net-listen":
    case "process-signal":
    case "limit-hit":
    case "system-call":
      return [];
  }
}

/** A server may always start what it is made of; a search along PATH finds nothing in each folder but one. */
function programUse({ program, outcome }: EffectEvent, { code }: ProjectionPlaces): readonly Use[] {
  if (program === undefined || outcome === "failed" || program === "/proc/self/exe") return [];
  const own = code.filter((folder) => !systemFolders.has(folder));
  return within(program, own) ? [] : [{ place: "exec.programs", value: program }];
}

/** Part of what every server may read, and not of what it is made of. */
const systemFolders = new Set("/usr /bin /sbin /lib /lib32 /lib64 /usr/bin /usr/local /usr/local/bin /opt".split(" "));

function pathUse(
  place: "files.read" | "files.write",
  path: string | undefined,
  { home, code, scratch }: ProjectionPlaces,
): readonly Use[] {
  const plain = path === undefined ? undefined : normalPath(path);
  if (plain === undefined) return [];
  // A home folder inside a private one is not private itself.
  const vanishes = within(
    plain,
    isWithin(plain, home) ? scratch.filter((one) => !isWithin(home, one) || one === home) : scratch,
  );
  if (vanishes || (place === "files.read" && within(plain, code))) return [];
  return [{ place, value: isWithin(plain, home) ? `~${plain.slice(home.length)}` : plain }];
}

function destinationUse({ domain, address, port, action, transport }: EffectEvent): readonly Use[] {
  const host = domain ?? address;
  if (host === undefined || transport === "unix") return [];
  if (action !== "dns-query" && port === undefined) return [];
  const name = host.includes(":") ? `[${host}]` : host;
  return [{ place: "net.allow", value: `${name}:${action === "dns-query" ? 443 : port}` }];
}

/** Many files of one folder become the folder. */
function joined(uses: readonly (Seen & Use)[]): readonly ProposedEntry[] {
  const byFolder = new Map<string, (Seen & Use)[]>();
  const single: (Seen & Use)[] = [];
  for (const use of uses) {
    if (!use.place.startsWith("files.")) {
      single.push(use);
      continue;
    }
    const key = `${use.place} ${folderOf(use.value)}`;
    const known = byFolder.get(key);
    if (known === undefined) byFolder.set(key, [use]);
    else known.push(use);
  }
  const entries = single.map((use) => entryOf(use, evidenceOf(use)));
  for (const group of byFolder.values()) {
    const [first] = group;
    const folder = first === undefined ? "" : folderOf(first.value);
    // A folder that gives keys away, or is the home itself, is never named for the sake of its files.
    const nameable = folder.includes("/") && givesAway(folder) === undefined && breadthFault(folder) === undefined;
    if (first === undefined || group.length <= filesNamedMax || !nameable) {
      entries.push(...group.map((use) => entryOf(use, evidenceOf(use))));
      continue;
    }
    const all: Seen & Use = {
      place: first.place,
      value: folder,
      times: group.reduce((sum, use) => sum + use.times, 0),
      tools: new Set(group.flatMap((use) => [...use.tools])),
    };
    entries.push(entryOf(all, `${group.length} files, ${evidenceOf(all)}`));
  }
  const needed = entries.filter((entry) => !entries.some((other) => other !== entry && covers(other, entry)));
  return needed.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}

/** A folder that is named for the same tool, or for all, needs no second line for what is in it. */
function covers(wide: ProposedEntry, narrow: ProposedEntry): boolean {
  const same = wide.place === narrow.place && wide.place.startsWith("files.");
  const holds = narrow.value.startsWith(`${wide.value}/`) || (wide.value === narrow.value && wide.tool !== narrow.tool);
  return same && holds && (wide.tool === undefined || wide.tool === narrow.tool);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function entryOf({ place, value, tools }: Seen & Use, evidence: string): ProposedEntry {
  const [only] = tools;
  return { place, value, tool: tools.size === 1 ? only : undefined, evidence };
}

function evidenceOf({ times: count, tools }: Seen): string {
  const names = [...tools].map((tool) => tool ?? "start or idle time").toSorted();
  const shown = names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
  return `${times(count)}, in ${shown}`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function keyOf({ tool, place, value }: ProposedEntry): string {
  return `${tool ?? ""}\u0000${place}\u0000${value}`;
}

function bounded(entries: readonly ProposedEntry[], withheld: Set<string>): readonly ProposedEntry[] {
  const counts = new Map<string, number>();
  return entries.filter(({ place, tool }) => {
    const key = `${tool ?? ""} ${place}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === entriesMax + 1)
      withheld.add(`more than ${entriesMax} entries of ${place}: say by hand what it is for`);
    return count <= entriesMax;
  });
}

type Untold = Omit<Proposal, "text">;

function textOf(proposal: Untold): string {
  const { server, workspace, entries, withheld } = proposal;
  const own = entries.filter(({ tool }) => tool === undefined);
  const at = (place: ProposedEntry["place"], list: readonly ProposedEntry[]): readonly ProposedEntry[] =>
    list.filter((entry) => entry.place === place);
  const programs = at("exec.programs", entries);
  const allowed = at("net.allow", entries);
  const lines = [
    // A whole policy, so that it can be checked and used as it is.
    "version: 1",
    "isolation:",
    "  servers:",
    `    ${quoted(server)}:`,
    "      files:",
    ...listLines("        read", at("files.read", own)),
    ...listLines("        write", at("files.write", own)),
    `        workspace: {mode: ${workspace.mode}} # ${workspace.evidence}`,
    `      net: # ${allowed.length === 0 ? "nothing was reached" : "by name; other names do not resolve"}`,
    `        mode: ${allowed.length === 0 ? "none" : "list"}`,
    ...listLines("        allow", at("net.allow", own)),
    "      exec:",
    `        mode: ${programs.length === 0 ? "none # no program was started" : "list"}`,
    ...listLines("        programs", at("exec.programs", own)),
    ...toolLines(entries.filter(({ tool }) => tool !== undefined)),
  ];
  return [...lines, ...withheld.map((one) => `# not proposed: ${comment(one)}`), ""].join("\n");
}

const toolKeys = {
  "files.read": "read",
  "files.write": "write",
  "net.allow": "allow",
  "exec.programs": "programs",
} as const;

function toolLines(entries: readonly ProposedEntry[]): readonly string[] {
  const tools = [...new Set(entries.flatMap(({ tool }) => tool ?? []))].toSorted();
  if (tools.length === 0) return [];
  return [
    "      tools:",
    ...tools.flatMap((tool) => [
      `        ${quoted(tool)}:`,
      ...Object.entries(toolKeys).flatMap(([place, key]) =>
        listLines(
          `          ${key}`,
          entries.filter((entry) => entry.tool === tool && entry.place === place),
        ),
      ),
    ]),
  ];
}

function listLines(head: string, entries: readonly ProposedEntry[]): readonly string[] {
  if (entries.length === 0) return [];
  const indent = `${/^ */.exec(head)?.[0] ?? ""}  `;
  return [`${head}:`, ...entries.map(({ value, evidence }) => `${indent}- ${quoted(value)} # ${comment(evidence)}`)];
}

/** JSON strings are YAML: whatever a server called its file stays one scalar on one line. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A comment ends with its line, so nothing in it may begin another. */
function comment(text: string): string {
  return text.replace(/[^\u0020-\u007e]/g, "?");
}

type Wish = { readonly place: "files.read" | "files.write" | "net.allow" | "exec.programs"; readonly value: string };

/** Folders of the machine: a write there changes the programs or the rights of other users. */
const machineFolders = /^\/(?:etc|usr|bin|sbin|boot|lib[0-9x]*)(?:\/|$)/;

/** Views into processes that run, and names for what has no place. */
const passing = /^\/(?:proc|dev|memfd:)/;

/** Why this wish cannot become an entry, as a sentence; undefined if it can. */
export function wishFault({ place, value }: Wish, { scratch }: ProjectionPlaces): string | undefined {
  switch (place) {
    case "files.read":
      return undefined;
    case "files.write":
      if (isObeyedPlace(value)) return `it wanted to write ${value}, which other programs would obey`;
      return machineFolders.test(value) ? `it wanted to write ${value}, which is the machine's own` : undefined;
    case "net.allow":
      return destinationFault(value) === undefined ? undefined : `it wanted to reach ${value}, which names no host`;
    case "exec.programs": {
      const named = value.includes("/")
        ? spellingFault(value) === undefined
        : /^[^\s*?[\]{}\p{C}]{1,255}$/u.test(value);
      if (!named || passing.test(value)) return `it wanted to start ${value}, which is not a name of a program`;
      const planted = scratch.some((folder) => isWithin(value, folder));
      return planted ? `it wanted to start ${value}, which it made itself` : undefined;
    }
  }
}
