/** What is known of one call while it runs and until its trace was asked for. */
import type { WorkspaceChange } from "../../core/effect-trace.ts";
import { EventBag } from "./collapse.ts";

export type CallRecord = {
  readonly call: string;
  readonly events: EventBag;
  /** What it wrote into the workspace as far as it was looked at, by path. */
  readonly told: Map<string, WorkspaceChange>;
  /** Sightings that the tracer had lost when the call began, and when it ended. */
  readonly lostBefore: number;
  lostAfter: number | undefined;
  /** The broker counts the call, and is told when it ends. */
  readonly granted: boolean;
  readonly stopClock: () => void;
  /** Gives the turn back when nobody asks for the trace, or for the verdict. */
  stopWaiting: () => void;
};

/** Ended calls whose traces may still be asked for; of too many the oldest are forgotten. */
export class EndedCalls {
  readonly #max: number;
  readonly #forgotten: (record: CallRecord) => void;
  readonly #records = new Map<string, CallRecord>();

  constructor(max: number, forgotten: (record: CallRecord) => void) {
    this.#max = max;
    this.#forgotten = forgotten;
  }

  keep(record: CallRecord): void {
    this.#records.set(record.call, record);
    if (this.#records.size <= this.#max) return;
    const [oldest] = this.#records.values();
    if (oldest === undefined) return;
    this.#records.delete(oldest.call);
    this.#forgotten(oldest);
  }

  /** Gives a record out, once. */
  take(call: string): CallRecord | undefined {
    const record = this.#records.get(call);
    this.#records.delete(call);
    return record;
  }
}
