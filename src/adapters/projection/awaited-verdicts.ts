/**
 * Calls whose writes wait for a verdict. One that comes too late finds what was done without it: the writes are with a
 * person by then, and whoever judged must learn that they did not reach the workspace.
 */
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import type { Conclusion } from "../../gateway/projection-port.ts";

type Concluded = Promise<Result<Conclusion, string>>;

const reason = "no verdict came in time";

export class AwaitedVerdicts {
  readonly #max: number;
  readonly #waiting = new Map<string, () => void>();
  readonly #overtaken = new Map<string, Concluded>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The writes of a call were told; `stop` ends the wait for the verdict. */
  expect(call: string, stop: () => void): void {
    this.#waiting.get(call)?.();
    this.#waiting.set(call, stop);
  }

  /** The verdict on a call is here. What was done without it is returned, once, where it comes too late. */
  take(call: string): Concluded | undefined {
    this.#waiting.get(call)?.();
    this.#waiting.delete(call);
    const overtaken = this.#overtaken.get(call);
    this.#overtaken.delete(call);
    return overtaken;
  }

  /** The wait was over first; of too many such calls the oldest are forgotten. */
  overtake(call: string, concluded: Concluded): void {
    this.#overtaken.set(call, concluded.then(explained));
    const [oldest] = this.#overtaken.keys();
    if (this.#overtaken.size > this.#max && oldest !== undefined) this.#overtaken.delete(oldest);
  }

  /** No wait goes on. */
  close(): void {
    for (const stop of this.#waiting.values()) stop();
    this.#waiting.clear();
  }
}

function explained(concluded: Result<Conclusion, string>): Result<Conclusion, string> {
  if (!concluded.ok) return concluded;
  return ok({ committed: concluded.value.committed, held: concluded.value.held.map((one) => ({ reason, ...one })) });
}
