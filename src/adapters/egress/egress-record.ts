/** What the broker saw, kept until the session asks. Ground truth: the server has no part in writing it. */
import { traceTextCharactersMax } from "../../core/effect-trace.ts";
import { printable } from "../printable.ts";
import type { Sighting } from "../projection/parts.ts";

/** Sightings that wait to be drained; a server that makes more between two calls is told of as such. */
export const sightingsMax = 4_096;

export type Seen = Omit<Sighting, "at" | "grade">;

export class EgressRecord {
  readonly #now: () => number;
  #waiting: Sighting[] = [];
  #lost = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(seen: Seen): void {
    if (this.#waiting.length >= sightingsMax) {
      this.#lost += 1;
      return;
    }
    const texts = {
      ...(seen.domain === undefined ? {} : { domain: shown(seen.domain) }),
      ...(seen.detail === undefined ? {} : { detail: shown(seen.detail) }),
    };
    this.#waiting.push({ ...seen, ...texts, at: this.#now(), grade: "broker" });
  }

  drain(): readonly Sighting[] {
    const drained = this.#waiting;
    const lost = this.#lost;
    this.#waiting = [];
    this.#lost = 0;
    if (lost === 0) return drained;
    const detail = `egress-events-lost ${lost}`;
    return [...drained, { action: "limit-hit", outcome: "unknown", grade: "broker", at: this.#now(), detail }];
  }
}

function shown(text: string): string {
  return printable(text, traceTextCharactersMax);
}
