/**
 * From entries to records. An entry is turned into text when it comes; what comes until the store begins its
 * transaction is then chained together, and entries of one run that follow each other become one record: one seal, two
 * hashes and one row for all of them. Order of entries is order of the chain.
 */
import { maySecret } from "../../core/secret.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type {
  Alongside,
  AppendBatch,
  Head,
  LogEntry,
  LogKeys,
  OpenCall,
  PayloadMode,
  Store,
  StoredCheckpoint,
  StoredRecord,
  StoreFailure,
} from "../store-port.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import {
  callsOf,
  type EntryCalls,
  contextText,
  makeDocuments,
  splitEntry,
  withoutSecrets,
  type Documents,
  type EntryTexts,
} from "./entry.ts";
import { readJsonObject } from "./json-text.ts";
import { bodyText, boundTo, fingerprintOf, type PayloadNote } from "./record.ts";

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
  /** Characters of a payload that is kept; of a larger one the digest only, and its run resumes at the top label. */
  readonly payloadBytesMax?: number;
};

const checkpointRecordsDefault = 1_000;
const checkpointMsDefault = 60_000;
const payloadBytesMaxDefault = 32 * 1024 * 1024;

/** Entries of one record, and the characters of payload up to which another entry may join. */
const entriesMax = 64;
const joinedCharactersMax = 256 * 1024;

/** Head of the chain and when it was last signed; everything that an append changes. */
export type ChainHead = { seq: number; fingerprint: string; signedSeq: number; signedWallMs: number };

/** An entry on its way into a record. `failure` is set when it could not be written. */
export type Pending = EntryTexts & {
  readonly run: string;
  readonly context: string;
  readonly how: PayloadMode;
  readonly calls: EntryCalls;
};

/** What one append brought; all of it goes into one transaction. */
export type PendingAppend = {
  readonly entries: readonly Pending[];
  readonly alongside: Alongside;
  failure: StoreFailure | undefined;
};

/** Entries of one record. */
type Group = { readonly first: Pending; readonly entries: Pending[]; characters: number };

export class ChainWriter {
  readonly head: ChainHead;
  readonly #options: EventLogOptions;
  readonly #documents: Documents;
  #pending: PendingAppend[] = [];
  /** Calls in flight that are not listed as open. */
  readonly #unlisted = new Set<string>();
  /** The context that was looked through last; it is the same for nearly all records. */
  #cleanContext: { readonly given: string; readonly clean: string } | undefined;

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#documents = makeDocuments(options.keys);
    this.head = { seq: 0, fingerprint: "", signedSeq: 0, signedWallMs: options.wallMs() };
  }

  /** Takes entries in the order in which they come. */
  add(entries: readonly LogEntry[], alongside: Alongside): Result<PendingAppend, StoreFailure> {
    try {
      const pending = entries.map((entry) => this.#pendingOf(entry));
      const append: PendingAppend = { entries: pending, alongside, failure: undefined };
      this.#pending.push(append);
      return ok(append);
    } catch (cause) {
      return err(unsealed(cause));
    }
  }

  #pendingOf(entry: LogEntry): Pending {
    const { keys, wallMs } = this.#options;
    const { clear, payload, kind } = splitEntry(entry, keys, this.#documents);
    const calls = callsOf(entry, wallMs());
    const context = contextText(entry.context, this.#documents);
    return { kind, clear, payload, run: entry.run, context, how: entry.context.payload, calls };
  }

  /** Forgets what waits, and that documents were stored: the store has refused them. */
  forget(): void {
    this.#pending = [];
    this.#documents.reset();
  }

  /** Everything that waits, as rows; called when the transaction has begun. */
  drain(): AppendBatch {
    const appends = this.#takeUntilShared();
    const before = { ...this.head };
    try {
      return this.#batchOf(appends);
    } catch (cause) {
      // Sealing needs a key file on the day's first record; without it nothing may be written, and nothing was.
      Object.assign(this.head, before);
      this.#documents.reset();
      const failure = unsealed(cause);
      for (const append of appends) append.failure = failure;
      return { records: [] };
    }
  }

  /** A record of the log itself, signed: the opening, a checkpoint, the end. */
  own(kind: string, at: number, clear: JsonObject): AppendBatch {
    const wallMs = this.#options.wallMs();
    const text = JSON.stringify({ at, kind, ...clear });
    const entry = {
      kind,
      clear: text,
      payload: undefined,
      run: "",
      context: "{}",
      how: "clear",
      calls: { opened: [], settled: [], unlisted: [] },
    } as const;
    const record = this.#record({ first: entry, entries: [entry], characters: 0 }, wallMs);
    return { records: [record], checkpoint: this.#sign(wallMs) };
  }

  /** A transaction stores one row of what runs share; appends behind a second one wait for their own. */
  #takeUntilShared(): readonly PendingAppend[] {
    let shared = 0;
    const end = this.#pending.findIndex(({ alongside }) => alongside.shared !== undefined && (shared += 1) > 1);
    return this.#pending.splice(0, end < 0 ? this.#pending.length : end);
  }

  #batchOf(appends: readonly PendingAppend[]): AppendBatch {
    const wallMs = this.#options.wallMs();
    const entries = appends.flatMap((append) => append.entries);
    const records = this.#grouped(entries).map((group) => this.#record(group, wallMs));
    const opened = new Map<string, OpenCall>();
    const settled: { readonly run: string; readonly call: string }[] = [];
    for (const { calls } of entries) {
      for (const call of calls.opened) opened.set(`${call.run}\n${call.call}`, call);
      for (const call of calls.unlisted) this.#unlisted.add(call);
      // Opened and settled in one transaction, or never listed: there is nothing to take back.
      for (const call of calls.settled) {
        if (!opened.delete(`${call.run}\n${call.call}`) && !this.#unlisted.delete(call.call)) settled.push(call);
      }
    }
    const runs = appends.flatMap(({ alongside }) => alongside.runs ?? []);
    const shared = appends.find(({ alongside }) => alongside.shared !== undefined)?.alongside.shared;
    return {
      records,
      documents: this.#documents.take(),
      opened: [...opened.values()],
      settled,
      runs,
      ...(shared === undefined ? {} : { shared }),
      ...(this.#isSignatureDue(wallMs) ? { checkpoint: this.#sign(wallMs) } : {}),
    };
  }

  #grouped(entries: readonly Pending[]): readonly Group[] {
    const groups: Group[] = [];
    let last: Group | undefined;
    // What is small enough alone must not become too large by its company.
    const charactersMax = Math.min(joinedCharactersMax, (this.#options.payloadBytesMax ?? payloadBytesMaxDefault) / 2);
    for (const entry of entries) {
      const characters = entry.payload?.length ?? 0;
      if (last !== undefined && joins(last, entry, last.characters + characters <= charactersMax)) {
        last.entries.push(entry);
        last.characters += characters;
      } else groups.push((last = { first: entry, entries: [entry], characters }));
    }
    return groups;
  }

  /** Puts one record at the end of the chain. */
  #record({ first, entries }: Group, wallMs: number): StoredRecord {
    const { head } = this;
    const { keys, store } = this.#options;
    const { writer } = store.opening;
    head.seq += 1;
    const { note, bytes } = this.#keepPayload(first, entries, wallMs);
    const kind = entries.at(-1)?.kind ?? first.kind;
    const place = { writer, seq: head.seq, wallTime: new Date(wallMs).toISOString(), run: first.run, kind };
    const parts = { context: this.#clean(first.context), entries: entries.map((entry) => entry.clear) };
    const body = bodyText(place, parts, note);
    head.fingerprint = fingerprintOf(keys, head.fingerprint, body);
    return { writer, seq: head.seq, run: first.run, kind, body, payload: bytes, fingerprint: head.fingerprint };
  }

  #clean(given: string): string {
    if (this.#cleanContext?.given === given) return this.#cleanContext.clean;
    const { keys } = this.#options;
    const clean = maySecret(given) ? JSON.stringify(withoutSecrets(readJsonObject(given) ?? {}, keys)) : given;
    this.#cleanContext = { given, clean };
    return clean;
  }

  #keepPayload(
    first: Pending,
    entries: readonly Pending[],
    wallMs: number,
  ): { readonly note: PayloadNote | undefined; readonly bytes: Uint8Array | undefined } {
    if (entries.every(({ payload }) => payload === undefined)) return { note: undefined, bytes: undefined };
    const { keys, store, payloadBytesMax = payloadBytesMaxDefault } = this.#options;
    const text = `[${entries.map(({ payload }) => payload ?? "null").join(",")}]`;
    const { how, run } = first;
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

/** Entries of different policies, runs or ways to keep a payload never share a record. */
function joins({ first, entries }: Group, entry: Pending, fits: boolean): boolean {
  if (entry.run === "" || entry.run !== first.run || entry.how !== first.how) return false;
  if (entry.context !== first.context) return false;
  return fits && entries.length < entriesMax;
}

function unsealed(cause: unknown): StoreFailure {
  const sentence = cause instanceof Error ? cause.message : "The event could not be sealed.";
  return { kind: "unreachable", place: "key folder", sentence };
}
