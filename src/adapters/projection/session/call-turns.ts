/**
 * Turns of calls with one server. An exclusive call waits until the others have ended, and later calls wait behind it;
 * all others share. No call overtakes, so none waits for ever.
 */
import { type Result, err, ok } from "../../../core/result.ts";
import { waitingCallsMax } from "./session-limits.ts";

export type Turn = Result<void, string>;

type Waiting = { readonly call: string; readonly alone: boolean; readonly settle: (turn: Turn) => void };

export class CallTurns {
  readonly #active = new Set<string>();
  #alone = false;
  #waiting: readonly Waiting[] = [];

  /** True while a call has a turn or waits for one. */
  get busy(): boolean {
    return this.#active.size > 0 || this.#waiting.length > 0;
  }

  /** Takes a turn: at once (undefined), or when it comes; the error is a sentence. */
  take(call: string, alone: boolean): Promise<Turn> | Turn | undefined {
    if (this.#waiting.length === 0 && this.#admits(alone)) {
      this.#enter(call, alone);
      return undefined;
    }
    if (this.#waiting.length >= waitingCallsMax) return err(fullText);
    return new Promise((settle) => (this.#waiting = [...this.#waiting, { call, alone, settle }]));
  }

  /** Gives a turn back, so that the next may have it. */
  leave(call: string): void {
    if (!this.#active.delete(call)) return;
    if (this.#active.size === 0) this.#alone = false;
    this.#advance();
  }

  /** Ends the wait of a call with an error sentence; true if the call was waiting. */
  abandon(call: string, sentence: string): boolean {
    const waiting = this.#waiting.find((one) => one.call === call);
    if (waiting === undefined) return false;
    this.#waiting = this.#waiting.filter((one) => one !== waiting);
    waiting.settle(err(sentence));
    this.#advance();
    return true;
  }

  /** Ends all waits with an error sentence, at the end of the session. */
  close(sentence: string): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.settle(err(sentence));
  }

  #admits(alone: boolean): boolean {
    return this.#active.size === 0 || (!alone && !this.#alone);
  }

  #enter(call: string, alone: boolean): void {
    this.#active.add(call);
    this.#alone = alone;
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#admits(next.alone); next = this.#waiting[0]) {
      this.#waiting = this.#waiting.slice(1);
      this.#enter(next.call, next.alone);
      next.settle(ok(undefined));
    }
  }
}

const fullText =
  "Not executed: too many calls wait for this server, which takes one at a time. Wait for their answers, then try again.";
