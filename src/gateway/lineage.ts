/**
 * What one run tells another that may hold the same conversation (gateway.md 4): everything that restricts, nothing
 * that permits. It is expressed in events, so it goes through the same `evolve` and the same log as everything else:
 * a dispatch becomes a dispatch of unknown outcome (arms and counts, unlocks nothing), a released value becomes a value
 * held, and registered text, grants, consents and successes do not travel.
 */
import type { RunEvent } from "../core/event.ts";

/** Tells images apart: a call by its id, which is never given twice, a value by all that is said of it. */
export function imageMark(event: RunEvent): string {
  return event.kind === "released" ? JSON.stringify(event) : `${event.kind} ${"call" in event ? event.call : event.at}`;
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
