/** Events of the parts of a projection, filed by call as they are drained. */
import type { Clock } from "../../../gateway/ports/services.ts";
import type { EffectPhase } from "../../../core/isolation/effect-trace.ts";
import { CallWindows } from "./attribution.ts";
import { bounded, EventBag, startupSummary } from "./collapse.ts";
import { isPlainRead, mayWrite } from "./event-weight.ts";
import type { Launched, Sighting } from "../parts.ts";
import { launchMsMax } from "./session-limits.ts";
import { drainParts } from "./sightings.ts";

export type EvidenceListener = {
  /** Something of the file system may have changed. */
  readonly wrote: (sighting: Sighting) => void;
  /** Something happened outside of calls that is more than noise; once for each drain. */
  readonly background: () => void;
};

/** `offsetMs`: added to the time of the parts gives that of the gateway. */
export type EvidenceClock = Pick<Clock, "monotonicMs"> & { readonly offsetMs: number };

export class Evidence {
  readonly #launched: Launched;
  readonly #clock: EvidenceClock;
  readonly #listener: EvidenceListener;
  readonly #windows = new CallWindows();
  readonly #open = new Map<string, EventBag>();
  #background: EventBag;
  #sequence = 0;
  #drainedAt: number;
  #closed = false;

  constructor(launched: Launched, clock: EvidenceClock, listener: EvidenceListener) {
    this.#launched = launched;
    this.#background = new EventBag(launched.places);
    this.#clock = clock;
    this.#listener = listener;
    this.#drainedAt = clock.monotonicMs() - launchMsMax;
  }

  /** Files the sightings of the parts; afterwards every event up to now is attributed. `whole`: as in `drainParts`. */
  drain(whole: boolean): void {
    if (this.#closed) return;
    const now = this.#clock.monotonicMs();
    let told = false;
    for (const sighting of drainParts(this.#launched, whole)) told = this.#file(bounded(sighting), now) || told;
    this.#drainedAt = now;
    if (told) this.#listener.background();
  }

  /** The server has listed its tools: its start is over. */
  listed(): void {
    this.drain(true);
    this.#windows.listed();
  }

  /** Opens the window of a call. What was seen before must have been drained. */
  begin(call: string): EventBag {
    const events = new EventBag(this.#launched.places);
    this.#open.set(call, events);
    this.#windows.begin(call);
    return events;
  }

  /** Closes the window of a call. What was seen before must have been drained. */
  end(call: string): void {
    this.#open.delete(call);
    this.#windows.end(call, this.#clock.monotonicMs());
  }

  /** Adds a sighting of the gateway itself to a call. */
  add(call: string, seen: Omit<Sighting, "at">): void {
    const place = this.#place("call");
    this.#open.get(call)?.add({ ...seen, ...place, at: this.#clock.monotonicMs() + this.#clock.offsetMs });
  }

  /** Events outside of calls since the last request for them. */
  takeBackground(): EventBag {
    const events = this.#background;
    this.#background = new EventBag(this.#launched.places);
    return events;
  }

  /** Call when the parts are closed: no further event comes. */
  close(): void {
    this.drain(true);
    this.#closed = true;
    const { tracer, broker, limits } = this.#launched;
    for (const part of [tracer, broker, limits]) part?.close();
  }

  /** Files one sighting; true if it happened outside of calls and is more than noise. */
  #file(seen: Sighting, now: number): boolean {
    // The time of a part with a clock of its own gives no order; only the interval between two drains is certain.
    const sighting = seen.at >= this.#drainedAt && seen.at <= now ? seen : { ...seen, at: now };
    const { phase, calls, late } = this.#windows.attribute(sighting.at);
    if (mayWrite(sighting)) this.#listener.wrote(sighting);
    const place = { ...this.#place(phase), at: sighting.at + this.#clock.offsetMs };
    for (const call of calls) this.#open.get(call)?.add({ ...sighting, ...place });
    if (calls.length > 0) return false;
    const told = phase === "startup" ? startupSummary(sighting, this.#launched.places) : withCandidates(sighting, late);
    this.#background.add({ ...told, ...place });
    return !isPlainRead(sighting);
  }

  #place(phase: EffectPhase): { readonly sequence: number; readonly phase: EffectPhase; readonly count: number } {
    this.#sequence += 1;
    return { sequence: this.#sequence, phase, count: 1 };
  }
}

/** Names the calls that ended just before; the event stays outside of them. */
function withCandidates(sighting: Sighting, late: readonly string[]): Sighting {
  if (late.length === 0) return sighting;
  const after = `after ${late.join(", ")}`;
  return bounded({ ...sighting, detail: sighting.detail === undefined ? after : `${sighting.detail}; ${after}` });
}
