/** `audit verify`: every chain of a store from its first record, its checkpoints, and the links between writers. */
import { member, stringMember } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Head, LogKeys, Store, StoredCheckpoint, StoredRecord, StoreFailure } from "../ports/store.ts";
import { chainStart, checkNext, type ChainState, type Finding } from "./chain-check.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { checkMarks } from "./retention/left-runs.ts";
import { LeftRecords, type PruningNote } from "./retention/left-records.ts";
import { readBody } from "./record.ts";

/** Findings that are reported one by one; a wrecked log has more of them than an operator reads. */
const findingsMax = 1_000;

/** Records that are read at once; with a pace, that it may yield to others. */
const pageRecords = 1_000;
const pacedRecords = 100;

export type Verified = {
  readonly valid: boolean;
  readonly findings: readonly Finding[];
  readonly writers: readonly {
    readonly writer: number;
    readonly records: number;
    readonly unreadable: number;
    /** Records that left the log, as signed records say. */
    readonly left: number;
    readonly checkpoints: number;
    /** Last record that a valid signature covers. */
    readonly signedTo: number;
    readonly head: Head | undefined;
  }[];
  /** Signed records that say what left, newest writer first. */
  readonly pruned: readonly PruningNote[];
};

/** Heads of a writer's chain that must be on the chain: from signatures, from the next writer, from outside. */
type Anchor = Head & { readonly from: "checkpoint" | "writer" | "outside" | "keys" };

const anchorNames: Readonly<Record<Anchor["from"], string>> = {
  checkpoint: "a signed checkpoint",
  writer: "the next writer",
  outside: "the anchor",
  keys: "the key folder",
};

/** What to verify against, and how fast. */
export type VerifyWay = {
  /** Heads that were kept outside of the store (an earlier report, a notary). */
  readonly outside?: readonly Head[];
  /** The head that the key folder remembers. */
  readonly remembered?: Head | undefined;
  /** Called with each finding as soon as it is known. */
  readonly found?: (finding: Finding) => void;
  /** Called after so many records; false ends the verification there. */
  readonly pace?: (records: number) => Promise<boolean>;
};

type Progress = {
  readonly findings: Finding[];
  readonly anchors: Map<number, Anchor[]>;
  readonly expected: Set<number>;
  readonly way: VerifyWay;
  readonly left: LeftRecords;
  /** The pace said to stop. */
  stopped: boolean;
};

function note({ findings, way }: Progress, finding: Finding): void {
  if (findings.length >= findingsMax) return;
  findings.push(finding);
  way.found?.(finding);
}

function anchor(progress: Progress, head: Anchor): void {
  progress.anchors.set(head.writer, [...(progress.anchors.get(head.writer) ?? []), head]);
  progress.expected.add(head.writer);
}

function checkSignature(keys: LogKeys, stored: StoredCheckpoint, progress: Progress): Anchor | undefined {
  const { writer, seq } = stored;
  const body = readCheckpoint(stored);
  const known = body === undefined ? false : keys.verify(body.signer, stored.body, stored.signature);
  if (known === undefined) {
    const sentence = `Checkpoint ${writer}/${seq} is signed by a key that is not here: verify with the key folder of its gateway.`;
    note(progress, { kind: "unknown-signer", writer, seq, sentence });
    return undefined;
  }
  if (!known || body === undefined || body.writer !== writer || body.seq !== seq) {
    const sentence = `The signature of checkpoint ${writer}/${seq} is not valid.`;
    note(progress, { kind: "bad-signature", writer, seq, sentence });
    return undefined;
  }
  return { writer, seq, fingerprint: body.fingerprint, from: "checkpoint" };
}

/** The first record of a writer names the head of the one before, so that a whole writer cannot vanish unseen. */
function linkBack(record: StoredRecord, progress: Progress): void {
  if (record.seq !== 1) return;
  const previous = member(readBody(record.body)?.entries[0]?.clear, "previous");
  const writer = member(previous, "writer");
  const seq = member(previous, "seq");
  const fingerprint = stringMember(previous, "fingerprint");
  if (typeof writer !== "number" || typeof seq !== "number" || fingerprint === undefined) return;
  anchor(progress, { writer, seq, fingerprint, from: "writer" });
}

async function checkAnchors(seen: ReadonlyMap<number, string>, state: ChainState, progress: Progress): Promise<void> {
  for (const { writer, seq, fingerprint, from } of progress.anchors.get(state.writer) ?? []) {
    const found = seen.get(seq) ?? (await progress.left.fingerprintOf({ writer, seq }));
    const source = anchorNames[from];
    if (found === undefined && seq > state.seq) {
      const sentence = `The log of writer ${writer} ends at ${state.seq}, but ${source} names record ${seq}: its tail was cut off.`;
      note(progress, { kind: "truncated", writer, seq: state.seq + 1, sentence });
    } else if (found !== undefined && found !== fingerprint) {
      const sentence = `Record ${writer}/${seq} is not the one that ${source} names: the log was rewritten up to there.`;
      note(progress, { kind: "rewritten", writer, seq, sentence });
    }
  }
}

async function verifyWriter(
  store: Store,
  keys: LogKeys,
  writer: number,
  progress: Progress,
): Promise<Result<Verified["writers"][number], StoreFailure>> {
  const checkpoints = await store.checkpoints(writer);
  if (!checkpoints.ok) return checkpoints;
  const prunings = await store.prunings(writer);
  if (!prunings.ok) return prunings;
  let signedTo = 0;
  const signed = new Map<number, string>();
  for (const stored of checkpoints.value) {
    const head = checkSignature(keys, stored, progress);
    if (head === undefined) continue;
    anchor(progress, head);
    signed.set(head.seq, head.fingerprint);
    signedTo = Math.max(signedTo, head.seq);
  }
  for (const record of prunings.value) progress.left.learn(record, signed);
  const walk = progress.left.walk(writer);
  const wanted = new Set((progress.anchors.get(writer) ?? []).map((head) => head.seq));
  const seen = new Map<number, string>();
  const { pace } = progress.way;
  const limit = pace === undefined ? pageRecords : pacedRecords;
  let state = chainStart(writer);
  for (;;) {
    const after = { writer, seq: state.seq };
    const page = await store.records({ writer, after, order: "oldest", limit });
    if (!page.ok) return page;
    for (const record of page.value) {
      state = walk.upTo(state, record.seq);
      walk.met(record);
      const next = checkNext(keys, state, record);
      for (const finding of next.findings) note(progress, finding);
      state = next.state;
      if (wanted.has(record.seq)) seen.set(record.seq, record.fingerprint);
      linkBack(record, progress);
    }
    if (pace !== undefined && !(await pace(page.value.length))) progress.stopped = true;
    if (page.value.length < limit || progress.stopped) break;
  }
  if (!progress.stopped) {
    state = walk.upTo(state, Number.POSITIVE_INFINITY);
    await checkAnchors(seen, state, progress);
  }
  const head = state.records === 0 ? undefined : { writer, seq: state.seq, fingerprint: state.fingerprint };
  const { records, unreadable } = state;
  const { left } = walk;
  return ok({ writer, records, unreadable, left, checkpoints: checkpoints.value.length, signedTo, head });
}

/**
 * Verifies everything. Writers are checked newest first, so that each one's link to the writer before is known when
 * that one is checked. A verification that its pace ended early reports what it found until then.
 */
export async function verifyLog(
  store: Store,
  keys: LogKeys,
  way: VerifyWay = {},
): Promise<Result<Verified, StoreFailure>> {
  const left = new LeftRecords(store, (finding) => note(progress, finding));
  const progress: Progress = { findings: [], anchors: new Map(), expected: new Set(), way, left, stopped: false };
  for (const head of way.outside ?? []) anchor(progress, { ...head, from: "outside" });
  if (way.remembered !== undefined) anchor(progress, { ...way.remembered, from: "keys" });
  const listed = await store.writers();
  if (!listed.ok) return listed;
  for (const writer of progress.expected) if (!listed.value.includes(writer)) note(progress, missing(progress, writer));
  const known = new Set(progress.expected);
  const writers: Verified["writers"][number][] = [];
  for (const writer of listed.value.toSorted((left, right) => right - left)) {
    const one = await verifyWriter(store, keys, writer, progress);
    if (!one.ok) return err(one.error);
    writers.unshift(one.value);
    if (progress.stopped) break;
  }
  for (const writer of progress.expected) {
    if (!known.has(writer) && !listed.value.includes(writer)) note(progress, missing(progress, writer));
  }
  const marked = progress.stopped ? ok(undefined) : await checkMarks(store, left, way, (one) => note(progress, one));
  if (!marked.ok) return marked;
  return ok({ valid: progress.findings.length === 0, findings: progress.findings, writers, pruned: left.notes });
}

function missing({ anchors }: Progress, writer: number): Finding {
  const byKeys = anchors.get(writer)?.find(({ from }) => from === "keys");
  const sentence =
    byKeys === undefined
      ? `All records of writer ${writer} are missing, although a later record names it.`
      : `The keys are older than the log: they have signed record ${writer}/${byKeys.seq}, and the log has no writer ${writer}. It was removed or replaced.`;
  return { kind: byKeys === undefined ? "writer-missing" : "keys-older", writer, seq: 1, sentence };
}
