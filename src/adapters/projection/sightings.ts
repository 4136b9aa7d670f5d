/** What the parts of a projection saw since they were last asked, in the order in which it happened. */
import type { Launched, Sighting } from "./parts.ts";

const none: readonly Sighting[] = [];

/** Drains every part; synchronous, so nothing that was seen before this call can be missing. */
export function drainParts({
  tracer,
  broker,
  limits,
}: Pick<Launched, "tracer" | "broker" | "limits">): readonly Sighting[] {
  const lists = [tracer?.drain() ?? none, broker?.drain() ?? none, limits?.drain() ?? none];
  const [first, ...more] = lists.filter((list) => list.length > 0);
  if (first === undefined || more.length === 0) return first ?? none;
  return [first, ...more].flat().toSorted((a, b) => a.at - b.at);
}

/** Why the projection can vouch for nothing any more, as a sentence; undefined while every part works. */
export function partFailure({ tracer, broker }: Pick<Launched, "tracer" | "broker">): string | undefined {
  if (tracer?.failure !== undefined) {
    return sentence("What the server does can no longer be seen", tracer.failure);
  }
  if (broker?.failure !== undefined) return sentence("The server's way to the network failed", broker.failure);
  return undefined;
}

/** Characters of a part's own reason that a sentence quotes. */
const reasonCharactersMax = 120;

function sentence(what: string, why: string): string {
  return `${what}, so it was ended: ${why.slice(0, reasonCharactersMax).replace(/[.\s]+$/, "")}. Restart the session.`;
}
