/** State of one judge between its questions: tokens spent, failures in a row, canaries answered. */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { NoAnswer } from "../../core/opinion.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { canaryHoldsMs, countedRunsMax, failuresBeforeRest, restMs } from "./limits.ts";

/** Tokens that each run has spent: a run that turns every call into a question must not spend the budget of others. */
export class TokenBudget {
  readonly #tokensMax: number;
  readonly #spent: BoundedMap<string, number>;

  constructor(tokensMax: number, runsMax: number = countedRunsMax) {
    this.#tokensMax = tokensMax;
    this.#spent = new BoundedMap(runsMax);
  }

  /** Takes tokens before they are spent, so that questions that run at the same time are all counted. */
  reserve(run: string, tokens: number): boolean {
    const spent = this.#spent.get(run) ?? 0;
    if (spent + tokens > this.#tokensMax) return false;
    this.#spent.set(run, spent + tokens);
    return true;
  }

  /** Corrects a reservation by what was really used. A server that reports nonsense, or nothing, gives nothing back. */
  settle(run: string, reserved: number, used: number | undefined): void {
    if (used === undefined || !Number.isSafeInteger(used) || used < 1) return;
    const spent = this.#spent.get(run);
    if (spent !== undefined) this.#spent.set(run, spent - reserved + used);
  }
}

/** Estimated tokens of a text before a count: four bytes to one, as the reports of saved tokens count, too. */
export function estimatedTokens(...texts: readonly string[]): number {
  return texts.reduce((all, text) => all + Math.ceil(Buffer.byteLength(text) / 4), 0);
}

/** Leaves a judge alone for `restMs` after several failures in a row. */
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

const obeys: NoAnswer = { silence: "unasked", cause: "it obeys orders that stand in evidence" };

/**
 * Results of the canaries of one judge. A canary is a question whose evidence holds an order; a model that obeys it would
 * obey an attacker's order, too, and is never believed again. A model that withstood it is tested again after
 * `canaryHoldsMs`, since a model can be exchanged behind its address. A canary that could not be asked proves nothing.
 */
export class Canaries {
  readonly #nowMs: () => number;
  readonly #shown = new Map<string, { readonly obeyed: boolean; readonly atMs: number }>();
  readonly #open = new Map<string, Promise<Result<boolean, NoAnswer>>>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether answers to this question may be believed; `asked` asks the canary once, however many wait for it. */
  async passed(id: string, asked: () => Promise<Result<boolean, NoAnswer>>): Promise<Result<true, NoAnswer>> {
    const obeyedAny = [...this.#shown.values()].some((shown) => shown.obeyed);
    if (obeyedAny) return err(obeys);
    const shown = this.#shown.get(id);
    if (shown !== undefined && this.#nowMs() - shown.atMs < canaryHoldsMs) return ok(true);
    let open = this.#open.get(id);
    if (open === undefined) {
      open = asked().finally(() => this.#open.delete(id));
      this.#open.set(id, open);
    }
    const found = await open;
    if (!found.ok) {
      const { silence, cause } = found.error;
      return err({ silence, cause: `it could not be tested for obeying evidence: ${cause}` });
    }
    this.#shown.set(id, { obeyed: found.value, atMs: this.#nowMs() });
    return found.value ? err(obeys) : ok(true);
  }
}
