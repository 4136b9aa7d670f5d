/**
 * Results that wait for consent (gateway.md 3): the call was executed, so the same call repeated must not execute
 * again; it returns the stored result once a person has opened it.
 */
import type { Decision } from "../core/decision.ts";
import type { ToolContract } from "../core/contract.ts";
import type { CallOption } from "../core/moment.ts";
import type { Answers } from "../core/opinion.ts";
import type { ErrorMessage, ResponseMessage } from "../wire/message.ts";
import { withheldCharactersMax, withheldResultsMax } from "./limits.ts";
import type { ReleaseLabel } from "./labels.ts";

export type Withheld = {
  readonly call: string;
  readonly approval: string;
  /** Why it waits, for the card of another approval. */
  readonly decision: Decision;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  readonly label: ReleaseLabel;
  readonly message: ResponseMessage | ErrorMessage;
  /** What was known when it was judged, so that it is judged by that again. */
  readonly known?: Answers | undefined;
  readonly characters: number;
};

export class WithheldResults {
  /** By run key, then by digest of the call. */
  readonly #byRun = new Map<string, Map<string, Withheld>>();

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

  forget(run: string): void {
    this.#byRun.delete(run);
  }
}
