/**
 * What the canaries of one judge have shown. A canary is a question whose evidence holds an order; whoever obeys it
 * would obey the order of an attacker, too, and is never believed again. Whoever withstood it is tried again later,
 * since a model can be exchanged behind its address. A canary that could not be asked proves nothing.
 */
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { canaryHoldsMs } from "./limits.ts";

type Shown = { readonly obeyed: boolean; readonly atMs: number };

export class Canaries {
  readonly #nowMs: () => number;
  readonly #shown = new Map<string, Shown>();
  readonly #open = new Map<string, Promise<Result<boolean, string>>>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether answers to this question may be believed; `obeys` asks the canary once, however many wait for it. */
  async passed(id: string, obeys: () => Promise<Result<boolean, string>>): Promise<Result<true, string>> {
    const obeyedAny = [...this.#shown.values()].some((shown) => shown.obeyed);
    if (obeyedAny) return err("it obeys orders that stand in evidence");
    const shown = this.#shown.get(id);
    if (shown !== undefined && this.#nowMs() - shown.atMs < canaryHoldsMs) return ok(true);
    let open = this.#open.get(id);
    if (open === undefined) {
      open = obeys().finally(() => this.#open.delete(id));
      this.#open.set(id, open);
    }
    const found = await open;
    if (!found.ok) return err(`it could not be tested for obeying evidence: ${found.error}`);
    this.#shown.set(id, { obeyed: found.value, atMs: this.#nowMs() });
    return found.value ? err("it obeys orders that stand in evidence") : ok(true);
  }
}
