/**
 * Attributes events to calls: an event belongs to the call whose window was open when the event was seen. A window
 * reaches from just before the request is sent to the moment its answer was parsed. Neither thread nor process tells
 * more, since one process serves all calls.
 *
 * The caller keeps the order: sightings from before `begin` or `end` are attributed before the window moves.
 */
import type { EffectPhase } from "../../../core/isolation/effect-trace.ts";
import { lateCallsMax, lateGraceMs } from "./session-limits.ts";

export type Attribution = {
  readonly phase: EffectPhase;
  /** Calls whose traces hold the event; several if ambiguous, none outside of calls. */
  readonly calls: readonly string[];
  /** Outside of calls: those that had ended so shortly before that they may have caused it. */
  readonly late: readonly string[];
};

const nobody: readonly string[] = [];

export class CallWindows {
  readonly #graceMs: number;
  #open: readonly string[] = nobody;
  #ended: readonly { readonly call: string; readonly at: number }[] = [];
  #started = false;
  /** The answer while several events in a row share it: windows move far more rarely than events come. */
  #inside: Attribution | undefined;

  constructor(graceMs = lateGraceMs) {
    this.#graceMs = graceMs;
  }

  /** Windows that are open now, in the order of their begin. */
  get open(): readonly string[] {
    return this.#open;
  }

  /** The server has listed its tools: later acts do not belong to the start-up any more. */
  listed(): void {
    this.#started = true;
  }

  /** Opens a window; a call that has one keeps it. */
  begin(call: string): void {
    this.#started = true;
    if (!this.#open.includes(call)) this.#move([...this.#open, call]);
  }

  /** Closes a window at `at`, in monotonic ms; unknown calls and second ends change nothing. */
  end(call: string, at: number): void {
    if (!this.#open.includes(call)) return;
    this.#move(this.#open.filter((one) => one !== call));
    this.#ended = [...this.#ended, { call, at }].slice(-lateCallsMax);
  }

  /** Attributes an event that was seen just now; `at` is the time of the event, in monotonic ms. */
  attribute(at: number): Attribution {
    if (this.#open.length > 0) return (this.#inside ??= inside(this.#open));
    if (!this.#started) return { phase: "startup", calls: nobody, late: nobody };
    const late = this.#ended.filter((one) => at - one.at <= this.#graceMs).map((one) => one.call);
    return { phase: "background", calls: nobody, late };
  }

  #move(open: readonly string[]): void {
    this.#open = open;
    this.#inside = undefined;
  }
}

function inside(calls: readonly string[]): Attribution {
  return { phase: calls.length === 1 ? "call" : "ambiguous", calls, late: nobody };
}
