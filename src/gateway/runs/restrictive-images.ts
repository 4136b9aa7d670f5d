/**
 * What runs tell each other: everything that restricts and nothing that permits, as events, so that it goes through the
 * same `evolve` and the same log as everything else. A dispatch becomes a dispatch of unknown outcome (arms and counts,
 * unlocks nothing), a released value becomes a value held; registered text, grants, consents and successes do not
 * travel.
 */
import type { RunEvent } from "../../core/event.ts";
import { sameJson } from "./same-json.ts";

type Released = Extract<RunEvent, { kind: "released" }>;

/** Images, each once: a call is identified by its id, which is never given twice, a value by all its members. */
export class Images {
  readonly #byMark = new Map<string, RunEvent[]>();

  constructor(images: Iterable<RunEvent> = []) {
    for (const image of images) this.add(image);
  }

  add(image: RunEvent): void {
    const mark = markOf(image);
    const alike = this.#byMark.get(mark);
    if (alike === undefined) this.#byMark.set(mark, [image]);
    else if (!alike.some((other) => sameImage(other, image))) alike.push(image);
  }

  has(image: RunEvent): boolean {
    return this.#byMark.get(markOf(image))?.some((other) => sameImage(other, image)) === true;
  }

  get size(): number {
    return this.#byMark.size;
  }

  /** In the order in which they came, but those that share a mark together. */
  all(): readonly RunEvent[] {
    return [...this.#byMark.values()].flat();
  }
}

/**
 * A mark that nearly always distinguishes images: a value itself may be megabytes, and is compared only for equal
 * marks.
 */
function markOf(image: RunEvent): string {
  if (image.kind === "released") return `released ${image.at} ${image.server}\n${image.tool}`;
  return `${image.kind} ${"call" in image ? image.call : image.at}`;
}

function sameImage(left: RunEvent, right: RunEvent): boolean {
  if (left === right || left.kind !== "released" || right.kind !== "released") return true;
  return aside(left) === aside(right) && sameJson(left.value ?? null, right.value ?? null);
}

/** Everything but the value, and the run that passed it on. */
function aside({ value, from: _by, ...rest }: Released): string {
  return JSON.stringify({ ...rest, without: value === undefined });
}

/** Why the outcome of a call of another run is unknown here: that run knows it, so it leaves no doubt in this one. */
export const joinedCause = "joined from another run";

/** Whether a dispatch on record is the image of one of another run: it was decided there, not here. */
export function isJoined(events: readonly RunEvent[], call: string): boolean {
  return events.some((event) => event.kind === "unknown" && event.call === call && event.cause === joinedCause);
}

/**
 * The restrictive image of an event of the run `key`; empty for what only permits or does not matter to others. It keeps
 * the name of the run in which it happened, however often it is passed on.
 */
export function restrictiveImage(event: RunEvent, key: string): readonly RunEvent[] {
  switch (event.kind) {
    case "dispatched": {
      const { consent: _lapses, ...rest } = event;
      return [
        { ...rest, from: event.from ?? key },
        { kind: "unknown", at: event.at, call: event.call, cause: joinedCause },
      ];
    }
    case "released":
      return event.how === "pass" ? [{ ...event, call: undefined, from: event.from ?? key }] : [];
    case "begun":
    case "registered":
    case "refused":
    case "succeeded":
    case "failed":
    case "unknown":
    case "foreseen":
    case "granted":
    case "ended":
      return [];
  }
}
