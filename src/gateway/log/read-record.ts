/**
 * A record of the log, opened: its entries with their events, and their payload where it can be read. Any doubt about
 * an event is an error; a payload that is gone only leaves values and rule keys away.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { LogKeys, Store, StoredRecord } from "../ports/store.ts";
import { contractFrom } from "./contract-codec.ts";
import { joinEvent } from "./event-codec.ts";
import { readJsonObject } from "./json-text.ts";
import { audienceReader, labelReader, latticeFrom } from "./label-codec.ts";
import type { ReadContext } from "./option-codec.ts";
import { readBody, readPayload, type ReadBody, type ReadEntry, eventsOf } from "./record.ts";

export type Loader = {
  readonly store: Store;
  readonly keys: LogKeys;
  readonly lattice: Lattice;
  readonly documents: Map<string, JsonObject>;
  readonly contexts: Map<string, ReadContext>;
};

export function makeLoader(store: Store, keys: LogKeys, lattice: Lattice): Loader {
  return { store, keys, lattice, documents: new Map(), contexts: new Map() };
}

/** The text that has this digest; undefined where there is none, and where it is another one by now. */
export async function textOfDigest(
  { store, keys }: Pick<Loader, "store" | "keys">,
  digest: string,
): Promise<string | undefined> {
  const text = await store.document(digest);
  return text.ok && text.value !== undefined && keys.hash(text.value) === digest ? text.value : undefined;
}

async function documentOf(loader: Loader, digest: string): Promise<JsonObject | undefined> {
  const { documents } = loader;
  const known = documents.get(digest);
  if (known !== undefined) return known;
  const text = await textOfDigest(loader, digest);
  const read = text === undefined ? undefined : readJsonObject(text);
  if (read !== undefined) documents.set(digest, read);
  return read;
}

/** Digests of contracts that the events and decisions of a record name. */
function contractsOf(body: ReadBody): readonly string[] {
  const digests: string[] = [];
  for (const { clear } of body.entries) {
    const events = member(clear, "events");
    for (const about of [...(isArray(events) ? events : []), member(clear, "decision")]) {
      const digest = stringMember(member(about, "option"), "contract");
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

export type OpenedEntry = {
  readonly head: ReadEntry;
  readonly events: readonly RunEvent[];
  /** Undefined where it was never kept, or cannot be read. */
  readonly payload: Json | undefined;
};

export type OpenedRecord = {
  readonly body: ReadBody;
  readonly entries: readonly OpenedEntry[];
  /** False if it has a payload that could not be read. */
  readonly complete: boolean;
  /** Undefined where nothing in the record needs it. */
  readonly context: ReadContext | undefined;
};

/** Whether anything in the record can only be read with the labels that it was written under. */
function needsLabels({ entries }: ReadBody): boolean {
  return entries.some(
    ({ clear }) => isArray(member(clear, "events")) || member(member(clear, "decision"), "option") !== undefined,
  );
}

/** Opens a record; `known` is its body, where that was read already. The error names the record and its fault. */
export async function openRecord(
  loader: Loader,
  record: StoredRecord,
  known?: ReadBody,
): Promise<Result<OpenedRecord, string>> {
  const place = `record ${record.writer}/${record.seq}`;
  const body = known ?? readBody(record.body);
  if (body === undefined) return err(`${place} cannot be read`);
  const context = needsLabels(body) ? await contextOf(loader, body) : undefined;
  if (context === undefined && needsLabels(body)) return err(`${place} uses labels that are not in the store`);
  const payloads = readPayload(loader.keys, record, body);
  const complete = body.head.payload === undefined || payloads !== undefined;
  const entries: OpenedEntry[] = [];
  for (const [part, head] of body.entries.entries()) {
    const payload = payloads?.[part];
    const events = context === undefined ? [] : eventsIn({ head, payload, complete, context });
    if (events === undefined) return err(`${place} holds an event whose labels or contract are not known any more`);
    entries.push({ head, events, payload });
  }
  return ok({ body, entries, complete, context });
}

type Parts = {
  readonly head: ReadEntry;
  readonly payload: Json | undefined;
  readonly complete: boolean;
  readonly context: ReadContext;
};

function eventsIn({ head, payload, complete, context }: Parts): readonly RunEvent[] | undefined {
  const hidden = member(payload, "events");
  const events: RunEvent[] = [];
  for (const [index, clear] of eventsOf(head).entries()) {
    const event = joinEvent(clear, isArray(hidden) ? hidden[index] : undefined, context);
    if (event === undefined) return undefined;
    // An instruction that cannot be read unlocks nothing; leaving it out is the strict side.
    if (event.kind === "registered" && !complete) continue;
    events.push(event);
  }
  return events;
}
