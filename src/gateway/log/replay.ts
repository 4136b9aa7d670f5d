/** A run's events out of its records, for folding. Any doubt is an error: the run then resumes at the top label. */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Replayed, Store, StoredRecord } from "../store-port.ts";
import { contractFrom } from "./contract-document.ts";
import { joinEvent } from "./event-reading.ts";
import { readJsonObject } from "./json-text.ts";
import { audienceReader, labelReader, latticeFrom } from "./label-reading.ts";
import type { ReadContext } from "./option-codec.ts";
import { readBody, readPayload, type ReadBody } from "./record.ts";
import { eventsOf } from "./short-events.ts";
import { saysWaiting, WaitingBook, type WaitingEntry } from "./waiting.ts";

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

type Part = {
  readonly entries: readonly WaitingEntry[];
  readonly complete: boolean;
  readonly policyDigest: string | undefined;
};

async function partOf(loader: Loader, record: StoredRecord): Promise<Result<Part, string>> {
  const place = `record ${record.writer}/${record.seq}`;
  const body = readBody(record.body);
  if (body === undefined) return err(`${place} cannot be read`);
  const policyDigest = stringMember(body.context, "policy");
  const eventful = body.entries.some(({ clear }) => isArray(member(clear, "events")));
  if (!eventful && !body.entries.some(({ clear }) => saysWaiting(member(clear, "notes")))) {
    return ok({ entries: [], complete: true, policyDigest });
  }
  const context = eventful ? await contextOf(loader, body) : noContext;
  if (context === undefined) return err(`${place} uses labels that are not in the store`);
  const payloads = readPayload(loader.keys, record, body.payload);
  const complete = !eventful || body.payload === undefined || payloads !== undefined;
  const entries: WaitingEntry[] = [];
  for (const [part, entry] of body.entries.entries()) {
    const payload = payloads?.[part];
    const hidden = member(payload, "events");
    const events: RunEvent[] = [];
    entries.push({ events, notes: member(entry.clear, "notes"), details: member(payload, "details"), policyDigest });
    for (const [index, clear] of eventsOf(entry).entries()) {
      const event = joinEvent(clear, isArray(hidden) ? hidden[index] : undefined, context);
      if (event === undefined) return err(`${place} holds an event whose labels or contract are not known any more`);
      // An instruction that cannot be read unlocks nothing; leaving it out is the strict side.
      if (event.kind === "registered" && !complete) continue;
      events.push(event);
    }
  }
  return ok({ entries, complete, policyDigest });
}

/** For records without events: there is nothing to read by it. */
const noContext: ReadContext = { read: () => undefined, contract: () => undefined };

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
      const part = await partOf(loader, record);
      if (!part.ok) return part;
      for (const entry of part.value.entries) {
        events.push(...entry.events);
        waiting.read(entry);
      }
      complete &&= part.value.complete;
      if (part.value.policyDigest !== undefined) policies.add(part.value.policyDigest);
      after = { writer: record.writer, seq: record.seq };
    }
    count += page.value.length;
    if (page.value.length < pageRecords) {
      return ok({ events, complete, policies: [...policies], waiting: waiting.list() });
    }
    if (count >= replayRecordsMax) return err(`the run has more than ${replayRecordsMax} records`);
  }
}
