/**
 * Labels that a server puts on a message itself: `_meta["io.github.sluicegate/labels"]` and `_meta.ifc`, of the message, of
 * its blocks and resources, and of the result inside of a task. A server is not believed, so they only restrict.
 */
import { isArray, isObject, member, stringMember, type Json } from "../../core/json.ts";
import type { Obligation, Reason } from "../../core/opinion.ts";
import {
  atMost,
  categoryLabel,
  confidentiality,
  describe,
  join,
  joinRanges,
  exactly,
  levelLabel,
  readersLabel,
  withTrust,
  type Label,
  type LabelRange,
  type Lattice,
} from "../../core/label.ts";

type LabelObligation = Extract<Obligation, { kind: "label" }>;

/** Places of one message that are looked at; the labels of a message with more of them are not known. */
const placesMax = 4_096;

/** The join of all labels that a message states; bottom where it states none. A word that the lattice lacks may be any. */
export function statedLabel(lattice: Lattice, message: Json): LabelRange {
  let range = exactly(lattice.bottom);
  let places = 0;
  for (const place of placesOf(message)) {
    places += 1;
    if (places > placesMax) return { lo: range.lo, hi: lattice.top };
    const meta = member(place, "_meta");
    if (meta === undefined) continue;
    const own = member(meta, "io.github.sluicegate/labels");
    const output = member(own, "output") ?? own;
    if (output !== undefined) range = joinRanges(range, ownLabel(lattice, output));
    const flow = member(meta, "ifc");
    if (flow !== undefined) range = joinRanges(range, flowLabel(lattice, flow));
  }
  return range;
}

/** The message, what it holds as params or as the result of a task, and all blocks with their resources. */
function* placesOf(message: Json): Generator<Json> {
  for (const part of [message, member(message, "params"), member(message, "result")]) {
    if (part === undefined) continue;
    yield part;
    for (const name of ["content", "contents", "messages"]) {
      const blocks = member(part, name);
      if (!isArray(blocks)) continue;
      for (const block of blocks) yield* [block, member(block, "resource") ?? null, member(block, "content") ?? null];
    }
  }
}

function ownLabel(lattice: Lattice, label: Json): LabelRange {
  const parts = [
    endsOf(lattice, member(label, "confidentiality"), (word) => levelLabel(lattice, word)),
    endsOf(lattice, member(label, "trust"), (word) => trustLabel(lattice, word)),
    exactOf(
      lattice,
      namesOf(member(label, "categories"), (names) => categoriesLabel(lattice, names)),
    ),
    exactOf(
      lattice,
      namesOf(member(label, "readers"), (names) => readersLabel(lattice, names)),
    ),
  ];
  return parts.reduce(joinRanges, isObject(label) ? exactly(lattice.bottom) : anything(lattice));
}

/** `{integrity, confidentiality}`; readers in place of a level mean that not everyone may read. */
function flowLabel(lattice: Lattice, label: Json): LabelRange {
  const level = member(label, "confidentiality");
  const named = isArray(level) && level.length === 1 && lattice.levels.some((known) => known === level[0]);
  const readers = named ? level[0] : isArray(level) ? lattice.levels.at(-1) : level;
  const trust = stringMember(label, "integrity");
  return joinRanges(
    endsOf(lattice, readers, (word) => levelLabel(lattice, word)),
    endsOf(lattice, trust, (word) => trustLabel(lattice, word)),
  );
}

/** One word, or the two ends of an interval. `unsure` and `inferred` state nothing. */
function endsOf(lattice: Lattice, said: Json | undefined, labelOf: (word: string) => Label | undefined): LabelRange {
  if (said === undefined || said === "unsure" || said === "inferred") return exactly(lattice.bottom);
  const [lo, hi] = (isArray(said) ? said : [said, said]).map((word) =>
    typeof word === "string" ? labelOf(word) : undefined,
  );
  return lo === undefined || hi === undefined ? anything(lattice) : { lo, hi: join(lo, hi) };
}

function exactOf(lattice: Lattice, label: Label | "unknown" | undefined): LabelRange {
  if (label === "unknown") return anything(lattice);
  return exactly(label ?? lattice.bottom);
}

/** Undefined without a statement. */
function namesOf(
  said: Json | undefined,
  labelOf: (names: readonly string[]) => Label | undefined,
): Label | "unknown" | undefined {
  if (said === undefined) return undefined;
  const names = isArray(said) ? said.filter((name) => typeof name === "string") : [];
  return isArray(said) && names.length === said.length ? (labelOf(names) ?? "unknown") : "unknown";
}

function categoriesLabel(lattice: Lattice, names: readonly string[]): Label | undefined {
  let all = lattice.bottom;
  for (const name of names) {
    const label = categoryLabel(lattice, name);
    if (label === undefined) return undefined;
    all = join(all, label);
  }
  return all;
}

function trustLabel(lattice: Lattice, word: string): Label | undefined {
  if (word === "trusted") return lattice.bottom;
  return word === "untrusted" ? withTrust(lattice, lattice.bottom, "untrusted") : undefined;
}

/** A word that this policy does not have restricts in an unknown way. */
function anything(lattice: Lattice): LabelRange {
  return { lo: lattice.bottom, hi: confidentiality(lattice, lattice.top) };
}

/** What a statement does to the label of a release, and what it says beyond what the call may bring. */
export type Stated = {
  readonly obligation: Obligation;
  readonly reasons: readonly Reason[];
};

/**
 * Joins what a message says of itself to its label and to those of its fields. `bound` is all that the call may bring or
 * the agent holds: a result that says more contradicts the labels of its tool, on which proofs rest, and is not passed on.
 */
export function withStated(lattice: Lattice, label: LabelObligation, stated: LabelRange, bound: Label): Stated {
  const within = { lo: common(stated.lo, bound), hi: common(stated.hi, bound) };
  const fields = label.fields.map(({ pointer, range }) => ({ pointer, range: joinRanges(range, within) }));
  const obligation: Obligation = { kind: "label", range: joinRanges(label.range, within), fields };
  if (atMost(stated.hi, bound)) return { obligation, reasons: [] };
  const verdict = atMost(stated.lo, bound) ? "confirm" : "deny";
  const facts = { stated: describe(lattice, stated.hi), labelled: describe(lattice, bound) };
  const way = "correct the label of the tool's output in the policy";
  return { obligation, reasons: [{ mechanism: "flow", code: "SG-RESULT-LABEL", verdict, facts, way }] };
}

function common(left: Label, right: Label): Label {
  return (left & right) as Label; // an intersection of two labels of one lattice is a label of it
}
