/** A run's events out of its records, for folding. Any doubt is an error: the run then resumes at the top label. */
import type { RunEvent } from "../../core/event.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Replayed, Store, StoredRecord, Waiting } from "../store-port.ts";
import { makeLoader, openRecord, type Loader } from "./open-record.ts";
import { readBody, readPayload, type ReadBody } from "./record.ts";
import { eventsOf } from "./short-events.ts";
import { saysWaiting, WaitingBook } from "./waiting.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
export const replayRecordsMax = 200_000;

export const pageRecords = 1_000;

type Part = { readonly events: readonly RunEvent[]; readonly complete: boolean; readonly policy: string | undefined };

async function partOf(loader: Loader, record: StoredRecord, waiting: WaitingBook): Promise<Result<Part, string>> {
  const opened = await openRecord(loader, record);
  if (!opened.ok) return opened;
  const { body, entries, complete } = opened.value;
  const policy = stringMember(body.context, "policy");
  for (const { head, payload } of entries) {
    const details = member(payload, "details");
    waiting.read({ events: eventsOf(head), notes: member(head.clear, "notes"), details, policyDigest: policy });
  }
  const events = entries.flatMap((entry) => entry.events);
  // Where nothing happened to the run, nothing of it is missing either.
  const quiet = body.entries.every(({ clear }) => !isArray(member(clear, "events")));
  return ok({ events, complete: complete || quiet, policy });
}

/** What a record says of what waits. Payloads are opened only where they hold something of it. */
function readWaiting(
  keys: LogKeys,
  { record, body }: { readonly record: StoredRecord; readonly body: ReadBody },
  waiting: WaitingBook,
): void {
  const policyDigest = stringMember(body.context, "policy");
  const says = body.entries.some(({ clear }) => saysWaiting(member(clear, "notes")));
  const payloads = says ? readPayload(keys, record, body.payload) : undefined;
  for (const [part, entry] of body.entries.entries()) {
    const details = member(payloads?.[part], "details");
    waiting.read({ events: eventsOf(entry), notes: member(entry.clear, "notes"), details, policyDigest });
  }
}

/** The events of a run in log order. */
export async function replayRun(
  store: Store,
  keys: LogKeys,
  run: string,
  lattice: Lattice,
): Promise<Result<Replayed, string>> {
  const loader = makeLoader(store, keys, lattice);
  const events: RunEvent[] = [];
  const policies = new Set<string>();
  const waiting = new WaitingBook();
  let complete = true;
  let after: { writer: number; seq: number } | undefined;
  let count = 0;
  for (;;) {
    const query = { run, order: "oldest" as const, limit: pageRecords };
    const page = await store.records(after === undefined ? query : { ...query, after });
    if (!page.ok) return err(page.error.sentence);
    for (const record of page.value) {
      const part = await partOf(loader, record, waiting);
      if (!part.ok) return part;
      events.push(...part.value.events);
      complete &&= part.value.complete;
      if (part.value.policy !== undefined) policies.add(part.value.policy);
      after = { writer: record.writer, seq: record.seq };
    }
    count += page.value.length;
    if (page.value.length < pageRecords) {
      return ok({ events, complete, policies: [...policies], waiting: waiting.list() });
    }
    if (count >= replayRecordsMax) return err(`the run has more than ${replayRecordsMax} records`);
  }
}

/** What a run has waiting, also where its events cannot be read into the present lattice, or are too many. */
export async function waitingOf(store: Store, keys: LogKeys, run: string): Promise<readonly Waiting[]> {
  const waiting = new WaitingBook();
  let after: { writer: number; seq: number } | undefined;
  for (;;) {
    const query = { run, order: "oldest" as const, limit: pageRecords };
    const page = await store.records(after === undefined ? query : { ...query, after });
    if (!page.ok) return waiting.list();
    for (const record of page.value) {
      const body = readBody(record.body);
      if (body !== undefined) readWaiting(keys, { record, body }, waiting);
      after = { writer: record.writer, seq: record.seq };
    }
    if (page.value.length < pageRecords) return waiting.list();
  }
}
