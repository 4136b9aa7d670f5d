/** Events of the parts of a projection since the last drain, in the order in which they happened. */
import type { Launched, Sighting } from "../parts.ts";

const none: readonly Sighting[] = [];

/**
 * Drains the parts; synchronous, so nothing that was seen before this call can be missing. The kernel's counters and
 * the check that the tracer is alive cost a file read each: they are read when a call ends and in idle time, not when
 * one begins. A limit that is hit in the instant before a call counts as the call's, and so does a tracer's end.
 */
export function drainParts(parts: Pick<Launched, "tracer" | "broker" | "limits">, whole: boolean): readonly Sighting[] {
  const seen = named(parts.tracer?.drain(whole) ?? none, parts.broker);
  const sent = parts.broker?.drain() ?? none;
  const hit = whole ? (parts.limits?.drain() ?? none) : none;
  if (sent.length === 0 && hit.length === 0) return seen;
  return [...seen, ...sent, ...hit].toSorted((a, b) => a.at - b.at);
}

/**
 * A connection to the address that stands for a name, at a port without a listener: the broker never hears of it, and the
 * address alone says nothing to anyone.
 */
function named(seen: readonly Sighting[], broker: Launched["broker"]): readonly Sighting[] {
  if (broker?.nameUnheard === undefined || !seen.some(isConnect)) return seen;
  return seen.map((sighting) => {
    const { address, port, domain } = sighting;
    if (!isConnect(sighting) || address === undefined || port === undefined || domain !== undefined) return sighting;
    const name = broker.nameUnheard?.(address, port);
    return name === undefined ? sighting : { ...sighting, domain: name };
  });
}

function isConnect({ action, address }: Sighting): boolean {
  return (action === "net-connect" || action === "net-send") && address !== undefined;
}

/** Characters of a part's failure sentence that are passed on. */
const sentenceCharactersMax = 240;

/**
 * Reason why the projection's evidence is no longer complete: the sentence of the failed part; undefined while every
 * part works.
 */
export function partFailure({ tracer, broker }: Pick<Launched, "tracer" | "broker">): string | undefined {
  return (tracer?.failure ?? broker?.failure)?.slice(0, sentenceCharactersMax);
}
