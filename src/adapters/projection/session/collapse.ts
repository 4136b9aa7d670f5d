/**
 * A trace within its bounds: equal events become one with a count, and of too many the weightier stay. Counts are
 * conserved: those of the events plus `dropped` equal the number of events added.
 *
 * A server chooses what it does, so it could crowd out the one event that matters by others. Against that each kind of
 * event (weight, action, outcome) keeps a few places of its own, and beyond them the largest of the lightest kinds
 * gives way first; in it, what has the most company of its own subject.
 */
import {
  type EffectEvent,
  type ProjectionPlaces,
  traceEventsMax,
  traceTextCharactersMax,
} from "../../../core/isolation/effect-trace.ts";
import { isWithin, normalPath } from "../../../core/isolation/scope-patterns.ts";
import { rankOf, isPlainRead } from "./event-weight.ts";
import type { Sighting } from "../parts.ts";
import { eventsOfKindMin } from "./session-limits.ts";

export type Collapsed = { readonly events: readonly EffectEvent[]; readonly dropped: number };

type Entry = { event: EffectEvent; readonly key: string };

/** Events of one weight, action and outcome, by subject. */
type Kind = { readonly weight: number; size: number; largest: number; readonly groups: Map<string, Entry[]> };

const nowhere: ProjectionPlaces = { home: "/nowhere", workspace: [], code: [], scratch: [] };

export class EventBag {
  readonly #places: ProjectionPlaces;
  readonly #eventsMax: number;
  readonly #entries = new Map<string, Entry>();
  readonly #kinds = new Map<string, Kind>();
  #dropped = 0;

  constructor(places = nowhere, eventsMax = traceEventsMax) {
    this.#places = places;
    this.#eventsMax = eventsMax;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Adds an event; those that were added before it have smaller sequence numbers. */
  add(event: EffectEvent): void {
    const key = keyOf(event);
    const equal = this.#entries.get(key);
    if (equal !== undefined) {
      equal.event = merged(equal.event, event);
      return;
    }
    const { weight, subject } = rankOf(event, this.#places);
    const kind = this.#kindOf(event, weight);
    if (this.#entries.size >= this.#eventsMax) {
      const lightest = this.#lightest(kind);
      const victim = this.#victim(lightest, lightest === kind ? subject : undefined);
      this.#dropped += victim?.event.count ?? event.count;
      if (victim === undefined) return;
      this.#entries.delete(victim.key);
    }
    const entry = { event, key };
    const group = kind.groups.get(subject) ?? [];
    if (group.push(entry) === 1) kind.groups.set(subject, group);
    kind.largest = Math.max(kind.largest, group.length);
    kind.size += 1;
    this.#entries.set(key, entry);
  }

  /** The kept events, in the order in which they were first seen. */
  collapsed(): Collapsed {
    const events = [...this.#entries.values()].map((entry) => entry.event);
    return { events: events.toSorted((a, b) => a.sequence - b.sequence), dropped: this.#dropped };
  }

  #kindOf({ action, outcome }: EffectEvent, weight: number): Kind {
    const name = `${weight} ${action} ${outcome}`;
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    const kind: Kind = { weight, size: 0, largest: 0, groups: new Map() };
    this.#kinds.set(name, kind);
    return kind;
  }

  /** The kind that gives way to a newcomer, which counts as one more of its own. */
  #lightest(newcomer: Kind): Kind {
    const size = (kind: Kind): number => kind.size + (kind === newcomer ? 1 : 0);
    const kinds = [...this.#kinds.values()];
    const crowded = kinds.filter((kind) => size(kind) > eventsOfKindMin);
    if (crowded.length === 0) return kinds.reduce((a, b) => (size(b) > size(a) ? b : a), newcomer);
    const lighter = (a: Kind, b: Kind): boolean => (a.weight === b.weight ? size(a) > size(b) : a.weight > b.weight);
    return crowded.reduce((a, b) => (lighter(b, a) ? b : a));
  }

  /**
   * Removes and returns the newest event of the largest group; undefined if that is the newcomer, whose subject is
   * `newcomer`.
   */
  #victim(kind: Kind, newcomer: string | undefined): Entry | undefined {
    const own = newcomer === undefined ? 0 : (kind.groups.get(newcomer)?.length ?? 0) + 1;
    // In a flood it is nearly always the newcomer, and then no other group is examined.
    if (own >= kind.largest) return undefined;
    const sizes = [...kind.groups.values()].map(({ length }) => length);
    kind.largest = Math.max(0, ...sizes);
    if (own >= kind.largest) return undefined;
    for (const [subject, group] of kind.groups) {
      if (group.length < kind.largest) continue;
      kind.size -= 1;
      if (group.length === 1) kind.groups.delete(subject);
      return group.pop();
    }
    return undefined;
  }
}

/** Collapses a list of events, in the order of their sequence numbers. */
export function collapse(events: readonly EffectEvent[], eventsMax = traceEventsMax): Collapsed {
  const bag = new EventBag(nowhere, eventsMax);
  for (const event of events) bag.add(event);
  return bag.collapsed();
}

/** Cuts every text of a sighting to what a trace may hold. */
export function bounded(sighting: Sighting): Sighting {
  let cut: Record<string, string> | undefined;
  for (const name of ["path", "target", "domain", "address", "program", "commandLine", "detail"] as const) {
    const text = sighting[name];
    if (text === undefined) continue;
    const whole = name === "path" || name === "target" ? straight(text) : text;
    if (whole !== text || whole.length > traceTextCharactersMax)
      (cut ??= {})[name] = whole.slice(0, traceTextCharactersMax);
  }
  return cut === undefined ? sighting : { ...sighting, ...cut };
}

/**
 * A path that turns back on itself could hide its end behind the cut: `/project/(500 characters)/../../../etc/shadow`.
 */
function straight(path: string): string {
  return path.includes("/.") || path.includes("//") ? (normalPath(path) ?? path) : path;
}

/**
 * Plain reads of a start in the server's own folders become one event for each: a runtime reads hundreds of files
 * before it does anything. Elsewhere and in the home each path is kept: its folder may be judged otherwise than the
 * file.
 */
export function startupSummary(sighting: Sighting, places: ProjectionPlaces): Sighting {
  const { path } = sighting;
  if (path === undefined || !isPlainRead(sighting)) return sighting;
  const inCode = places.code.find((folder) => isWithin(path, folder));
  const inScratch = isWithin(path, places.home) ? undefined : places.scratch.find((one) => isWithin(path, one));
  const folder = inCode ?? inScratch;
  if (folder === undefined) return sighting;
  const { at, action, outcome, grade } = sighting;
  return { at, action, outcome, grade, path: folder, detail: "summary" };
}

/** Key of all members that matter to a judge of the event; time, process and size are left out. */
function keyOf(event: EffectEvent): string {
  const { action, outcome, grade, phase, path, target, domain, address, port, transport, program } = event;
  const kind = `${action} ${outcome} ${grade} ${phase} `;
  return (
    kind + JSON.stringify([path, target, event.detail, domain, address, port, transport, program, event.commandLine])
  );
}

function merged(first: EffectEvent, more: EffectEvent): EffectEvent {
  const count = first.count + more.count;
  if (more.bytes === undefined) return { ...first, count };
  return { ...first, count, bytes: (first.bytes ?? 0) + more.bytes };
}
