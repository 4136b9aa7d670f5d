/**
 * The waiting items of a run, read from its own records: calls in the outbox, and results behind consent. One entry
 * says that an item begins to wait, a later one how its waiting ended, so a restart finds exactly the items whose end
 * was reported to no client. Only items that still wait are remembered, however long the run is; no label has to be
 * read for them, so they are found also where the run itself cannot be folded any more.
 */
import { type JsonObject, isArray, isObject, member, stringMember, type Json } from "../../core/json.ts";
import type { Waiting } from "../ports/store.ts";

/** `moment` in the notes of an entry that begins or ends the waiting of a call, or of a result. */
export const outboxMoment = "outbox";
export const withheldMoment = "withheld";

/** The part of an entry of a run that says which items wait. */
export type WaitingEntry = {
  /** In the clear, each with all its members (`event-codec.ts`). */
  readonly events: readonly Json[];
  readonly notes: Json | undefined;
  readonly details: Json | undefined;
  readonly policyDigest: string | undefined;
};

/** Whether notes begin or end the waiting of a call or result; other notes matter only beside events. */
export function saysWaiting(notes: Json | undefined): boolean {
  const moment = stringMember(notes, "moment");
  return moment === outboxMoment || moment === withheldMoment;
}

export class WaitingBook {
  readonly #calls = new Map<string, Waiting>();
  readonly #results = new Map<string, Waiting>();

  /** `before`: the items that waited after the entries before, in their order. */
  constructor(before: readonly Waiting[] = []) {
    for (const one of before) (one.what === "call" ? this.#calls : this.#results).set(one.call, one);
  }

  read(entry: WaitingEntry): void {
    const left = stringMember(entry.notes, "outbox");
    for (const event of entry.events) this.#happened(event, left);
    if (!saysWaiting(entry.notes)) return;
    this.#begins(entry);
    for (const [call] of causesIn(member(entry.notes, "dropped"))) this.#calls.delete(call);
    for (const [call, cause] of causesIn(member(entry.notes, "lost"))) this.#lose(call, cause);
  }

  /** In the order in which they began to wait. */
  list(): readonly Waiting[] {
    return [...this.#calls.values(), ...this.#results.values()];
  }

  /** `left`: the id under which the call of this event had waited. */
  #happened(event: Json, left: string | undefined): void {
    const call = stringMember(event, "call");
    switch (stringMember(event, "kind") ?? "") {
      case "dispatched": {
        const digest = stringMember(event, "digest");
        if (left === undefined) this.#repeated(digest);
        else this.#calls.delete(left);
        // It is executed again, so a result that waited is not what the next repetition is about.
        for (const [id, waiting] of this.#results) if (waiting.digest === digest) this.#results.delete(id);
        return;
      }
      case "refused":
        if (left !== undefined) this.#lose(left, "refused");
        return;
      case "released":
        if (member(event, "how") !== "withhold" && call !== undefined) this.#results.delete(call);
        return;
      case "ended":
        this.#results.clear();
        // A stopped run still owes a report of the calls that it held: that comes when a trusted act ends the run.
        if (member(event, "cause") !== "unsafe") this.#calls.clear();
        return;
      default:
        return;
    }
  }

  #begins({ notes, details, policyDigest }: WaitingEntry): void {
    const call = stringMember(notes, "decision");
    const digest = stringMember(notes, "digest");
    if (call === undefined || digest === undefined || !isObject(notes)) return;
    const kept = isObject(details) ? (details as JsonObject) : undefined; // narrowed; the compiler keeps RawNumber
    const waiting = { call, digest, policyDigest, notes: notes as JsonObject, details: kept };
    if (member(notes, "moment") === withheldMoment) this.#results.set(call, { what: "result", ...waiting });
    else if (member(notes, "held") !== undefined) this.#calls.set(call, { what: "call", ...waiting });
  }

  #lose(call: string, lost: string): void {
    const waiting = this.#calls.get(call);
    // Nothing of it is needed any more but its name.
    if (waiting !== undefined) this.#calls.set(call, { ...waiting, details: undefined, lost });
  }

  /** The same call was allowed without coming from the outbox: sending the held one as well would send it twice. */
  #repeated(digest: string | undefined): void {
    for (const [call, waiting] of this.#calls) {
      if (waiting.digest === digest) this.#calls.set(call, { ...waiting, details: undefined, repeated: true });
    }
  }
}

/** Texts `CALL CAUSE`, as notes list them. */
function causesIn(list: Json | undefined): readonly (readonly [string, string])[] {
  if (!isArray(list)) return [];
  return list.flatMap((text) => {
    if (typeof text !== "string") return [];
    const [call = "", cause = ""] = text.split(" ");
    return [[call, cause] as const];
  });
}
