/**
 * Snapshots of runs, so that a long run is taken up again without reading all of its records (docs/decisions/0034). A
 * snapshot is never believed for its own sake: it is sealed like a payload of its run, names the record that it stands for,
 * and what does not fit is left aside. Without it the run is folded from its first record.
 */
import type { Heard } from "./stream-note.ts";

/** A record on the chain. */
type Place = { readonly writer: number; readonly seq: number; readonly fingerprint: string };

/** The last record of a run that was read. */
export type LastRecord = {
  readonly place: Place;
  /** When the first one was written, in ms since 1970. */
  readonly sinceWallMs: number;
  /** How far the run had heard the stream that it is a member of. */
  readonly heard: Heard | undefined;
  /** There are more records than were wanted. */
  readonly more: boolean;
};

/** A snapshot as the store holds it; each run has at most one. */
export type StoredSnapshot = {
  readonly run: string;
  /** The last record of the run that it stands for. */
  readonly writer: number;
  readonly seq: number;
  readonly sealed: Uint8Array;
};

/** A snapshot as the log gives it: authentic, and its record is on the chain of the store. */
export type Snapshot = {
  readonly run: string;
  /** The last record of the run that it stands for. */
  readonly place: Place;
  /** When the first record of the run was written, in ms since 1970: it is sealed with the key of that day. */
  readonly sinceWallMs: number;
  /** What has to be the same for the text to mean the same: policy, mechanisms. */
  readonly fits: string;
  readonly text: string;
};
