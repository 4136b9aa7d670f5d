/** `audit verify`: every chain of a store from its first record, its checkpoints, and the links between writers. */
import { member, stringMember } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Head, LogKeys, Store, StoredCheckpoint, StoredRecord, StoreFailure } from "../ports/store.ts";
import { chainStart, checkNext, type ChainState, type Finding } from "./chain-check.ts";
import { readCheckpoint } from "./checkpoint.ts";
import { readBody } from "./record.ts";

/** Findings that are reported one by one; a wrecked log has more of them than an operator reads. */
const findingsMax = 1_000;

const pageRecords = 1_000;

export type Verified = {
  readonly valid: boolean;
  readonly findings: readonly Finding[];
  readonly writers: readonly {
    readonly writer: number;
    readonly records: number;
    readonly unreadable: number;
    readonly checkpoints: number;
    /** Last record that a valid signature covers. */
    readonly signedTo: number;
    readonly head: Head | undefined;
  }[];
};

/** Heads of a writer's chain that must be on the chain: from signatures, from the next writer, from outside. */
type Anchor = Head & { readonly from: "checkpoint" | "writer" | "outside" };

type Progress = {
  readonly findings: Finding[];
  readonly anchors: Map<number, Anchor[]>;
  readonly expected: Set<number>;
};

function note(progress: Progress, finding: Finding): void {
  if (progress.findings.length < findingsMax) progress.findings.push(finding);
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

function checkAnchors(seen: ReadonlyMap<number, string>, state: ChainState, progress: Progress): void {
  for (const { writer, seq, fingerprint, from } of progress.anchors.get(state.writer) ?? []) {
    const found = seen.get(seq);
    const source = from === "checkpoint" ? "a signed checkpoint" : from === "writer" ? "the next writer" : "the anchor";
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
  let signedTo = 0;
  for (const stored of checkpoints.value) {
    const head = checkSignature(keys, stored, progress);
    if (head === undefined) continue;
    anchor(progress, head);
    signedTo = Math.max(signedTo, head.seq);
  }
  const wanted = new Set((progress.anchors.get(writer) ?? []).map((head) => head.seq));
  const seen = new Map<number, string>();
  let state = chainStart(writer);
  for (;;) {
    const after = { writer, seq: state.seq };
    const page = await store.records({ writer, after, order: "oldest", limit: pageRecords });
    if (!page.ok) return page;
    for (const record of page.value) {
      const next = checkNext(keys, state, record);
      for (const finding of next.findings) note(progress, finding);
      state = next.state;
      if (wanted.has(record.seq)) seen.set(record.seq, record.fingerprint);
      linkBack(record, progress);
    }
    if (page.value.length < pageRecords) break;
  }
  checkAnchors(seen, state, progress);
  const head = state.records === 0 ? undefined : { writer, seq: state.seq, fingerprint: state.fingerprint };
  const { records, unreadable } = state;
  return ok({ writer, records, unreadable, checkpoints: checkpoints.value.length, signedTo, head });
}

/**
 * Verifies everything. `outside` are heads that were kept outside of the store (an earlier report, a notary). Writers
 * are checked newest first, so that each one's link to the writer before is known when that one is checked.
 */
export async function verifyLog(
  store: Store,
  keys: LogKeys,
  outside: readonly Head[] = [],
): Promise<Result<Verified, StoreFailure>> {
  const progress: Progress = { findings: [], anchors: new Map(), expected: new Set() };
  for (const head of outside) anchor(progress, { ...head, from: "outside" });
  const listed = await store.writers();
  if (!listed.ok) return listed;
  const writers: Verified["writers"][number][] = [];
  for (const writer of listed.value.toSorted((left, right) => right - left)) {
    const one = await verifyWriter(store, keys, writer, progress);
    if (!one.ok) return err(one.error);
    writers.unshift(one.value);
  }
  for (const writer of progress.expected) {
    if (listed.value.includes(writer)) continue;
    const sentence = `All records of writer ${writer} are missing, although a later record names it.`;
    note(progress, { kind: "writer-missing", writer, seq: 1, sentence });
  }
  return ok({ valid: progress.findings.length === 0, findings: progress.findings, writers });
}
