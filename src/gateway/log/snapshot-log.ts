/**
 * Snapshots of runs in the log (docs/decisions/0034). The text of a snapshot is sealed like a payload of its run, under the
 * key of the day of the run's first record: where the payloads of that day cannot be read any more, neither can what was
 * folded of them. Nothing of a snapshot is believed that does not open, does not name its own run and place, was written
 * by another release or for something that does not fit, or whose record is not on the chain of this store.
 */
import { member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Snapshot, StoredSnapshot } from "../ports/snapshots.ts";
import type { LogKeys, Store, StoreFailure } from "../ports/store.ts";
import { readJsonObject } from "./json-text.ts";
import { isOnChain } from "./kept-records.ts";

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

/**
 * What a snapshot in the store is. `unreadable`: the key of its day is gone. `foreign`: another release wrote it, so nothing
 * goes on from it. `altered`: it does not open, is not what its row says, or its record is not in the log.
 */
export type Inspected =
  | { readonly kind: "unreadable" | "foreign" }
  | { readonly kind: "altered"; readonly at: Pick<StoredSnapshot, "writer" | "seq"> }
  | { readonly kind: "authentic"; readonly snapshot: Snapshot };

/** Looks at the snapshot of a run for `audit verify`; undefined where it has none, or the store cannot be read. */
export async function inspectSnapshot(needs: Needs, run: string): Promise<Inspected | undefined> {
  const { store, keys, release } = needs;
  const stored = await store.snapshot(run);
  if (!stored.ok || stored.value === undefined) return undefined;
  const { writer, seq, sealed } = stored.value;
  const opened = keys.open(run, sealed, bound(writer, seq));
  const altered = { kind: "altered", at: { writer, seq } } as const;
  if (!opened.ok) return opened.error === "missing-key" ? { kind: "unreadable" } : altered;
  const head = readJsonObject(opened.value.slice(0, opened.value.indexOf("\n")));
  // Authentic, so this is what its writer said of itself.
  if (stringMember(head, "release") !== (release ?? "") || member(head, "format") !== snapshotFormat) {
    return { kind: "foreign" };
  }
  const snapshot = readSnapshot(needs, run, { writer, seq, text: opened.value });
  return snapshot !== undefined && (await isOnChain(store, run, snapshot.place))
    ? { kind: "authentic", snapshot }
    : altered;
}

/** A snapshot as it was written; undefined where it does not open, or is not what its row says. */
async function openSnapshot(needs: Needs, run: string): Promise<Snapshot | undefined> {
  const stored = await needs.store.snapshot(run);
  if (!stored.ok || stored.value === undefined) return undefined;
  const { writer, seq, sealed } = stored.value;
  const opened = needs.keys.open(run, sealed, bound(writer, seq));
  return opened.ok ? readSnapshot(needs, run, { writer, seq, text: opened.value }) : undefined;
}

type Opened = { readonly writer: number; readonly seq: number; readonly text: string };

function readSnapshot({ release }: Needs, run: string, { writer, seq, text: whole }: Opened): Snapshot | undefined {
  const end = whole.indexOf("\n");
  if (end < 0) return undefined;
  const head = readJsonObject(whole.slice(0, end));
  const fingerprint = stringMember(head, "fingerprint") ?? "";
  const fits = stringMember(head, "fits") ?? "";
  const since = member(head, "sinceWallMs");
  const sinceWallMs = typeof since === "number" ? since : Number.NaN;
  const snapshot = { run, place: { writer, seq, fingerprint }, sinceWallMs, fits, text: whole.slice(end + 1) };
  // One way to write a head, so comparing the texts compares every member of it.
  return whole.slice(0, end) === headText(snapshot, release) ? snapshot : undefined;
}

/** The snapshot of a run that can be gone on from. */
export async function fittingSnapshot(needs: Needs, run: string, fits: string): Promise<Snapshot | undefined> {
  const snapshot = await openSnapshot(needs, run);
  return snapshot?.fits === fits && (await isOnChain(needs.store, run, snapshot.place)) ? snapshot : undefined;
}
