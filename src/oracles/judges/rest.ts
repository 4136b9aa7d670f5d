/** Leaves a judge alone for a while after several failures in a row. */
import { failuresBeforeRest, restMs } from "./limits.ts";

export class Rest {
  #failures = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  resting(nowMs: number): boolean {
    return nowMs < this.#untilMs;
  }

  failed(nowMs: number): void {
    this.#failures += 1;
    // After a rest one try is enough to see that nothing has changed.
    if (this.#failures >= failuresBeforeRest) this.#untilMs = nowMs + restMs;
  }

  answered(): void {
    this.#failures = 0;
  }
}
