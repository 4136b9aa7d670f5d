/**
 * Calls that may have happened and whose result no client has: after a crash or a lost answer. Made again they would
 * happen twice, so the same call asks first (gateway.md 9). Read from the history of a run, so that a doubt outlives
 * any number of restarts. A result that was withheld leaves no doubt that it happened (`consent/withheld-recovery.ts`).
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { RunEvent } from "../../core/event.ts";
import { harmsTwice } from "../../core/contract.ts";
import { doubtsMax } from "../ports/limits.ts";
import { joinedCause } from "./restrictive-images.ts";

/** Calls in doubt, by the key of their run and their digest. */
export class InDoubt {
  /** When each call was allowed, in ms since 1970. */
  readonly #byRun = new Map<string, BoundedMap<string, number>>();

  note(run: string, digest: string, wallMs: number): void {
    const known = this.#byRun.get(run) ?? new BoundedMap<string, number>(doubtsMax);
    this.#byRun.set(run, known.set(digest, wallMs));
  }

  /** A run is taken up again: adds the doubts of its history. */
  resumed(run: string, history: readonly RunEvent[]): void {
    const known = new BoundedMap<string, number>(doubtsMax);
    // The doubts of the history are older: beyond the bound they go first.
    for (const [digest, at] of [...doubtsIn(history), ...(this.#byRun.get(run) ?? [])]) known.set(digest, at);
    if (known.size > 0) this.#byRun.set(run, known);
  }

  /** When the call was allowed, in ms since 1970; undefined where it is not in doubt. */
  since(run: string, digest: string): number | undefined {
    return this.#byRun.get(run)?.get(digest);
  }

  /** Settles a doubt: an approver wants the call once more. */
  settle(run: string, digest: string): void {
    this.#byRun.get(run)?.delete(digest);
  }

  /** How many calls of a run are in doubt. */
  size(run: string): number {
    return this.#byRun.get(run)?.size ?? 0;
  }

  forget(run: string): void {
    this.#byRun.delete(run);
  }
}

/** Whether a call of unknown outcome may have happened: a cancelled one and one that another joined leave no doubt. */
export function leavesDoubt(cause: string): boolean {
  return cause !== "cancelled" && cause !== joinedCause;
}

/** By digest of the call, when it was allowed: in ms since 1970, which moments count from in production. */
export function doubtsIn(events: readonly RunEvent[]): ReadonlyMap<string, number> {
  const calls = new Map<string, { readonly digest: string; readonly at: number }>();
  const doubts = new BoundedMap<string, number>(doubtsMax);
  for (const event of events) {
    if (event.kind === "dispatched") {
      // Consent to make it again has settled the question.
      if (event.consent !== undefined) doubts.delete(event.digest);
      if (harmsTwice(event.option.contract)) calls.set(event.call, event);
    } else if (event.kind === "unknown" || event.kind === "released") {
      const call = event.call === undefined ? undefined : calls.get(event.call);
      if (call === undefined) continue;
      if (event.kind === "released") doubts.delete(call.digest);
      else if (leavesDoubt(event.cause)) doubts.set(call.digest, call.at);
    }
  }
  return doubts;
}
