/**
 * Calls whose writes wait for a verdict. A verdict that comes too late returns the conclusion that was made without it:
 * the writes are held for review by then, and did not reach the workspace.
 */
import { BoundedMap } from "../../../core/bounded-map.ts";
import { type Result, ok } from "../../../core/result.ts";
import type { Conclusion } from "../../../gateway/ports/projection.ts";

type Concluded = Promise<Result<Conclusion, string>>;

const reason = "no verdict came in time";

export class AwaitedVerdicts {
  readonly #waiting = new Map<string, () => void>();
  /** Verdicts that came too late; of too many the oldest are forgotten. */
  readonly #overtaken: BoundedMap<string, Concluded>;

  constructor(max: number) {
    this.#overtaken = new BoundedMap(max);
  }

  /** The writes of a call were reported; `stop` ends the wait for the verdict. */
  expect(call: string, stop: () => void): void {
    this.#waiting.get(call)?.();
    this.#waiting.set(call, stop);
  }

  /** Takes the verdict on a call. If it comes too late, the conclusion made without it is returned, once. */
  take(call: string): Concluded | undefined {
    this.#waiting.get(call)?.();
    this.#waiting.delete(call);
    const overtaken = this.#overtaken.get(call);
    this.#overtaken.delete(call);
    return overtaken;
  }

  /** The wait ended before the verdict came. */
  overtake(call: string, concluded: Concluded): void {
    this.#overtaken.set(call, concluded.then(explained));
  }

  /** Stops all waits. */
  close(): void {
    for (const stop of this.#waiting.values()) stop();
    this.#waiting.clear();
  }
}

function explained(concluded: Result<Conclusion, string>): Result<Conclusion, string> {
  if (!concluded.ok) return concluded;
  return ok({ committed: concluded.value.committed, held: concluded.value.held.map((one) => ({ reason, ...one })) });
}
