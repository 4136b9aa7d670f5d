/**
 * The history of a run as it is taken up: from its newest snapshot where one fits, and the records after it; else from its
 * first record. Both give the same run (docs/decisions/0034).
 */
import type { RunEvent } from "../../../core/event.ts";
import type { EventLog, ReplayWay, Waiting } from "../../ports/store.ts";
import type { FoldedRun, LiveRun } from "../live-run.ts";
import { lastRunIn } from "../refold.ts";
import { fitsOf, type History, historyFrom } from "./snapshot-text.ts";

export type ReadHistory = {
  /** The part that need not be folded any more. */
  readonly before: History | undefined;
  /** What is to be folded after it. */
  readonly events: readonly RunEvent[];
  readonly waiting: readonly Waiting[];
  /** False where a part of it cannot be read, or is gone. */
  readonly whole: boolean;
  /** Run key of the stream that the run is a member of. */
  readonly member: string | undefined;
};

/** Reads what a run has to fold; `stream` is the run key of the stream that it is a member of. */
export async function readHistory(
  log: EventLog,
  live: Pick<LiveRun, "key" | "policy">,
  until?: ReplayWay["until"],
  stream?: string,
): Promise<ReadHistory> {
  const short = (await shortHistory(log, live, until)) ?? (await begunHistory(log, live, until, stream));
  return short ?? wholeHistory(log, live, until);
}

/** The history of a run that began with the whole of a stream, from the snapshot of that on; undefined where it did not. */
async function begunHistory(
  log: EventLog,
  { key, policy }: Pick<LiveRun, "key" | "policy">,
  until: ReplayWay["until"],
  stream: string | undefined,
): Promise<(ReadHistory & { readonly before: History }) | undefined> {
  const snapshot = stream === undefined ? undefined : await log.snapshot(stream, fitsOf(policy));
  const before = snapshot === undefined ? undefined : historyFrom(snapshot);
  if (stream === undefined || before?.heard?.of !== stream) return undefined;
  const base = { of: stream, n: before.heard.n, record: before.place };
  const read = await log.replay(key, policy.lattice, { until, base });
  if (!read.ok || read.value.begins !== true || !read.value.complete) return undefined;
  const { events, waiting, member } = read.value;
  // Another run under its key came before it, and what that one began with is another part of the stream.
  if (lastRunIn(events).length < events.length) return undefined;
  const folded = { ...before.folded, state: { ...before.folded.state, key } };
  return { before: { ...before, run: key, folded }, events, waiting, whole: true, member };
}

/** The history from a snapshot on; undefined where none fits. */
export async function shortHistory(
  log: EventLog,
  { key, policy }: Pick<LiveRun, "key" | "policy">,
  until?: ReplayWay["until"],
): Promise<(ReadHistory & { readonly before: History }) | undefined> {
  const snapshot = await log.snapshot(key, fitsOf(policy));
  const before = snapshot === undefined ? undefined : historyFrom(snapshot);
  if (before !== undefined) {
    const rest = await log.replay(key, policy.lattice, { until, after: before });
    // A run that began since has nothing to do with the one before it under the same key.
    if (rest.ok && rest.value.complete && !rest.value.events.some(({ kind }) => kind === "begun")) {
      const { events, waiting, member } = rest.value;
      return { before, events, waiting, whole: true, member };
    }
  }
  return undefined;
}

/** Reads every event of a run. */
export async function wholeHistory(
  log: EventLog,
  { key, policy }: Pick<LiveRun, "key" | "policy">,
  until?: ReplayWay["until"],
): Promise<ReadHistory> {
  const all = await log.replay(key, policy.lattice, { until });
  const nothing = { before: undefined, events: [], whole: false, member: undefined };
  // Clients were informed of the items that wait: these are looked for also where the rest cannot be read.
  if (!all.ok) return { ...nothing, waiting: await log.waiting(key) };
  const { events, waiting, complete, member } = all.value;
  return { before: undefined, events: lastRunIn(events), waiting, whole: complete, member };
}

/** Makes a run of which nothing is folded what a snapshot says; what runs share is as it is now, if it ever changed. */
export function goOnFrom(live: FoldedRun, { folded }: History): void {
  const { state, sources, inFlight } = folded;
  const { policy } = live;
  const isShared = policy.sharedChanged(policy.engine.model.initial(undefined), live.state.q);
  live.state = isShared ? { ...state, q: policy.withShared(state.q, live.state.q) } : state;
  for (const [from, words] of sources) live.sources.set(from, words);
  for (const call of inFlight) live.inFlight.add(call);
}
