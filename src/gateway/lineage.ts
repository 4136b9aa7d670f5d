/**
 * What one run tells another that may hold the same conversation (gateway.md 4): everything that restricts, nothing
 * that permits. It is expressed in events, so it goes through the same `evolve` and the same log as everything else:
 * a dispatch becomes a dispatch of unknown outcome (arms and counts, unlocks nothing), a released value becomes a value
 * held, and registered text, grants, consents and successes do not travel.
 */
import type { RunEvent } from "../core/event.ts";
import { sameJson } from "./same-json.ts";

type Released = Extract<RunEvent, { kind: "released" }>;

/** Images, each once: a call is known by its id, which is never given twice, a value by all that is said of it. */
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

  /** In the order in which they came, but those that share a mark together. */
  all(): readonly RunEvent[] {
    return [...this.#byMark.values()].flat();
  }
}

/** What nearly always tells images apart: a value itself may be megabytes, and is looked at where this does not. */
function markOf(image: RunEvent): string {
  if (image.kind === "released") return `released ${image.at} ${image.server}\n${image.tool}`;
  return `${image.kind} ${"call" in image ? image.call : image.at}`;
}

function sameImage(left: RunEvent, right: RunEvent): boolean {
  if (left === right || left.kind !== "released" || right.kind !== "released") return true;
  return aside(left) === aside(right) && sameJson(left.value ?? null, right.value ?? null);
}

/** Everything but the value. */
function aside({ value, ...rest }: Released): string {
  return JSON.stringify({ ...rest, without: value === undefined });
}

/** Why the outcome of a call of another run is unknown here: that run knows it, so it is no doubt of this one. */
export const joinedCause = "joined from another run";

/** The restrictive image of an event; empty for what only permits or does not matter to others. */
export function restrictiveImage(event: RunEvent): readonly RunEvent[] {
  switch (event.kind) {
    case "allowed": {
      const { consent: _lapses, ...rest } = event;
      return [rest, { kind: "unknown", at: event.at, call: event.call, cause: joinedCause }];
    }
    case "released":
      return event.how === "pass" ? [{ ...event, call: undefined }] : [];
    case "begun":
    case "registered":
    case "requested":
    case "refused":
    case "sent":
    case "succeeded":
    case "failed":
    case "unknown":
    case "granted":
    case "ended":
      return [];
  }
}
