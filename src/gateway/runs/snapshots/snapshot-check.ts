/**
 * A snapshot against the records that it stands for: they are folded again from the first one, and what comes out has to be the
 * same (docs/decisions/0034). Labels of stores are left out: they are those of the moment in which a run is taken up.
 */
import type { RunEvent } from "../../../core/event.ts";
import { begin, settlesOn } from "../../../core/mechanism.ts";
import { samePlain } from "../../../core/same-plain.ts";
import type { LoadedPolicy } from "../../ports/policy.ts";
import type { Snapshot } from "../../ports/snapshots.ts";
import type { EventLog } from "../../ports/store.ts";
import type { Heard } from "../../ports/stream-note.ts";
import type { FoldedRun } from "../live-run.ts";
import { foldInto, lastRunIn } from "../refold.ts";
import { type History, fitsOf, historyFrom } from "./snapshot-text.ts";
import { UnsettledEvents } from "./unsettled-events.ts";

/** `other`: it was made under another policy or other mechanisms, so no run is taken up from it. */
export type SnapshotVerdict = "same" | "differs" | "other" | "unreadable";

export type SnapshotQuestion = {
  readonly snapshot: Snapshot;
  readonly policy: LoadedPolicy;
  /** Records of the run up to the one that the snapshot stands for. */
  readonly records: number;
};

/** Folds the records of the snapshot again and compares. */
export async function checkSnapshot(
  { replay }: Pick<EventLog, "replay">,
  { snapshot, policy, records }: SnapshotQuestion,
): Promise<SnapshotVerdict> {
  const { run: key, fits } = snapshot;
  if (fits !== fitsOf(policy)) return "other";
  const kept = historyFrom(snapshot);
  if (kept === undefined) return "differs";
  const read = await replay(key, policy.lattice, { recordsMax: records });
  if (!read.ok || !read.value.complete) return "unreadable";
  const events = lastRunIn(read.value.events);
  const state = begin(policy.engine, key, undefined);
  const folded: FoldedRun = { key, policy, state, sources: new Map(), inFlight: new Set(), ended: false };
  const unsettled = new UnsettledEvents();
  for (const event of events) {
    if (!foldInto(folded, event).ok) return "unreadable";
    unsettled.add(event);
  }
  while (settlesOn(policy.engine, folded.state)); // as the writer of a snapshot does
  const again: History = {
    run: key,
    place: snapshot.place,
    sinceWallMs: snapshot.sinceWallMs,
    folded,
    heard: read.value.last?.heard,
    unsettled: unsettled.list(),
    waiting: read.value.waiting,
    events: events.length,
  };
  try {
    const isSame = samePlain(partsOf(kept, policy), partsOf(again, policy));
    return isSame && !isBeyond(kept.heard, again.heard) && holdsUnsettled(kept.unsettled, again.unsettled, events)
      ? "same"
      : "differs";
  } catch {
    return "differs"; // it has not even the form of a state
  }
}

/** Whether a snapshot goes on in its stream after a record that has entries of others which it lacks. */
function isBeyond(kept: Heard | undefined, again: Heard | undefined): boolean {
  const [record, last] = [kept?.record, again?.record];
  if (record === undefined) return false;
  if (last === undefined) return true;
  return record.writer > last.writer || (record.writer === last.writer && record.seq > last.seq);
}

function nameOf(event: RunEvent): string {
  return JSON.stringify([event.kind, event.at, "call" in event ? event.call : ""]);
}

/** A snapshot that went on from another one may keep events for longer, but it lacks none, and makes none up. */
function holdsUnsettled(kept: readonly RunEvent[], again: readonly RunEvent[], all: readonly RunEvent[]): boolean {
  const there = new Set(kept.map(nameOf));
  const known = new Map(all.map((event) => [nameOf(event), event]));
  return (
    again.every((event) => there.has(nameOf(event))) &&
    kept.every((event) => samePlain(event, known.get(nameOf(event))))
  );
}

function partsOf({ folded, heard, waiting, events }: History, policy: LoadedPolicy): readonly unknown[] {
  const { state, sources, inFlight } = folded;
  const q = policy.withShared(state.q, policy.topState());
  return [q, state.memories, sources, inFlight, heard?.of, heard?.n, waiting, events];
}
