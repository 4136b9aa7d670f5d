/** A run's events out of its records, for folding. Any doubt is an error: the run then resumes at the top label. */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Replayed, Store, StoredRecord, Waiting } from "../store-port.ts";
import { contractFrom } from "./contract-document.ts";
import { joinEvent } from "./event-reading.ts";
import { readJsonObject } from "./json-text.ts";
import { audienceReader, labelReader, latticeFrom } from "./label-reading.ts";
import type { ReadContext } from "./option-codec.ts";
import { readBody, readPayload, type ReadBody } from "./record.ts";
import { eventsOf } from "./short-events.ts";
import { saysWaiting, WaitingBook } from "./waiting.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
const replayRecordsMax = 200_000;

const pageRecords = 1_000;

type Loader = {
  readonly store: Store;
  readonly keys: LogKeys;
  readonly lattice: Lattice;
  readonly documents: Map<string, JsonObject>;
  readonly contexts: Map<string, ReadContext>;
};

/** A document by digest. Its text is checked on the way in, as it was named on the way out. */
async function documentOf({ store, keys, documents }: Loader, digest: string): Promise<JsonObject | undefined> {
  const known = documents.get(digest);
  if (known !== undefined) return known;
  const text = await store.document(digest);
  if (!text.ok || text.value === undefined || keys.hash(text.value) !== digest) return undefined;
  const read = readJsonObject(text.value);
  if (read !== undefined) documents.set(digest, read);
  return read;
}

/** Digests of contracts that the events of a record name. */
function contractsOf(body: ReadBody): readonly string[] {
  const digests: string[] = [];
  for (const { clear } of body.entries) {
    const events = member(clear, "events");
    for (const event of isArray(events) ? events : []) {
      const digest = stringMember(member(event, "option"), "contract");
      if (digest !== undefined) digests.push(digest);
    }
  }
  return digests;
}

/** Contracts are read once for each lattice that records were written under; usually that is one. */
function contractReader(loader: Loader, from: Lattice): ReadContext {
  const read = labelReader(from, loader.lattice);
  const readAudience = audienceReader(from, loader.lattice);
  const contracts = new Map<string, ToolContract | undefined>();
  return {
    read,
    contract: (digest) => {
      if (!contracts.has(digest)) {
        const document = loader.documents.get(digest);
        contracts.set(digest, document === undefined ? undefined : contractFrom(document, read, readAudience));
      }
      return contracts.get(digest);
    },
  };
}

async function contextOf(loader: Loader, body: ReadBody): Promise<ReadContext | undefined> {
  const digest = stringMember(body.context, "lattice") ?? "";
  for (const contract of contractsOf(body)) await documentOf(loader, contract);
  const known = loader.contexts.get(digest);
  if (known !== undefined) return known;
  const document = await documentOf(loader, digest);
  const from = document === undefined ? undefined : latticeFrom(document);
  if (from === undefined) return undefined;
  const context = contractReader(loader, from);
  loader.contexts.set(digest, context);
  return context;
}

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
  const context = await contextOf(loader, body);
  if (context === undefined) return err(`${place} uses labels that are not in the store`);
  const payloads = readPayload(loader.keys, record, body.payload);
  const complete = body.payload === undefined || payloads !== undefined;
  const events: RunEvent[] = [];
  for (const [part, entry] of body.entries.entries()) {
    const hidden = member(payloads?.[part], "events");
    const clears = eventsOf(entry);
    const details = member(payloads?.[part], "details");
    waiting.read({ events: clears, notes: member(entry.clear, "notes"), details, policyDigest: policy });
    for (const [index, clear] of clears.entries()) {
      const event = joinEvent(clear, isArray(hidden) ? hidden[index] : undefined, context);
      if (event === undefined) return err(`${place} holds an event whose labels or contract are not known any more`);
      // An instruction that cannot be read unlocks nothing; leaving it out is the strict side.
      if (event.kind === "registered" && !complete) continue;
      events.push(event);
    }
  }
  return ok({ events, complete, policy });
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
  const loader: Loader = { store, keys, lattice, documents: new Map(), contexts: new Map() };
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
