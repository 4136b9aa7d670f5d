/** A run's events out of its records, for folding. Any doubt is an error: the run then resumes at the top label. */
import type { RunEvent } from "../../core/event.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Replayed, Store, StoredRecord, Waiting } from "../store-port.ts";
import { makeLoader, openRecord, type Loader } from "./open-record.ts";
import { readBody, readPayload, type ReadBody } from "./record.ts";
import { recordPages } from "./record-pages.ts";
import { eventsOf } from "./short-events.ts";
import { saysWaiting, WaitingBook } from "./waiting.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
export const replayRecordsMax = 200_000;

type Part = { readonly events: readonly RunEvent[]; readonly complete: boolean; readonly policy: string | undefined };

async function partOf(loader: Loader, record: StoredRecord, waiting: WaitingBook): Promise<Result<Part, string>> {
  const place = `record ${record.writer}/${record.seq}`;
  const body = readBody(record.body);
  if (body === undefined) return err(`${place} cannot be read`);
  const policy = stringMember(body.context, "policy");
  if (body.entries.every(({ clear }) => !isArray(member(clear, "events")))) {
    readWaiting(loader.keys, { record, body }, waiting);
    return ok({ events: [], complete: true, policy });
  }
  const opened = await openRecord(loader, record, body);
  if (!opened.ok) return opened;
  const { entries, complete } = opened.value;
  for (const { head, payload } of entries) {
    const said = { notes: member(head.clear, "notes"), details: member(payload, "details"), policyDigest: policy };
    waiting.read({ events: eventsOf(head), ...said });
  }
  return ok({ events: entries.flatMap(({ events }) => events), complete, policy });
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
  let count = 0;
  for await (const page of recordPages(store, { run })) {
    if (!page.ok) return err(page.error.sentence);
    if (count >= replayRecordsMax) return err(`the run has more than ${replayRecordsMax} records`);
    for (const record of page.value) {
      const part = await partOf(loader, record, waiting);
      if (!part.ok) return part;
      events.push(...part.value.events);
      complete &&= part.value.complete;
      if (part.value.policy !== undefined) policies.add(part.value.policy);
    }
    count += page.value.length;
  }
  return ok({ events, complete, policies: [...policies], waiting: waiting.list() });
}

/** What a run has waiting, also where its events cannot be read into the present lattice, or are too many. */
export async function waitingOf(store: Store, keys: LogKeys, run: string): Promise<readonly Waiting[]> {
  const waiting = new WaitingBook();
  for await (const page of recordPages(store, { run })) {
    if (!page.ok) break;
    for (const record of page.value) {
      const body = readBody(record.body);
      if (body !== undefined) readWaiting(keys, { record, body }, waiting);
    }
  }
  return waiting.list();
}
