/** Failures of a database as sentences with place and remedy. */
import type { StoreFailure } from "../../gateway/ports/store.ts";

/** Primary SQLite result codes (sqlite3.h). */
const sqliteKinds: Readonly<Record<number, StoreFailure["kind"]>> = {
  5: "busy",
  6: "busy",
  11: "damaged",
  13: "full",
  26: "damaged",
};

const sentences: Readonly<Record<StoreFailure["kind"], (place: string) => string>> = {
  full: (place) => `The event log ${place} cannot grow: the disk is full. Free space, then run \`sluicegate doctor\`.`,
  damaged: (place) =>
    `The event log ${place} is damaged. Nothing was changed. Restore a backup, or run \`sluicegate audit set-aside\`: a new log then starts without its runs.`,
  newer: (place) => `The event log ${place} was made by a newer version of Sluicegate. Run that version or newer.`,
  foreign: (place) => `${place} is a database of another program. Choose another state folder.`,
  busy: (place) =>
    `Another Sluicegate process owns ${place}. Stop it (a daemon with \`sluicegate daemon stop\`, a gateway in its own terminal or service), then try again.`,
  closed: (place) => `The event log ${place} is closed. Start the gateway again.`,
  unreachable: (place) => `The event log ${place} cannot be read or written. Check its owner, its folder and the disk.`,
};

/** A failure of the store at `place`, with its sentence. */
export function storeFailure(kind: StoreFailure["kind"], place: string): StoreFailure {
  return { kind, place, sentence: sentences[kind](place) };
}

/** A log that lost its name: what is written to it goes nowhere. */
export class LogGone extends Error {}

const gone = (place: string): string =>
  `The event log ${place} was removed or replaced while it was in use, so no call passes. Put it back, or run \`sluicegate daemon stop\` and start again.`;

/** The failure behind an exception of node:sqlite or the file system. */
export function failureFrom(cause: unknown, place: string): StoreFailure {
  if (cause instanceof LogGone) return { ...storeFailure("unreachable", place), sentence: gone(place) };
  // Node puts SQLite's extended code into `errcode`; its low byte is the primary one.
  const code = cause instanceof Error && "errcode" in cause ? Number(cause.errcode) & 0xff : -1;
  const noSpace = cause instanceof Error && "code" in cause && cause.code === "ENOSPC";
  return storeFailure(noSpace ? "full" : (sqliteKinds[code] ?? "unreachable"), place);
}
