/**
 * Snapshots of runs in the log (docs/decisions/0034). The text of a snapshot is sealed like a payload of its run, under the
 * key of the day of the run's first record: where the payloads of that day cannot be read any more, neither can what was
 * folded of them. Nothing of a snapshot is believed that does not open, does not name its own run and place, was written
 * by another release or for something that does not fit, or whose record is not on the chain of this store.
 */
import { member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Snapshot } from "../ports/snapshots.ts";
import type { LogKeys, Store, StoreFailure } from "../ports/store.ts";
import { readJsonObject } from "./json-text.ts";

/** Form of the text in front of which the head stands; raised with it. */
const snapshotFormat = 1;

type Needs = {
  readonly store: Store;
  readonly keys: Pick<LogKeys, "seal" | "open">;
  /** The release that folds: another one may fold the same events to another state. */
  readonly release?: string | undefined;
};

function bound(writer: number, seq: number): string {
  return `snapshot ${writer} ${seq}`;
}

function headText({ run, place, sinceWallMs, fits }: Snapshot, release: string | undefined): string {
  return JSON.stringify({ format: snapshotFormat, release: release ?? "", run, ...place, sinceWallMs, fits });
}

/** Seals and stores a snapshot, in place of the one before. */
export function keepSnapshot({ store, keys, release }: Needs, snapshot: Snapshot): Promise<Result<void, StoreFailure>> {
  const { run, place, sinceWallMs, text } = snapshot;
  const { writer, seq } = place;
  const whole = `${headText(snapshot, release)}\n${text}`;
  const sealed = keys.seal(run, whole, bound(writer, seq), sinceWallMs);
  return store.putSnapshot({ run, writer, seq, sealed });
}

/** A snapshot as it was written; undefined where it does not open, or is not what its row says. */
export async function openSnapshot({ store, keys, release }: Needs, run: string): Promise<Snapshot | undefined> {
  const stored = await store.snapshot(run);
  if (!stored.ok || stored.value === undefined) return undefined;
  const { writer, seq, sealed } = stored.value;
  const opened = keys.open(run, sealed, bound(writer, seq));
  const end = opened.ok ? opened.value.indexOf("\n") : -1;
  if (!opened.ok || end < 0) return undefined;
  const head = readJsonObject(opened.value.slice(0, end));
  const fingerprint = stringMember(head, "fingerprint") ?? "";
  const fits = stringMember(head, "fits") ?? "";
  const since = member(head, "sinceWallMs");
  const sinceWallMs = typeof since === "number" ? since : Number.NaN;
  const snapshot = { run, place: { writer, seq, fingerprint }, sinceWallMs, fits, text: opened.value.slice(end + 1) };
  // One way to write a head, so comparing the texts compares every member of it.
  return opened.value.slice(0, end) === headText(snapshot, release) ? snapshot : undefined;
}

/** The snapshot of a run that can be gone on from. */
export async function fittingSnapshot(needs: Needs, run: string, fits: string): Promise<Snapshot | undefined> {
  const snapshot = await openSnapshot(needs, run);
  return snapshot?.fits === fits && (await isOnChain(needs.store, snapshot)) ? snapshot : undefined;
}

/** Whether the record that a snapshot stands for is there, is of its run, and is the one that was there then. */
async function isOnChain(store: Store, { run, place }: Snapshot): Promise<boolean> {
  const after = { writer: place.writer, seq: place.seq - 1 };
  const found = await store.records({ run, after, order: "oldest", limit: 1 });
  const record = found.ok ? found.value[0] : undefined;
  return record?.writer === place.writer && record.seq === place.seq && record.fingerprint === place.fingerprint;
}
