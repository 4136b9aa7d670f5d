/** Events of the broker, kept until the session asks. Trusted evidence: the server cannot write or change them. */
import { traceTextCharactersMax } from "../../core/isolation/effect-trace.ts";
import { printable } from "../net/printable.ts";
import type { Sighting } from "../projection/parts.ts";

/** Sightings that wait to be drained; the number of those beyond is recorded as one further sighting. */
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
