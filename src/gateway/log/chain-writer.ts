/**
 * From entries to records. An entry is turned into text when it comes; entries that come until the store begins its
 * transaction are then chained together, and entries of one run that follow each other become one record: one seal, two
 * hashes and one row for all of them. Order of entries is order of the chain.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { PayloadMode } from "../ports/log-context.ts";
import type {
  Alongside,
  AppendBatch,
  Head,
  LogEntry,
  LogKeys,
  OpenCall,
  RunRow,
  SharedRow,
  Store,
  StoredCheckpoint,
  StoredRecord,
  StoreFailure,
} from "../ports/store.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import { entryWriter, makeDocuments, type Documents, type EntryTexts, type EntryWriter } from "./entry.ts";
import { listText } from "./json-text.ts";
import { bodyText, boundTo, fingerprintOf, type PayloadNote } from "./record.ts";

export type EventLogOptions = {
  readonly store: Store;
  readonly keys: LogKeys;
  /** Milliseconds since the epoch. */
  readonly wallMs: () => number;
  /** Identity of this writer's chain: random, at least 128 bits, hex. */
  readonly chain: string;
  /** The release of this program, which snapshots of runs are bound to. */
  readonly release?: string;
  /** Records between two signatures. */
  readonly checkpointRecords?: number;
  /** Milliseconds between two signatures while records come. */
  readonly checkpointMs?: number;
  /** Characters of a payload that is kept; of a larger one the digest only, and its run resumes at the top label. */
  readonly payloadBytesMax?: number;
};

const checkpointRecordsDefault = 1_000;
const checkpointMsDefault = 60_000;
const payloadBytesMaxDefault = 32 * 1024 * 1024;

/** Entries of one record, and the characters of payload up to which another entry may join. */
const entriesMax = 64;
const joinedCharactersMax = 256 * 1024;

/** Records of one batch; bounds how long the event loop stands still. */
const recordsMax = 1_024;

/** Head of the chain and when it was last signed; everything that an append changes. */
export type ChainHead = { seq: number; fingerprint: string; signedSeq: number; signedWallMs: number };

/** Entries of one record. */
type Group = {
  readonly run: string;
  readonly context: string;
  readonly how: PayloadMode;
  /** Kind of the last entry. */
  kind: string;
  readonly clear: string[];
  readonly hidden: string[];
  /** Whether any entry hides something, and how many characters. */
  hides: boolean;
  characters: number;
};

/** The entries that came until the store begins its transaction; all of them go into that one. */
export type Batch = {
  readonly groups: Group[];
  readonly opened: Map<string, OpenCall>;
  readonly settled: { readonly run: string; readonly call: string }[];
  readonly runs: RunRow[];
  shared: SharedRow | undefined;
  /** Set when it could not be sealed. */
  failure: StoreFailure | undefined;
  /** The one answer to all appends of the batch. */
  written: Promise<Result<void, StoreFailure>> | undefined;
};

export class ChainWriter {
  readonly head: ChainHead;
  readonly #options: EventLogOptions;
  readonly #documents: Documents;
  readonly #entries: EntryWriter;
  /** The batch that appends join. */
  #open: Batch | undefined;
  /** Calls in flight that are not listed as open. */
  readonly #unlisted = new Set<string>();

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#documents = makeDocuments(options.keys);
    this.#entries = entryWriter(options.keys, this.#documents);
    this.head = { seq: 0, fingerprint: "", signedSeq: 0, signedWallMs: options.wallMs() };
  }

  /** Takes entries in the order in which they come, and gives the batch that they will be written with. */
  add(entries: readonly LogEntry[], { runs, shared }: Alongside): Result<Batch, StoreFailure> {
    try {
      const texts = this.#entries.texts(entries);
      const batch = this.#batchFor(shared);
      for (const [index, entry] of entries.entries()) {
        const text = texts[index];
        if (text !== undefined) this.#join(batch, entry, text);
        this.#noteCalls(batch, entry);
      }
      if (runs !== undefined) batch.runs.push(...runs);
      batch.shared ??= shared;
      return ok(batch);
    } catch (cause) {
      return err(unsealed(cause));
    }
  }

  /** A transaction stores one row of shared state; entries with a second row wait for another transaction. */
  #batchFor(shared: SharedRow | undefined): Batch {
    const open = this.#open;
    const hasRoom = open !== undefined && (shared === undefined || open.shared === undefined);
    if (hasRoom && open.groups.length < recordsMax) return open;
    const batch: Batch = {
      groups: [],
      opened: new Map(),
      settled: [],
      runs: [],
      shared: undefined,
      failure: undefined,
      written: undefined,
    };
    this.#open = batch;
    return batch;
  }

  #join({ groups }: Batch, { run, context: given, stream }: LogEntry, { kind, clear, hidden }: EntryTexts): void {
    const context = this.#entries.context(given);
    const how = given.payload;
    const characters = hidden?.length ?? 0;
    // An entry that is small enough alone must not become too large in a group.
    const charactersMax = Math.min(joinedCharactersMax, (this.#options.payloadBytesMax ?? payloadBytesMaxDefault) / 2);
    // The entries of a stream have an order of their own, so those of one transaction need not wait for their neighbours.
    const isShared = stream !== undefined && "n" in stream;
    let group = isShared ? groups.findLast((one) => one.run === run) : groups.at(-1);
    // Entries of different policies, runs or ways to keep a payload never share a record.
    const fits =
      group !== undefined &&
      run !== "" &&
      group.run === run &&
      group.how === how &&
      group.context === context &&
      group.clear.length < entriesMax &&
      group.characters + characters <= charactersMax;
    if (group === undefined || !fits) {
      group = { run, context, how, kind, clear: [], hidden: [], hides: false, characters: 0 };
      groups.push(group);
    }
    group.kind = kind;
    group.clear.push(clear);
    group.hidden.push(hidden ?? "null");
    group.hides ||= hidden !== undefined;
    group.characters += characters;
  }

  /** Calls that an entry leaves without an outcome, and those whose outcome it brings. */
  #noteCalls({ opened, settled }: Batch, { events, run, late }: LogEntry): void {
    for (const event of events) {
      if (event.kind === "dispatched") {
        const { call, digest } = event;
        const { server, tool } = event.option.class;
        if (late === true) this.#unlisted.add(call);
        else opened.set(`${run}\n${call}`, { run, call, server, tool, digest, wallMs: this.#options.wallMs() });
      } else if (event.kind === "succeeded" || event.kind === "failed" || event.kind === "unknown") {
        // Opened and settled in one transaction, or never listed: there is nothing to take back.
        const { call } = event;
        if (!this.#unlisted.delete(call) && !opened.delete(`${run}\n${call}`)) settled.push({ run, call });
      }
    }
  }

  /** Forgets what waits, and that documents were stored: the store has refused them. */
  forget(): void {
    this.#open = undefined;
    this.#documents.reset();
  }

  /** A batch as rows; called when the transaction has begun. */
  rows(batch: Batch): AppendBatch {
    if (this.#open === batch) this.#open = undefined;
    const before = { ...this.head };
    const wallMs = this.#options.wallMs();
    try {
      const records = batch.groups.map((group) => this.#record(group, wallMs));
      const checkpoint = this.#isSignatureDue(wallMs) ? { checkpoint: this.#sign(wallMs) } : {};
      const { opened, settled, runs, shared } = batch;
      return {
        records,
        // Taken when nothing can fail any more: until then they wait for whatever is written next.
        documents: this.#documents.take(),
        opened: [...opened.values()],
        settled,
        runs,
        ...(shared === undefined ? {} : { shared }),
        ...checkpoint,
      };
    } catch (cause) {
      // Sealing needs a key file on the day's first record; without it nothing may be written, and nothing was.
      Object.assign(this.head, before);
      batch.failure = unsealed(cause);
      return { records: [] };
    }
  }

  /** A record of the log itself, signed: the opening, a checkpoint, the end. `hidden` is its payload, in the clear. */
  own(kind: string, at: number, clear: JsonObject, hidden?: string): AppendBatch {
    const wallMs = this.#options.wallMs();
    const text = JSON.stringify({ at, kind, ...clear });
    const group: Group = {
      run: "",
      context: "{}",
      how: "clear",
      kind,
      clear: [text],
      hidden: hidden === undefined ? [] : [hidden],
      hides: hidden !== undefined,
      characters: 0,
    };
    return { records: [this.#record(group, wallMs)], checkpoint: this.#sign(wallMs) };
  }

  /** Puts one record at the end of the chain. */
  #record(group: Group, wallMs: number): StoredRecord {
    const { head } = this;
    const { keys, store } = this.#options;
    const { writer } = store.opening;
    const { run, kind, context, clear } = group;
    head.seq += 1;
    const { note, bytes } = this.#keepPayload(group, wallMs);
    const place = { writer, seq: head.seq, wallMs, run };
    const body = bodyText(place, { context, entries: clear }, note);
    head.fingerprint = fingerprintOf(keys, head.fingerprint, body);
    return { writer, seq: head.seq, run, kind, body, payload: bytes, fingerprint: head.fingerprint };
  }

  #keepPayload(
    { run, how, hidden, hides }: Group,
    wallMs: number,
  ): { readonly note: PayloadNote | undefined; readonly bytes: Uint8Array | undefined } {
    if (!hides) return { note: undefined, bytes: undefined };
    const { keys, store, payloadBytesMax = payloadBytesMaxDefault } = this.#options;
    const text = listText("[", hidden, "]");
    const tooLarge = text.length > payloadBytesMax;
    if (how === "digests" || tooLarge) {
      const note: PayloadNote = { how: "digests", digest: keys.keyedDigest(text) };
      return { note: tooLarge ? { ...note, tooLarge } : note, bytes: undefined };
    }
    const bytes =
      how === "clear"
        ? new TextEncoder().encode(text)
        : keys.seal(run, text, boundTo(store.opening.writer, this.head.seq), wallMs);
    return { note: { how, digest: keys.hash(bytes) }, bytes };
  }

  #isSignatureDue(wallMs: number): boolean {
    const { checkpointRecords = checkpointRecordsDefault, checkpointMs = checkpointMsDefault } = this.#options;
    const { seq, signedSeq, signedWallMs } = this.head;
    // An append may bring rows alone; one head has one signature.
    if (seq === signedSeq) return false;
    return seq - signedSeq >= checkpointRecords || wallMs - signedWallMs >= checkpointMs;
  }

  #sign(wallMs: number): StoredCheckpoint {
    const { store, keys, chain } = this.#options;
    this.head.signedSeq = this.head.seq;
    this.head.signedWallMs = wallMs;
    const at: Head = { writer: store.opening.writer, seq: this.head.seq, fingerprint: this.head.fingerprint };
    return makeCheckpoint(keys, at, chain, new Date(wallMs).toISOString());
  }
}

function unsealed(cause: unknown): StoreFailure {
  const sentence = cause instanceof Error ? cause.message : "The event could not be sealed.";
  return { kind: "unreachable", place: "key folder", sentence };
}
