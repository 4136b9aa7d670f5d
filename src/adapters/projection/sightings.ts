/** What the parts of a projection saw since they were last asked, in the order in which it happened. */
import type { Launched, Sighting } from "./parts.ts";

const none: readonly Sighting[] = [];

/**
 * Drains the parts; synchronous, so nothing that was seen before this call can be missing. Counts of the kernel and the
 * question whether the tracer still lives cost a file each: they are asked when a call ends and in idle time, not when
 * one begins. A limit that is hit in the instant before a call counts as the call's, and so does a tracer's end.
 */
export function drainParts(parts: Pick<Launched, "tracer" | "broker" | "limits">, whole: boolean): readonly Sighting[] {
  const seen = parts.tracer?.drain(whole) ?? none;
  const sent = parts.broker?.drain() ?? none;
  const hit = whole ? (parts.limits?.drain() ?? none) : none;
  if (sent.length === 0 && hit.length === 0) return seen;
  return [...seen, ...sent, ...hit].toSorted((a, b) => a.at - b.at);
}

/** Characters of a part's own sentence that is handed on. */
const sentenceCharactersMax = 240;

/** Why the projection can vouch for nothing any more, in the words of the part; undefined while every part works. */
export function partFailure({ tracer, broker }: Pick<Launched, "tracer" | "broker">): string | undefined {
  return (tracer?.failure ?? broker?.failure)?.slice(0, sentenceCharactersMax);
}
