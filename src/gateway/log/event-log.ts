/**
 * The event log over a store: entries become records, records become a chain, chains become signed. Everything up to
 * `Store.append` happens synchronously, so the order of calls is the order of the chain.
 */
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { maySecret } from "../../core/secret.ts";
import { err, ok } from "../../core/result.ts";
import type {
  Alongside,
  AppendBatch,
  EventLog,
  Head,
  LogEntry,
  LogKeys,
  LogView,
  OpenCall,
  Store,
  StoredCheckpoint,
  StoredRecord,
  StoreFailure,
} from "../store-port.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import { callsOf, makeDocuments, splitEntry, withoutSecrets, type Documents } from "./entry.ts";
import { readJsonObject } from "./json-text.ts";
import { bodyText, boundTo, fingerprintOf, viewOf, type PayloadNote } from "./record.ts";
import { replayRun } from "./replay.ts";

export type EventLogOptions = {
  readonly store: Store;
  readonly keys: LogKeys;
  /** Milliseconds since the epoch. */
  readonly wallMs: () => number;
  /** Identity of this writer's chain: random, at least 128 bits, hex. */
  readonly chain: string;
  /** Records between two signatures. */
  readonly checkpointRecords?: number;
  /** Milliseconds between two signatures while records come. */
  readonly checkpointMs?: number;
  /** Bytes of a payload that is kept; of a larger one the digest only, and its run resumes at the top label. */
  readonly payloadBytesMax?: number;
};

const checkpointRecordsDefault = 1_000;
const checkpointMsDefault = 60_000;
const payloadBytesMaxDefault = 32 * 1024 * 1024;

/** Head of the chain and when it was last signed; everything that an append changes. */
type ChainHead = { seq: number; fingerprint: string; signedSeq: number; signedWallMs: number };

type Draft = {
  readonly run: string;
  readonly kind: string;
  readonly at: number;
  readonly call?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly clear: JsonObject;
  readonly payloadText?: string | undefined;
  readonly how?: PayloadNote["how"];
};

type Chained = { readonly options: EventLogOptions; readonly head: ChainHead; readonly documents: Documents };

function keepPayload(
  { options, head }: Chained,
  draft: Draft,
  wallMs: number,
): { readonly note: PayloadNote | undefined; readonly bytes: Uint8Array | undefined } {
  const { payloadText: text, how = "sealed" } = draft;
  const { keys } = options;
  if (text === undefined) return { note: undefined, bytes: undefined };
  const tooLarge = text.length > (options.payloadBytesMax ?? payloadBytesMaxDefault);
  if (how === "digests" || tooLarge) {
    const note: PayloadNote = { how: "digests", digest: keys.keyedDigest(text) };
    return { note: tooLarge ? { ...note, tooLarge } : note, bytes: undefined };
  }
  const bytes =
    how === "clear"
      ? new TextEncoder().encode(text)
      : keys.seal(draft.run, text, boundTo(options.store.opening.writer, head.seq), wallMs);
  return { note: { how, digest: keys.hash(bytes) }, bytes };
}

/** Puts one record at the end of the chain. */
function chain(state: Chained, draft: Draft, wallMs: number): StoredRecord {
  const { options, head } = state;
  const { writer } = options.store.opening;
  head.seq += 1;
  const { note, bytes } = keepPayload(state, draft, wallMs);
  const { run, kind, at, call, server, tool } = draft;
  const place = { writer, seq: head.seq, wallTime: new Date(wallMs).toISOString(), at, run, kind };
  const subject = {
    ...(call === undefined ? {} : { call }),
    ...(server === undefined ? {} : { server }),
    ...(tool === undefined ? {} : { tool }),
  };
  let body = bodyText({ ...place, ...subject }, draft.clear, note);
  // The clear part is nearly always clean, so its text is made once and looked at as a whole.
  if (maySecret(body)) body = bodyText({ ...place, ...subject }, withoutSecrets(draft.clear, options.keys), note);
  head.fingerprint = fingerprintOf(options.keys, head.fingerprint, body);
  return { writer, seq: head.seq, run, kind, body, payload: bytes, fingerprint: head.fingerprint };
}

function sign({ options, head }: Chained, wallMs: number): StoredCheckpoint {
  const { writer } = options.store.opening;
  head.signedSeq = head.seq;
  head.signedWallMs = wallMs;
  const at: Head = { writer, seq: head.seq, fingerprint: head.fingerprint };
  return makeCheckpoint(options.keys, at, options.chain, new Date(wallMs).toISOString());
}

function signIfDue(state: Chained, wallMs: number): { readonly checkpoint?: StoredCheckpoint } {
  const { options, head } = state;
  const due =
    head.seq - head.signedSeq >= (options.checkpointRecords ?? checkpointRecordsDefault) ||
    wallMs - head.signedWallMs >= (options.checkpointMs ?? checkpointMsDefault);
  return due ? { checkpoint: sign(state, wallMs) } : {};
}

function batchOf(state: Chained, entries: readonly LogEntry[], alongside: Alongside): AppendBatch {
  const wallMs = state.options.wallMs();
  const records: StoredRecord[] = [];
  const opened: OpenCall[] = [];
  const settled: { run: string; call: string }[] = [];
  for (const entry of entries) {
    const parts = splitEntry(entry, state.options.keys, state.documents);
    const draft = { ...parts, run: entry.run, at: entry.at, how: entry.context.payload };
    records.push(chain(state, draft, wallMs));
    const calls = callsOf(entry.events, entry.run, wallMs);
    opened.push(...calls.opened);
    settled.push(...calls.settled);
  }
  const documents = state.documents.take();
  return { records, documents, opened, settled, ...alongside, ...signIfDue(state, wallMs) };
}

function openingDraft({ options }: Chained, at: number): Draft {
  const { previous, resumeAtTop } = options.store.opening;
  const clear = {
    chain: options.chain,
    signer: options.keys.signer,
    ...(previous === undefined ? {} : { previous: { ...previous } }),
    ...(resumeAtTop ? { resumeAtTop } : {}),
  };
  return { run: "", kind: "opened", at, clear };
}

function unsealed(cause: unknown): StoreFailure {
  const sentence = cause instanceof Error ? cause.message : "The event could not be sealed.";
  return { kind: "unreachable", place: "key folder", sentence };
}

function sealing({ keys, wallMs }: EventLogOptions): Pick<EventLog, "seal" | "open"> {
  return {
    seal: (run, value) => keys.seal(run, JSON.stringify(value), "card", wallMs()),
    open: (run, sealed) => {
      const opened = keys.open(run, sealed, "card");
      return opened.ok ? readJsonObject(opened.value) : undefined;
    },
  };
}

async function tailOf(
  { store, keys }: EventLogOptions,
  count: number,
  run: string | undefined,
): Promise<Result<readonly LogView[], StoreFailure>> {
  const found = await store.records({ order: "newest", limit: count, ...(run === undefined ? {} : { run }) });
  if (!found.ok) return found;
  const views = found.value.map((record) => viewOf(keys, record));
  return ok(views.filter((view) => view !== undefined).toReversed());
}

/** The first record of this writer names the last one of the writer before, so no writer can vanish unseen. */
export async function openEventLog(options: EventLogOptions, at: number): Promise<Result<EventLog, StoreFailure>> {
  const { store, keys } = options;
  const head: ChainHead = { seq: 0, fingerprint: "", signedSeq: 0, signedWallMs: options.wallMs() };
  const state: Chained = { options, head, documents: makeDocuments(keys) };
  /** Set while the chain is being taken up again: a record that slipped in between would hang on a lost one. */
  let recovering: StoreFailure | undefined;
  const appendDraft = (draft: Draft): Promise<Result<void, StoreFailure>> => {
    if (recovering !== undefined) return Promise.resolve(err(recovering));
    const wallMs = options.wallMs();
    const record = chain(state, draft, wallMs);
    return store.append({ records: [record], checkpoint: sign(state, wallMs) });
  };
  const begun = await appendDraft(openingDraft(state, at));
  if (!begun.ok) return begun;
  return ok({
    store,
    ...sealing(options),
    append: (entries, alongside = {}) => {
      if (recovering !== undefined) return Promise.resolve(err(recovering));
      const before = { ...head };
      let batch: AppendBatch;
      try {
        batch = batchOf(state, entries, alongside);
      } catch (cause) {
        // Sealing needs a key file on the day's first record; without it nothing may be written, and nothing was.
        Object.assign(head, before);
        state.documents.reset();
        return Promise.resolve(err(unsealed(cause)));
      }
      return store.append(batch);
    },
    replay: (run, lattice) => replayRun(store, keys, run, lattice),
    tail: (count, run) => tailOf(options, count, run),
    checkpoint: (now) => {
      if (head.seq === head.signedSeq) return Promise.resolve(ok(undefined));
      return appendDraft({ run: "", kind: "checkpoint", at: now, clear: {} });
    },
    health: () => store.health(),
    recover: async () => {
      const health = store.health();
      if (health.kind === "ok" || recovering !== undefined) return ok(undefined);
      recovering = health.failure;
      const recovered = await store.recover();
      const last = recovered.ok ? await store.head(store.opening.writer) : recovered;
      recovering = undefined;
      if (!last.ok) return last;
      // What was refused never became part of the chain: it goes on from what is really there.
      head.seq = last.value?.seq ?? 0;
      head.fingerprint = last.value?.fingerprint ?? "";
      head.signedSeq = Math.min(head.signedSeq, head.seq);
      state.documents.reset();
      return ok(undefined);
    },
    close: async (now) => {
      const closed = await appendDraft({ run: "", kind: "closed", at: now, clear: {} });
      await store.close(closed.ok);
    },
  });
}
