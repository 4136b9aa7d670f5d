/** Chains of word classes, searched in one sentence. */
import type { Sentence, TokenClass } from "./sentences.ts";

/** A word class, or several of which one is enough. */
export type Link = TokenClass | readonly TokenClass[];

/** Links in the order of the sentence; `within` is the greatest number of tokens between a link and the one before it. */
export type Chain = readonly [Link, ...{ readonly within: number; readonly link: Link }[]];

/** Links joined by gaps: `chain("obliged", 4, "tell")` is `tell` with at most four tokens between it and `obliged`. */
export function chain(first: Link, ...rest: readonly (number | Link)[]): Chain {
  const links: { within: number; link: Link }[] = [];
  let within = 0;
  for (const part of rest) {
    if (typeof part === "number") within = part;
    else links.push({ within, link: part });
  }
  return [first, ...links];
}

/**
 * True if the sentence holds the chain. Positions at which the chain can stand so far are moved on link by link, so the
 * work is at most tokens × links, whatever the text.
 */
export function holds({ classes }: Sentence, [first, ...rest]: Chain): boolean {
  let reached = positions(classes, first, () => true);
  for (const { within, link } of rest) {
    const near = nearness(classes.length, reached, within);
    reached = positions(classes, link, (at) => near[at] === true);
  }
  return reached.length > 0;
}

function positions(classes: Sentence["classes"], link: Link, candidate: (at: number) => boolean): number[] {
  const wanted = typeof link === "string" ? [link] : link;
  const found: number[] = [];
  for (const [at, held] of classes.entries()) if (candidate(at) && wanted.some((one) => held.has(one))) found.push(at);
  return found;
}

/** For each position: is one of `reached` before it, with at most `within` tokens between? */
function nearness(length: number, reached: readonly number[], within: number): boolean[] {
  const near: boolean[] = [];
  let next = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < length; at += 1) {
    near.push(at - last - 1 <= within);
    if (reached[next] === at) {
      last = at;
      next += 1;
    }
  }
  return near;
}
