/** The state of a run as the text of a snapshot, and back. */
import type { RunEvent } from "../../../core/event.ts";
import { plainFrom, plainText } from "../../../core/plain-state.ts";
import type { Result } from "../../../core/result.ts";
import type { ModelState, Run } from "../../../core/run.ts";
import type { Snapshot } from "../../ports/snapshots.ts";
import type { Waiting } from "../../ports/store.ts";
import type { Heard } from "../../ports/stream-note.ts";
import type { LoadedPolicy } from "../../ports/policy.ts";
import { snapshotCharactersMax } from "../../ports/limits.ts";
import type { FoldedRun } from "../live-run.ts";

/** Raised whenever the same text would mean another state. */
const stateFormat = 1;

/** All that a history leaves behind, up to one of its records. */
export type History = Pick<Snapshot, "run" | "place" | "sinceWallMs"> & {
  readonly folded: Pick<FoldedRun, "state" | "sources" | "inFlight">;
  /** How far it had heard the stream that it is a member of. */
  readonly heard: Heard | undefined;
  /** Events that are looked at again when the run is taken up (`unsettled-events.ts`). */
  readonly unsettled: readonly RunEvent[];
  readonly waiting: readonly Waiting[];
  /** Number of all events. */
  readonly events: number;
};

/** What a snapshot depends on beside the events of its run: folding them under anything else gives another state. */
export function fitsOf({ digest, engine, lattice }: LoadedPolicy): string {
  const mechanisms = engine.mechanisms.map(({ id, version }) => [id, version]);
  return JSON.stringify([stateFormat, digest, mechanisms, lattice.levels, lattice.categories, lattice.groups]);
}

type Kept = {
  readonly q: ModelState;
  readonly memories: Run["memories"];
  readonly sources: FoldedRun["sources"];
  readonly inFlight: FoldedRun["inFlight"];
} & Pick<History, "heard" | "unsettled" | "waiting" | "events">;

/** Made in steps; nothing of the history may change meanwhile. The error is a clause that says why there is no text. */
export function historyText({
  folded,
  heard,
  unsettled,
  waiting,
  events,
}: History): Generator<void, Result<string, string>> {
  const { state, sources, inFlight } = folded;
  const kept: Kept = { q: state.q, memories: state.memories, sources, inFlight, heard, unsettled, waiting, events };
  return plainText(kept, snapshotCharactersMax);
}

/** The history of a snapshot that is authentic and fits; undefined where it does not read. */
export function historyFrom({ run, place, sinceWallMs, text }: Snapshot): History | undefined {
  const read = plainFrom(text);
  if (!read.ok) return undefined;
  const { q, memories, sources, inFlight, ...rest } = read.value as Kept; // authentic, and of this format
  return { run, place, sinceWallMs, folded: { state: { key: run, q, memories }, sources, inFlight }, ...rest };
}
