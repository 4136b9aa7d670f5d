/**
 * Answers of servers that refused credentials which clients sent along (`same-origin`): 401 or 403, with the challenge
 * that tells a client where to sign in. On its way through the gateway such an answer is one error among others, judged
 * and recorded like them; a reference in its sentence leads from there back to the refusal, so that the client gets it
 * as the server gave it. References are random: no server can forge a valid one.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import { randomBytes } from "node:crypto";

export type UpstreamRefusal = { readonly status: 401 | 403; readonly challenge: string | undefined };

/** Refusals whose errors may still be on their way; beyond it the oldest reaches its client as a plain error. */
const refusalsMax = 1_024;

/** Longer challenges are left out: they would crowd the rest of the answer's head. */
const challengeLengthMax = 4_096;

const referenceBytes = 8;

export class UpstreamRefusals {
  readonly #known = new BoundedMap<string, UpstreamRefusal>(refusalsMax);

  /** Remembers a refusal and returns the sentence for the client that waits for the answer. */
  keep(host: string, status: 401 | 403, challenge: string | undefined): string {
    const reference = randomBytes(referenceBytes).toString("hex");
    this.#known.set(reference, { status, challenge: fitForHeader(challenge) ? challenge : undefined });
    // The reference comes first: sentences that quote this one may be cut at their end.
    return `Sign in again (reference ${reference}): the server at ${host} refused the client's credentials (${status}).`;
  }

  /** The refusal that an error text refers to. */
  of(text: string): UpstreamRefusal | undefined {
    const reference = /\(reference ([0-9a-f]{16})\)/.exec(text)?.[1];
    return reference === undefined ? undefined : this.#known.get(reference);
  }
}

function fitForHeader(value: string | undefined): boolean {
  return value !== undefined && value.length <= challengeLengthMax && /^[\t\x20-\x7e]*$/.test(value);
}
