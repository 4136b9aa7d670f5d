/** Follows one writer's chain record by record and says exactly what is wrong with it, if anything is. */
import type { LogKeys, StoredRecord } from "../ports/store.ts";
import { fingerprintOf, readBody, type ReadHead } from "./record.ts";

export type Finding = {
  readonly kind:
    | "gap"
    | "changed"
    | "reordered"
    | "payload-changed"
    | "payload-removed"
    | "truncated"
    | "rewritten"
    | "bad-signature"
    | "unknown-signer"
    | "writer-missing"
    | "pruned-unsigned"
    | "pruned-present"
    | "pruned-overlap"
    | "pruned-open"
    | "pruned-unmarked"
    | "snapshot-altered"
    | "snapshot-differs"
    | "keys-older";
  readonly writer: number;
  /** Record the finding is about; for a gap or a truncation the first one that is missing. */
  readonly seq: number;
  readonly sentence: string;
};

export type ChainState = {
  readonly writer: number;
  readonly seq: number;
  readonly fingerprint: string;
  /** False right after a gap: the record before is not there, so the link to it cannot be checked. */
  readonly linked: boolean;
  readonly records: number;
  /** Records whose payload cannot be read because its key was destroyed; the chain is valid all the same. */
  readonly unreadable: number;
};

export function chainStart(writer: number): ChainState {
  return { writer, seq: 0, fingerprint: "", linked: true, records: 0, unreadable: 0 };
}

function checkPayload(
  keys: LogKeys,
  record: StoredRecord,
  note: ReadHead["payload"],
): "fine" | "unreadable" | "changed" | "removed" {
  if (note === undefined || note.how === "digests") return record.payload === undefined ? "fine" : "changed";
  if (record.payload === undefined) return "removed";
  if (keys.hash(record.payload) !== note.digest) return "changed";
  return note.how === "sealed" && !keys.readable(record.payload) ? "unreadable" : "fine";
}

/** Whether the columns beside the body agree with the body: queries go by the columns. */
function columnsAgree(record: StoredRecord, head: ReadHead | undefined): boolean {
  return head !== undefined && head.run === record.run && head.kind === record.kind;
}

function placeFinding(
  state: ChainState,
  { writer, seq }: StoredRecord,
  head: ReadHead | undefined,
): Finding | undefined {
  if (head !== undefined && (head.seq !== seq || head.writer !== writer)) {
    return {
      kind: "reordered",
      writer,
      seq,
      sentence: `Record ${writer}/${seq} holds what was written as record ${head.writer}/${head.seq}: records were moved.`,
    };
  }
  if (seq === state.seq + 1) return undefined;
  const missing = state.seq + 1;
  return {
    kind: "gap",
    writer,
    seq: missing,
    sentence: `Records ${writer}/${missing} to ${writer}/${seq - 1} are missing.`,
  };
}

/** Takes the next record of the writer, in order of its number. */
export function checkNext(
  keys: LogKeys,
  state: ChainState,
  record: StoredRecord,
): { readonly state: ChainState; readonly findings: readonly Finding[] } {
  const { writer, seq } = record;
  const findings: Finding[] = [];
  // Of the whole body: a record whose entries do not read was not written so, whatever its fingerprint says.
  const head = readBody(record.body)?.head;
  const placed = placeFinding(state, record, head);
  if (placed !== undefined) findings.push(placed);
  const linked = state.linked && seq === state.seq + 1;
  const intact = !linked || fingerprintOf(keys, state.fingerprint, record.body) === record.fingerprint;
  if ((!intact && placed === undefined) || !columnsAgree(record, head)) {
    const sentence = `Record ${writer}/${seq} does not match its fingerprint: it was changed after it was written.`;
    findings.push({ kind: "changed", writer, seq, sentence });
  }
  const payload = checkPayload(keys, record, head?.payload);
  if (payload === "changed") {
    const sentence = `The payload of record ${writer}/${seq} is not the one that was written.`;
    findings.push({ kind: "payload-changed", writer, seq, sentence });
  } else if (payload === "removed") {
    const sentence = `The payload of record ${writer}/${seq} was removed.`;
    findings.push({ kind: "payload-removed", writer, seq, sentence });
  }
  return {
    state: {
      writer,
      seq,
      // The stored fingerprint goes on, so that one changed record gives one finding and not a thousand.
      fingerprint: record.fingerprint,
      linked: placed?.kind !== "reordered",
      records: state.records + 1,
      unreadable: state.unreadable + (payload === "unreadable" ? 1 : 0),
    },
    findings,
  };
}
