/**
 * Results that wait for consent (gateway.md 3): the call was executed, so the same call repeated must not execute
 * again; it returns the stored result once an approver has opened it. The results outlive the gateway in its log
 * (`consent/withheld-recovery.ts`); that a lost result existed stays known.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { Decision } from "../../core/decision.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Answers } from "../../core/opinion.ts";
import type { ErrorMessage, ResponseMessage } from "../../wire/message.ts";
import { doubtsMax, withheldCharactersMax, withheldResultsMax } from "../ports/limits.ts";
import type { ReleaseLabel } from "./release-label.ts";

export type Withheld = {
  readonly call: string;
  readonly approval: string;
  /** Why it waits, for the card of another approval; judged anew where a restart lies between. */
  readonly decision: Decision | undefined;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  readonly label: ReleaseLabel;
  readonly message: ResponseMessage | ErrorMessage;
  /** The answers that were known when it was judged, so that it is judged by the same ones again. */
  readonly known?: Answers | undefined;
  readonly characters: number;
};

/** When the call was made, in ms since 1970; undefined where the history of its run cannot be read. */
export type Lost = { readonly wallMs: number | undefined };

export class WithheldResults {
  /** By run key, then by digest of the call. */
  readonly #byRun = new Map<string, Map<string, Withheld>>();
  /** Calls whose results a restart has lost, the same way. */
  readonly #lost = new Map<string, BoundedMap<string, Lost>>();

  /** False when the run keeps too much already: the result is then rejected for good. */
  keep(run: string, digest: string, withheld: Withheld): boolean {
    let kept = this.#byRun.get(run);
    if (kept === undefined) this.#byRun.set(run, (kept = new Map()));
    let characters = withheld.characters;
    for (const other of kept.values()) characters += other.characters;
    if (kept.size >= withheldResultsMax || characters > withheldCharactersMax) return false;
    kept.set(digest, withheld);
    return true;
  }

  find(run: string, digest: string): Withheld | undefined {
    return this.#byRun.get(run)?.get(digest);
  }

  take(run: string, digest: string): void {
    this.#byRun.get(run)?.delete(digest);
  }

  /** Notes that a call was executed and that its result is lost. */
  lose(run: string, digest: string, call: Lost): void {
    const lost = this.#lost.get(run) ?? new BoundedMap<string, Lost>(doubtsMax);
    this.#lost.set(run, lost.set(digest, call));
  }

  /** The facts of a call whose result is lost; undefined where the result is not lost. */
  lost(run: string, digest: string): Lost | undefined {
    return this.#lost.get(run)?.get(digest);
  }

  /** Settles a lost result: an approver wants the call once more. */
  settle(run: string, digest: string): void {
    this.#lost.get(run)?.delete(digest);
  }

  forget(run: string): void {
    this.#byRun.delete(run);
    this.#lost.delete(run);
  }
}
