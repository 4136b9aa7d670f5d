/**
 * The gaps of a chain that signed records explain (docs/decisions/0044). Only a record that is signed at its own place is
 * believed, and only for records before it; each gap must be covered exactly, and each range be a gap.
 */
import type { Place } from "../../ports/retention.ts";
import type { Store, StoredRecord } from "../../ports/store.ts";
import type { ChainState, Finding } from "../chain-check.ts";
import { isAfter } from "../kept-records.ts";
import { type PrunedRange, type Pruning, fingerprintIn, readPruning } from "./pruning.ts";

/** A range with the record that names it. */
type Explained = PrunedRange & { readonly by: Place; readonly pruning: Pruning };

/** A record that says what left, for a report. */
export type PruningNote = Place &
  Pick<Pruning, "keepDays" | "records" | "wallTime"> & {
    readonly runs: number;
    readonly keepBytes?: number;
    readonly sums?: number;
  };

function nameOf({ writer, seq }: Place): string {
  return `${writer}/${seq}`;
}

function isBefore({ writer, to }: PrunedRange, by: Place): boolean {
  return writer < by.writer || (writer === by.writer && to < by.seq);
}

export class LeftRecords {
  readonly notes: PruningNote[] = [];
  /** The newest record that says of each run that records of it left; a summary may have taken its place since. */
  readonly runs = new Map<string, Place>();
  readonly #store: Pick<Store, "records">;
  readonly #note: (finding: Finding) => void;
  readonly #ranges = new Map<number, Explained[]>();
  /** The record that was opened last, since heads that are looked up follow each other. */
  #opened: StoredRecord | undefined;

  constructor(store: Pick<Store, "records">, note: (finding: Finding) => void) {
    this.#store = store;
    this.#note = note;
  }

  /** Takes what a record says; `signed` are the fingerprints that valid signatures of its writer name, by number. */
  learn(record: StoredRecord, signed: ReadonlyMap<number, string>): void {
    const pruning = readPruning(record);
    if (pruning === undefined) return;
    const { writer, seq } = record;
    const by = { writer, seq };
    if (signed.get(seq) !== record.fingerprint) {
      const sentence = `Record ${nameOf(by)} says that records left the log, but no signature covers it: it was forged, and what it names was removed.`;
      return this.#note({ kind: "pruned-unsigned", ...by, sentence });
    }
    const late = pruning.ranges.find((range) => !isBefore(range, by));
    if (late !== undefined) {
      const sentence = `Record ${nameOf(by)} says that record ${late.writer}/${late.to} left, which came after it.`;
      return this.#note({ kind: "pruned-unsigned", ...by, sentence });
    }
    const { keepDays, keepBytes, sums, records, wallTime, runs } = pruning;
    const why = { ...(keepBytes === undefined ? {} : { keepBytes }), ...(sums === undefined ? {} : { sums }) };
    this.notes.push({ ...by, keepDays, ...why, records, wallTime, runs: runs.length });
    for (const { run, mark = by } of runs) {
      const known = this.runs.get(run);
      if (known === undefined || isAfter(mark, known)) this.runs.set(run, mark);
    }
    for (const range of pruning.ranges) {
      this.#ranges.set(range.writer, [...(this.#ranges.get(range.writer) ?? []), { ...range, by, pruning }]);
    }
  }

  /** The ranges of a writer, to walk its chain with; called when every record that may name one was learned. */
  walk(writer: number): LeftWalk {
    const ranges = (this.#ranges.get(writer) ?? []).toSorted((left, right) => left.from - right.from);
    for (const [index, range] of ranges.entries()) {
      const before = ranges[index - 1];
      if (before === undefined || before.to < range.from) continue;
      const [one, other] = [nameOf(before.by), nameOf(range.by)];
      const sentence = `Records ${one} and ${other} both say that record ${writer}/${range.from} left.`;
      this.#note({ kind: "pruned-overlap", writer, seq: range.from, sentence });
    }
    return new LeftWalk(ranges, this.#note);
  }

  /** The fingerprint of a record that left; undefined where none of the records says it. */
  async fingerprintOf(place: Place): Promise<string | undefined> {
    const { writer, seq } = place;
    const range = this.#ranges.get(writer)?.find(({ from, to }) => seq >= from && seq <= to);
    if (range === undefined) return undefined;
    const { by, pruning } = range;
    if (this.#opened?.writer !== by.writer || this.#opened.seq !== by.seq) {
      const after = { writer: by.writer, seq: by.seq - 1 };
      const read = await this.#store.records({ writer: by.writer, after, order: "oldest", limit: 1 });
      this.#opened = read.ok ? read.value[0] : undefined;
    }
    const said = this.#opened === undefined ? undefined : fingerprintIn(this.#opened, pruning, place);
    // A summary has the fingerprints at the ends of its ranges alone.
    return said ?? (seq === range.to ? range.last : seq === range.from ? range.first : undefined);
  }
}

/** One walk along the chain of a writer. */
export class LeftWalk {
  readonly #ranges: readonly Explained[];
  readonly #note: (finding: Finding) => void;
  #next = 0;
  #told: Explained | undefined;
  /** Records that left. */
  left = 0;

  constructor(ranges: readonly Explained[], note: (finding: Finding) => void) {
    this.#ranges = ranges;
    this.#note = note;
  }

  /** The chain up to the record before `seq`, as far as signed records say that what is missing left. */
  upTo(given: ChainState, seq: number): ChainState {
    let state = given;
    for (;;) {
      const range = this.#ranges[this.#next];
      if (range === undefined || range.from >= seq) break;
      if (range.to <= state.seq) {
        this.#next += 1;
        continue;
      }
      if (range.from > state.seq + 1) state = this.#gap(state, range.from - 1);
      if (range.to >= seq) {
        // The record itself is there, although another one names it as left; what is missing before it left all the same.
        if (seq > state.seq + 1) state = this.#across(state, { to: seq - 1, fingerprint: "", linked: false });
        break;
      }
      state = this.#across(state, { to: range.to, fingerprint: range.last, linked: true });
    }
    return state;
  }

  /** Notes a record that is there although another one names it as left. */
  met({ writer, seq }: Place): void {
    const range = this.#ranges[this.#next];
    if (range === undefined || seq < range.from || seq > range.to || this.#told === range) return;
    this.#told = range;
    const { by, from, to } = range;
    const sentence = `Record ${nameOf(by)} says that records ${writer}/${from} to ${writer}/${to} left, but record ${writer}/${seq} is there: it was put back or forged.`;
    this.#note({ kind: "pruned-present", writer, seq, sentence });
  }

  #across(state: ChainState, { to, fingerprint, linked }: { to: number; fingerprint: string; linked: boolean }) {
    this.left += to - state.seq;
    return { ...state, seq: to, fingerprint, linked };
  }

  #gap(state: ChainState, to: number): ChainState {
    const { writer, seq } = state;
    const from = seq + 1;
    const sentence = `Records ${writer}/${from} to ${writer}/${to} are missing.`;
    this.#note({ kind: "gap", writer, seq: from, sentence });
    return { ...state, seq: to, fingerprint: "", linked: false };
  }
}
