/**
 * The event log over a store: entries become records, records become a chain, chains become signed. Entries are taken
 * in the order of the calls; records are made when the store begins its transaction, of all that has come until then.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { PruneStep } from "../ports/retention.ts";
import type { AppendBatch, EventLog, LogView, Store, StoreAnswer, StoreFailure } from "../ports/store.ts";
import { ChainWriter, type Batch, type EventLogOptions } from "./chain-writer.ts";
import { readJsonObject } from "./json-text.ts";
import { prunedKind, pruningTexts } from "./retention/pruning.ts";
import { viewsOf } from "./record.ts";
import { type SumUpStep, sumUpPrunings } from "./retention/sum-up.ts";
import { replayRun, waitingOf } from "./event-replay.ts";
import { fittingSnapshot, keepSnapshot } from "./snapshot-log.ts";

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
  return ok(
    found.value
      .toReversed()
      .flatMap((record) => viewsOf(keys, record))
      .slice(-count),
  );
}

function openingFacts(options: EventLogOptions): JsonObject {
  const { previous, resumeAtTop } = options.store.opening;
  return {
    chain: options.chain,
    signer: options.keys.signer,
    ...(previous === undefined ? {} : { previous: { ...previous } }),
    ...(resumeAtTop ? { resumeAtTop } : {}),
  };
}

/** Removes records in the transaction of the record that names them. */
function pruneStep(store: Store, writer: ChainWriter, step: PruneStep): StoreAnswer<boolean> {
  const { ranges, runs, clear, hidden } = pruningTexts(step);
  const { endedBefore, wallMs, at } = step;
  return store.prune({ ranges, runs, endedBefore, wallMs }, () => writer.own(prunedKind, at, clear, hidden));
}

/** Replaces records that say what left in the transaction of the one that takes their place. */
function sumUpStep(store: Store, writer: ChainWriter, { wanted, clear, at }: SumUpStep): StoreAnswer<boolean> {
  return store.sumUp(wanted, (gone) => writer.own(prunedKind, at, clear(gone)));
}

/** The first record of this writer names the last one of the writer before, so no writer can vanish unseen. */
export async function openEventLog(options: EventLogOptions, at: number): Promise<Result<EventLog, StoreFailure>> {
  const { store, keys } = options;
  const writer = new ChainWriter(options);
  const { head } = writer;
  /** Set while the chain is being taken up again: a record that slipped in between would hang on a lost one. */
  let recovering: StoreFailure | undefined;
  const write = async (rows: () => AppendBatch): Promise<Result<void, StoreFailure>> => {
    const written = await store.append(rows);
    // A store that refuses one append refuses all that wait, so nothing of them may come later.
    if (!written.ok) writer.forget();
    return written;
  };
  const writeBatch = async (batch: Batch): Promise<Result<void, StoreFailure>> => {
    const written = await write(() => writer.rows(batch));
    return written.ok && batch.failure !== undefined ? err(batch.failure) : written;
  };
  const appendOwn = (kind: string, when: number, facts: JsonObject = {}): Promise<Result<void, StoreFailure>> =>
    recovering === undefined ? write(() => writer.own(kind, when, facts)) : Promise.resolve(err(recovering));
  /** Changes records that are there, unless the chain is being taken up again. */
  const change = async (work: () => StoreAnswer<boolean>): StoreAnswer<boolean> => {
    const done = recovering === undefined ? await work() : err(recovering);
    if (!done.ok) writer.forget();
    return done;
  };
  const begun = await appendOwn("opened", at, openingFacts(options));
  if (!begun.ok) return begun;
  return ok({
    store,
    ...sealing(options),
    append: (entries, alongside = {}) => {
      if (recovering !== undefined) return Promise.resolve(err(recovering));
      const added = writer.add(entries, alongside);
      if (!added.ok) return Promise.resolve(added);
      const batch = added.value;
      if (batch.written === undefined) return (batch.written = writeBatch(batch));
      store.hurry();
      return batch.written;
    },
    replay: (run, lattice, way) => replayRun({ store, keys, lattice }, run, way),
    snapshot: (run, fits) => fittingSnapshot(options, run, fits),
    keepSnapshot: (snapshot) => keepSnapshot(options, snapshot),
    waiting: (run) => waitingOf(store, keys, run),
    tail: (count, run) => tailOf(options, count, run),
    checkpoint: (now) => {
      if (head.seq === head.signedSeq) return Promise.resolve(ok(undefined));
      return appendOwn("checkpoint", now);
    },
    prune: (step) => change(() => pruneStep(store, writer, step)),
    sumUp: (way) => sumUpPrunings(store, way, (step) => change(() => sumUpStep(store, writer, step))),
    health: () => store.health(),
    recover: async () => {
      const health = store.health();
      if (health.kind === "ok" || recovering !== undefined) return ok(undefined);
      recovering = health.failure;
      writer.forget();
      const recovered = await store.recover();
      const last = recovered.ok ? await store.head(store.opening.writer) : recovered;
      recovering = undefined;
      if (!last.ok) return last;
      // Refused records never became part of the chain: it goes on from the last stored record.
      head.seq = last.value?.seq ?? 0;
      head.fingerprint = last.value?.fingerprint ?? "";
      head.signedSeq = Math.min(head.signedSeq, head.seq);
      return ok(undefined);
    },
    close: async (now) => store.close((await appendOwn("closed", now)).ok),
  });
}
