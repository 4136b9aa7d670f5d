/**
 * The persistent data of the gateway. `EventLog` is the port that the gateway itself uses (src/gateway/log makes it
 * over a `Store`); `Store` is the small port that SQLite, memory and PostgreSQL implement. A store sees records that
 * are already sealed and chained: it cannot read a payload, and what it loses or changes is found by `audit verify`.
 *
 * Times: `at` is monotonic ms of the writer, `wall*` is ms since the epoch (it has to mean something after a restart).
 */
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import type { Result } from "../../core/result.ts";
import type { WrittenJson } from "../../wire/message.ts";
import type { ManifestRow, SessionRow } from "./cached-rows.ts";
import type { PruneStep, SumUpWay } from "./retention.ts";
import type { RetainingStore } from "./retaining-store.ts";
import type { LogContext } from "./log-context.ts";
import type { LastRecord, Snapshot, StoredSnapshot } from "./snapshots.ts";
import type { Heard, StreamNote } from "./stream-note.ts";

// ---------------------------------------------------------------------------------------------------------------
// The log as the gateway sees it.

/**
 * An appended entry: events of one run that belong together (`dispatched` of a call makes one entry, its outcome and
 * release another), with the decision that led to them.
 */
export type LogEntry = {
  readonly run: string;
  readonly at: number;
  readonly events: readonly RunEvent[];
  readonly context: LogContext;
  readonly decision?: Decision;
  /** Name of a record without events; otherwise the kind of the last event. */
  readonly kind?: string;
  /** The answers of oracles, by question key, so that the decision can be replayed exactly. Payload. */
  readonly answers?: JsonObject;
  /** Those of the answers that hold nothing to hide; they stay in the clear. */
  readonly plainAnswers?: JsonObject;
  /** More for audit and what-if; `notes` stays in the clear, `details` (arguments of a refused call) is payload. */
  readonly notes?: JsonObject;
  readonly details?: JsonObject;
  /** A value among these whose text is known already. */
  readonly written?: WrittenJson;
  /** A read that was sent already: it is not listed as open, since a repetition after a crash needs no consent. */
  readonly late?: true;
  /** Its place in the stream of a lineage, or in the run of a member of one. */
  readonly stream?: StreamNote;
};

/** Rows that become durable in the same transaction as the records. */
export type Alongside = {
  readonly runs?: readonly RunRow[];
  readonly shared?: SharedRow;
};

/**
 * A decoded entry of a record. Without its payload (key destroyed, mode `digests`) the events keep labels and digests
 * only.
 */
export type LogView = {
  readonly writer: number;
  /** Number of the record; a record holds what a run did in one commit, and `part` counts its entries from zero. */
  readonly seq: number;
  readonly part: number;
  readonly wallTime: string;
  readonly at: number;
  readonly run: string;
  readonly kind: string;
  readonly call?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly fingerprint: string;
  readonly clear: JsonObject;
  /** Undefined where it was never kept or its key was destroyed. */
  readonly payload: JsonObject | undefined;
};

export type Replayed = {
  readonly events: readonly RunEvent[];
  /** False if some payload could not be read: labels are exact, values and rule keys are missing. */
  readonly complete: boolean;
  /** Policy digests that the run was decided under, oldest first. */
  readonly policies: readonly string[];
  /** The items that still wait when the records end. */
  readonly waiting: readonly Waiting[];
  /** Run key of the stream that the run is a member of when the records end. */
  readonly member: string | undefined;
  /** Its last record; undefined where it has none. */
  readonly last?: LastRecord | undefined;
  /** It began with the whole of the stream of `ReplayWay.base`: of that only what came after is among the events. */
  readonly begins?: true;
};

/** A call in the outbox of a run, or a result behind consent, as its record describes it. */
export type Waiting = {
  readonly what: "call" | "result";
  /** Id of the call. */
  readonly call: string;
  /** Digest of server, tool and arguments. */
  readonly digest: string;
  /** Digest of the policy that it was decided under. */
  readonly policyDigest: string | undefined;
  readonly notes: JsonObject;
  /** Arguments of the call, or its result; undefined where they were never kept, or their key is gone. */
  readonly details: JsonObject | undefined;
  /** It will never be sent, for this reason, and the end of the run has to report it. */
  readonly lost?: string;
  /** The same call was allowed since. */
  readonly repeated?: true;
};

export type ReplayWay = {
  /** Called between records; the replay goes on when it resolves. Without it nothing else runs meanwhile. */
  readonly pause?: () => Promise<void> | undefined;
  /** Of the stream `of`, read itself or as that of its member, nothing beyond the number `n`. */
  readonly until?: Heard | undefined;
  /** Only what came after this record, which left these items waiting. */
  readonly after?: {
    readonly place: Head;
    readonly heard: Heard | undefined;
    readonly waiting: readonly Waiting[];
  };
  /** What the reader has of a stream, up to a record of it. */
  readonly base?: Heard;
  /** Not more own records than that, and of a stream only what the run had heard by the last of them. */
  readonly recordsMax?: number;
};

export interface EventLog {
  /** Resolves when the entries are durable as configured; rejects never. Order of calls = order in the log. */
  append(entries: readonly LogEntry[], alongside?: Alongside): Promise<Result<void, StoreFailure>>;
  /**
   * The events of a run for folding, with those of its lineage's stream where it folded them, labels translated into
   * `lattice`; an error means: resume at the top label.
   */
  replay(run: string, lattice: Lattice, way?: ReplayWay): Promise<Result<Replayed, string>>;
  /** The newest snapshot of a run that is authentic and fits; undefined where every record has to be folded. */
  snapshot(run: string, fits: string): Promise<Snapshot | undefined>;
  keepSnapshot(snapshot: Snapshot): Promise<Result<void, StoreFailure>>;
  /** The waiting items of a run that cannot be replayed: reading them needs no labels. */
  waiting(run: string): Promise<readonly Waiting[]>;
  /** Newest last. */
  tail(count: number, run?: string): Promise<Result<readonly LogView[], StoreFailure>>;
  /** Encrypts something for a run that is kept outside the log, such as an approval card; `open` reads it back. */
  seal(run: string, value: JsonObject): Uint8Array;
  open(run: string, sealed: Uint8Array): JsonObject | undefined;
  /** Signs the head of the chain now; called by the gateway's clock every `checkpointMs`. */
  checkpoint(at: number): Promise<Result<void, StoreFailure>>;
  /**
   * Lets records leave and writes which ones, signed, in one transaction; false, and nothing has changed, where one of them
   * may not leave any more.
   */
  prune(step: PruneStep): StoreAnswer<boolean>;
  /** Replaces records that say what left by fewer ones, in steps; false where it was stopped. */
  sumUp(way: SumUpWay): StoreAnswer<boolean>;
  health(): StoreHealth;
  /** After a failure whose cause is gone (disk freed): continues from the last durable record. */
  recover(): Promise<Result<void, StoreFailure>>;
  /** Appends the clean mark and closes the store. */
  close(at: number): Promise<void>;
  readonly store: Store;
}

/** Keys and digests of the log; the store never holds the keys. */
export interface LogKeys {
  /** SHA-256, hex. */
  hash(data: string | Uint8Array): string;
  /** HMAC of this installation: a digest that cannot be found by guessing low-entropy values. */
  keyedDigest(text: string): string;
  /** Encrypts under the key of the run on the day of `wallMs`; `bound` is authenticated with it. */
  seal(run: string, text: string, bound: string, wallMs: number): Uint8Array;
  open(run: string, sealed: Uint8Array, bound: string): Result<string, "missing-key" | "damaged">;
  /** The key for this sealed text still exists. */
  readable(sealed: Uint8Array): boolean;
  /** Destroys the keys of days before this instant; returns how many. */
  destroyBefore(wallMs: number): number;
  /** Ed25519. */
  sign(text: string): Uint8Array;
  readonly signer: string;
  /** Undefined if the signer is not known here. */
  verify(signer: string, text: string, signature: Uint8Array): boolean | undefined;
}

// ---------------------------------------------------------------------------------------------------------------
// The store.

export type StoreFailure = {
  readonly kind: "full" | "damaged" | "newer" | "foreign" | "busy" | "closed" | "unreachable";
  /** File or address. */
  readonly place: string;
  /** One sentence for people: what happened, why, what to do next. */
  readonly sentence: string;
};

export type StoreHealth = { readonly kind: "ok" } | { readonly kind: "failed"; readonly failure: StoreFailure };

/**
 * A record as the store holds it; `kind` is that of its last entry. `body` is hashed as it stands; the columns beside
 * it repeat what is in it.
 */
export type StoredRecord = {
  /** Number of the writer, given by `Store.begin`; writers are numbered in order of their start. */
  readonly writer: number;
  readonly seq: number;
  readonly run: string;
  readonly kind: string;
  readonly body: string;
  readonly payload: Uint8Array | undefined;
  /** SHA-256 over the previous fingerprint and the body, hex; the body names the digest of the payload. */
  readonly fingerprint: string;
};

export type StoredCheckpoint = {
  readonly writer: number;
  readonly seq: number;
  readonly body: string;
  readonly signature: Uint8Array;
};

/** Content by digest, kept once: contracts and lattices that records refer to. */
export type StoredDocument = { readonly digest: string; readonly body: string };

/** A call that was allowed and has no outcome yet. */
export type OpenCall = {
  readonly run: string;
  readonly call: string;
  readonly server: string;
  readonly tool: string;
  /** Digest of server, tool and arguments: an identical call later asks "may already have happened at ...". */
  readonly digest: string;
  readonly wallMs: number;
};

/** Everything of one append; written in one transaction or not at all. */
export type AppendBatch = {
  readonly records: readonly StoredRecord[];
  readonly checkpoint?: StoredCheckpoint;
  readonly documents?: readonly StoredDocument[];
  readonly opened?: readonly OpenCall[];
  readonly settled?: readonly { readonly run: string; readonly call: string }[];
  readonly runs?: readonly RunRow[];
  readonly shared?: SharedRow;
};

export type RunRow = {
  readonly key: string;
  readonly principal: string;
  readonly parent?: string;
  readonly policyDigest: string;
  readonly begunWallMs: number;
  readonly endedWallMs?: number;
  readonly idleExpiresWallMs: number;
  /** Events may have been lost (power cut): fold nothing, resume at the top label. */
  readonly top: boolean;
  /** Facts the gateway needs to recognise the run again: process, hook session, tag, server states. */
  readonly resume: JsonObject;
};

/**
 * Labels and audiences of stores of one owner. The caller merges (join) before it writes; only a reset by a user lowers
 * them.
 */
export type SharedRow = {
  readonly owner: string;
  readonly policyDigest: string;
  readonly top: boolean;
  readonly value: JsonObject;
};

/** The facts that one consent is bound to (gateway.md 5); all of them must match when it is used. */
export type ApprovalMatch = {
  readonly run: string;
  readonly principal: string;
  readonly server: string;
  readonly tool: string;
  readonly argumentDigest: string;
  readonly policyDigest: string;
};

export type ApprovalRow = ApprovalMatch & {
  readonly id: string;
  readonly createdWallMs: number;
  readonly expiresWallMs: number;
  readonly status: "pending" | "approved" | "denied" | "used";
  /** The card that the approver is shown, sealed by `EventLog.seal`. */
  readonly card?: Uint8Array;
  readonly decidedBy?: string;
  readonly role?: string;
  readonly decidedWallMs?: number;
};

export type ApprovalDecision = {
  readonly id: string;
  readonly verdict: "approved" | "denied";
  readonly by: string;
  readonly role: string;
  readonly wallMs: number;
};

/** The findings of the store when it was opened. */
export type Opening = {
  /** Number of this writer. */
  readonly writer: number;
  /** Last record of the writer before, which the first record of this one names. */
  readonly previous: Head | undefined;
  /** The machine lost power (boot id changed, no clean mark): open runs and stores were marked `top`. */
  readonly resumeAtTop: boolean;
  readonly inFlight: readonly OpenCall[];
  /** A damaged file that was kept aside, where the caller asked for that. */
  readonly keptAside?: string;
};

export type Head = { readonly writer: number; readonly seq: number; readonly fingerprint: string };

export type RecordQuery = {
  readonly writer?: number;
  readonly run?: string;
  /** Only records after this one (oldest first) or before it (newest first). */
  readonly after?: { readonly writer: number; readonly seq: number };
  readonly order: "oldest" | "newest";
  readonly limit: number;
};

export type StoreAnswer<T> = Promise<Result<T, StoreFailure>>;

type Kinds = { row: RunRow; batch: AppendBatch; record: StoredRecord; failure: StoreFailure };

export interface Store extends RetainingStore<Kinds> {
  readonly opening: Opening;
  /**
   * Group commit: durable when it resolves. After a failure every append is refused until `recover`. A function is
   * called when its transaction has begun, in the order of the appends; it must not throw.
   */
  append(batch: AppendBatch | (() => AppendBatch)): StoreAnswer<void>;
  /** More entries joined an append that waits: a store that has let it wait for long begins its transaction now. */
  hurry(): void;
  /**
   * Makes way for everything else, so that long work does not hold up calls; for a few milliseconds, or with `urgent` only
   * for what is ready now.
   */
  idle(urgent: boolean): Promise<void>;
  records(query: RecordQuery): StoreAnswer<readonly StoredRecord[]>;
  writers(): StoreAnswer<readonly number[]>;
  checkpoints(writer: number): StoreAnswer<readonly StoredCheckpoint[]>;
  document(digest: string): StoreAnswer<string | undefined>;
  head(writer: number): StoreAnswer<Head | undefined>;
  openCalls(): StoreAnswer<readonly OpenCall[]>;

  putRun(row: RunRow): StoreAnswer<void>;
  run(key: string): StoreAnswer<RunRow | undefined>;
  /** Runs that have not ended. */
  openRuns(): StoreAnswer<readonly RunRow[]>;
  /** What the rows say can no longer be believed: every open run, and what owners share, counts as the worst. */
  distrust(): StoreAnswer<void>;
  /** Runs of a principal, ended or not, whose key ends so; by key. */
  runsEnding(principal: string, ending: string): StoreAnswer<readonly RunRow[]>;
  shared(owner: string): StoreAnswer<SharedRow | undefined>;
  /** Rows of all owners, by owner. */
  sharedRows(limit: number): StoreAnswer<readonly SharedRow[]>;

  createApproval(row: ApprovalRow): StoreAnswer<void>;
  approval(id: string): StoreAnswer<ApprovalRow | undefined>;
  /** Newest first; expired ones are left out. */
  approvals(wallMs: number, limit: number): StoreAnswer<readonly ApprovalRow[]>;
  /** Decides a pending approval; undefined if it is gone, decided or expired. */
  decideApproval(decision: ApprovalDecision): StoreAnswer<ApprovalRow | undefined>;
  /** Uses up one matching approval: true for exactly one caller, however many race. */
  takeApproval(match: ApprovalMatch, wallMs: number): StoreAnswer<ApprovalRow | undefined>;

  putSession(row: SessionRow): StoreAnswer<void>;
  session(id: string): StoreAnswer<SessionRow | undefined>;
  dropSession(id: string): StoreAnswer<void>;
  dropSessionsBefore(wallMs: number): StoreAnswer<number>;

  /** Replaces the snapshot of the run, if that is open; it leaves when the row of its run ends. */
  putSnapshot(snapshot: StoredSnapshot): StoreAnswer<void>;
  snapshot(run: string): StoreAnswer<StoredSnapshot | undefined>;
  /** Runs that have one, in order, after a key. */
  snapshotRuns(after: string, limit: number): StoreAnswer<readonly string[]>;

  putManifest(row: ManifestRow): StoreAnswer<void>;
  manifest(key: string): StoreAnswer<ManifestRow | undefined>;

  health(): StoreHealth;
  recover(): StoreAnswer<void>;
  /** Waits for what is queued; `clean` leaves the mark that says nothing was lost. */
  close(clean: boolean): Promise<void>;
}
