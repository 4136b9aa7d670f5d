/**
 * Facts that a run needs of runs before it: its ancestors, the earlier runs of its conversation, and the restrictions
 * of these. All of it is in the store, so it outlives processes, ends and restarts; unreadable data is an error.
 */
import type { RunEvent } from "../../core/event.ts";
import type { Lattice } from "../../core/label.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { ancestorsMax, conversationRunsMax } from "../ports/limits.ts";
import { Images, restrictiveImage } from "./restrictive-images.ts";
import { isLostIn, isSpent } from "./live-run.ts";
import { lastRunIn } from "./refold.ts";
import { conversationOf, lineageOf } from "./run-key.ts";
import type { EventLog, ReplayWay, RunRow, Store } from "../ports/store.ts";

/**
 * Rows of the runs above one, its parent first. A missing row is an error: the runs that its run joins would be
 * unknown.
 */
export async function ancestryOf(store: Store, parent: string | undefined): Promise<Result<readonly RunRow[], string>> {
  const found: RunRow[] = [];
  for (let key = parent; key !== undefined; key = found.at(-1)?.parent) {
    if (found.length >= ancestorsMax) return err(`the run has more than ${ancestorsMax} ancestors`);
    const above = await store.run(key);
    if (!above.ok || above.value === undefined) return err("the store does not say which run began this one");
    found.push(above.value);
  }
  return ok(found);
}

/** Runs of the conversation that a key holds, open or with facts that no later run has; none for other keys. */
export async function conversationRuns(
  store: Store,
  { key, principal }: { readonly key: string; readonly principal: string },
): Promise<Result<readonly RunRow[], string>> {
  const conversation = conversationOf(key, principal);
  if (conversation === undefined) return ok([]);
  const inProcesses = await store.runsEnding(principal, `/${conversation}`);
  const ofUser = await store.run(`${principal}/hook:${conversation}`);
  if (!inProcesses.ok || !ofUser.ok) return err("the store does not say which runs a conversation had");
  const all = [...inProcesses.value, ...(ofUser.value === undefined ? [] : [ofUser.value])];
  const lineage = lineageOf(key, principal);
  const found = all.filter((row) => row.principal === principal && lineageOf(row.key, principal) === lineage);
  return ok(found.filter((row) => !isSpent(row)));
}

/** The run that is open under a key; `lost` where it is unknown what the run holds. */
export type Open = { readonly key: string | undefined; readonly lost: boolean };

/** The run of a key as the store has it, where it is open. */
export async function openIn(store: Store, key: string): Promise<Open> {
  const row = await store.run(key);
  if (!row.ok) return { key: undefined, lost: true };
  const isOpen = row.value !== undefined && row.value.endedWallMs === undefined;
  return { key: isOpen ? key : undefined, lost: isOpen && isLostIn(row.value) };
}

export type Inherited = {
  /** Everything that restricts, each image once: runs that heard of each other hold the same ones. */
  readonly images: readonly RunEvent[];
  /** False if a history is lost or unreadable, so that it may have held anything. */
  readonly whole: boolean;
  /** Keys of the runs whose history cannot be read. */
  readonly unread: readonly string[];
  /** A policy ended one of them as unsafe, and no trusted act has begun a new run since. */
  readonly stopped: boolean;
};

export type Inheriting = {
  /** Of the run of this key only what happened in it. */
  readonly ownOnly?: string | undefined;
  readonly until?: ReplayWay["until"];
};

/** Reads what restricts the runs of these keys, in the labels of `lattice`. */
export async function inheritedFrom(
  log: EventLog,
  keys: Iterable<string>,
  lattice: Lattice,
  { ownOnly, until }: Inheriting = {},
): Promise<Inherited> {
  const images = new Images();
  const unread: string[] = [];
  let stopped = false;
  let count = 0;
  for (const key of new Set(keys)) {
    count += 1;
    const history = count > conversationRunsMax ? undefined : await log.replay(key, lattice, { until });
    if (history?.ok !== true || !history.value.complete) {
      unread.push(key);
      continue;
    }
    for (const event of lastRunIn(history.value.events)) {
      if (event.kind === "ended" && event.cause === "unsafe") stopped = true;
      const passedOn = key === ownOnly && "from" in event && event.from !== undefined;
      if (!passedOn) for (const image of restrictiveImage(event, key)) images.add(image);
    }
  }
  return { images: images.all(), whole: unread.length === 0, unread, stopped };
}
