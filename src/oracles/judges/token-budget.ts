/** Tokens that each run has spent on one judge: a run that makes every call a question must not empty somebody's account. */
import { countedRunsMax } from "./limits.ts";

export class TokenBudget {
  readonly #tokensMax: number;
  readonly #runsMax: number;
  readonly #spent = new Map<string, number>();

  constructor(tokensMax: number, runsMax: number = countedRunsMax) {
    this.#tokensMax = tokensMax;
    this.#runsMax = runsMax;
  }

  /** Takes tokens before they are spent, so that questions that run at the same time are all counted. */
  reserve(run: string, tokens: number): boolean {
    const spent = this.#spent.get(run) ?? 0;
    if (spent + tokens > this.#tokensMax) return false;
    this.#spent.delete(run);
    this.#spent.set(run, spent + tokens);
    for (const oldest of this.#spent.keys()) {
      if (this.#spent.size <= this.#runsMax) break;
      this.#spent.delete(oldest);
    }
    return true;
  }

  /** Corrects a reservation by what was really used. A server that reports nonsense, or nothing, gives nothing back. */
  settle(run: string, reserved: number, used: number | undefined): void {
    if (used === undefined || !Number.isSafeInteger(used) || used < 1) return;
    const spent = this.#spent.get(run);
    if (spent !== undefined) this.#spent.set(run, spent - reserved + used);
  }
}

/** Tokens of a text before anybody has counted: four bytes to one, as the reports of saved tokens count, too. */
export function estimatedTokens(...texts: readonly string[]): number {
  return texts.reduce((all, text) => all + Math.ceil(Buffer.byteLength(text) / 4), 0);
}
