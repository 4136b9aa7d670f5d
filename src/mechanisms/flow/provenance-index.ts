/**
 * The memory of provenance: one private mutable index for each run, over the texts that the run registered, was given
 * by its operator, or was released. Folding the events of a run in order rebuilds it exactly. Releases are indexed when
 * the next call asks, so that handing on a large result costs nothing; or before, in time that no call waits for.
 *
 * A copy shares what is indexed until either of the two adds to it: a run that begins with another's memory mostly never does.
 */
import type { ArgumentContract } from "../../core/contract.ts";
import type { RunEvent, TrustedText } from "../../core/event.ts";
import { isArray, isObject, type Json } from "../../core/json.ts";
import {
  confidentiality,
  exactly,
  fromBits,
  isUntrusted,
  joinRanges,
  type LabelRange,
  type Lattice,
} from "../../core/label.ts";
import { pointerOf } from "../../core/pointer.ts";
import { leavesOf } from "./leaves.ts";
import type { FaintHits } from "./faint-hits.ts";
import { explainedUnitsMax, releasedUnitsMax, resultUnitsMax, shortReleaseWordsMax } from "./limits.ts";
import {
  addSaid,
  addSecret,
  copyMatchIndex,
  leaveOut,
  makeMatchIndex,
  matchOf,
  secrecy,
  visitSource,
  type Match,
  type MatchIndex,
  type Setting,
} from "./match-index.ts";
import { typesAt, type Consumer, type Origin } from "./origin.ts";
import { releasedLeaves, type LabelledLeaf } from "./released-value.ts";
import { addTrusted, derivableLeaf, copyTrustedIndex, makeTrustedIndex, type TrustedIndex } from "./trusted-index.ts";

type Released = Extract<RunEvent, { kind: "released" }>;
type Pending =
  | { readonly kind: "said"; readonly text: TrustedText }
  | { readonly kind: "released"; readonly event: Released }
  /** Too large to be indexed. */
  | { readonly kind: "left-out"; readonly range: LabelRange };

/** What is indexed. */
type Built = {
  readonly trusted: TrustedIndex;
  readonly secret: MatchIndex;
  readonly untrusted: { units: number; readonly texts: { readonly text: string; readonly origin: Origin }[] };
};

export type ProvenanceIndex = {
  readonly lattice: Lattice;
  built: Built;
  /** Another index may have the same `built`, so that it must be copied before it is changed. */
  shared: boolean;
  readonly pending: Pending[];
  /** Text of releases that is indexed or waits for it. */
  units: number;
  /** Secrecy of everything that was noted. What K holds beyond it came some other way. */
  accounted: LabelRange;
};

export function makeProvenanceIndex(lattice: Lattice): ProvenanceIndex {
  return {
    lattice,
    built: { trusted: makeTrustedIndex(), secret: makeMatchIndex(), untrusted: { units: 0, texts: [] } },
    shared: false,
    pending: [],
    units: 0,
    accounted: exactly(lattice.bottom),
  };
}

/** An index of the same that goes on by itself. */
export function copyProvenanceIndex(index: ProvenanceIndex): ProvenanceIndex {
  index.shared = true;
  return { ...index, pending: [...index.pending] };
}

function ownBuilt(index: ProvenanceIndex): Built {
  if (!index.shared) return index.built;
  const { trusted, secret, untrusted } = index.built;
  index.built = {
    trusted: copyTrustedIndex(trusted),
    secret: copyMatchIndex(secret),
    untrusted: { units: untrusted.units, texts: [...untrusted.texts] },
  };
  index.shared = false;
  return index.built;
}

/** Notes a registered instruction or operator data. */
export function registerText(index: ProvenanceIndex, text: TrustedText): void {
  index.pending.push({ kind: "said", text });
}

/** Notes a value that the agent now holds. A withheld or rejected value is not held, and must not come here. */
export function releaseValue(index: ProvenanceIndex, event: Released): void {
  index.accounted = joinRanges(index.accounted, secrecy(index.lattice, widest(event)));
  const units = unitsOf(event);
  if (units <= resultUnitsMax && index.units + units <= releasedUnitsMax) {
    index.units += units;
    index.pending.push({ kind: "released", event });
  } else leaveOutRelease(index, event);
}

/** Nothing of it is derivable, and every later value carries its secrecy: too coarse, and sound. */
function leaveOutRelease(index: ProvenanceIndex, event: Released): void {
  const range = secrecy(index.lattice, widest(event));
  if (range.hi !== index.lattice.bottom) index.pending.push({ kind: "left-out", range });
}

/**
 * Restrictions that the agent holds though no release of this index explains them: the history of the run was lost, or
 * began elsewhere. Every value may carry them.
 */
export function unaccounted(index: ProvenanceIndex, context: LabelRange): LabelRange {
  const beyond = confidentiality(index.lattice, context.hi) & ~index.accounted.hi;
  return { lo: index.lattice.bottom, hi: fromBits(index.lattice, beyond) ?? index.lattice.top };
}

/**
 * Where a value is derivable from for this argument of this call; undefined if some leaf of it is not derivable at all, or
 * nowhere that the call may draw on (formal.md 4.2).
 */
export function derivable(
  index: ProvenanceIndex,
  value: Json,
  contract: Pick<ArgumentContract, "role" | "schemaValues" | "type">,
  consumer: Consumer,
): readonly Origin[] | undefined {
  flush(index);
  const leaves = leavesOf(value);
  if (leaves === undefined) return undefined;
  const schema = new Set(contract.schemaValues.map((one) => JSON.stringify(one)));
  const origins: Origin[] = [];
  const target = { role: contract.role, consumer, ...(contract.type === undefined ? {} : { type: contract.type }) };
  for (const leaf of leaves) {
    if (leaf.value === null || typeof leaf.value === "boolean" || schema.has(JSON.stringify(leaf.value))) continue;
    const origin = derivableLeaf(index.built.trusted, leaf.value, target);
    if (origin === undefined) return undefined;
    origins.push(origin);
  }
  return origins;
}

/** Secrecy of the released values that a value is or contains, as `matchOf` has it; undefined means none: bottom. */
export function matches(index: ProvenanceIndex, value: Json, faint?: FaintHits, prose = false): Match | undefined {
  flush(index);
  const leaves = leavesOf(value);
  if (leaves === undefined) return everything(index);
  return matchOf(
    index.built.secret,
    leaves.map((leaf) => leaf.value),
    faint,
    prose,
  );
}

/** An untrusted text that holds the value, for the explanation of a refusal. Decides nothing. */
export function untrustedOrigin(index: ProvenanceIndex, value: Json): Origin | undefined {
  flush(index);
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text === "" ? undefined : index.built.untrusted.texts.find((known) => known.text.includes(text))?.origin;
}

function everything(index: ProvenanceIndex): Match | undefined {
  const { ranges, rest } = index.built.secret;
  if (ranges.length === 0 && rest === undefined) return undefined;
  const bottom: LabelRange = rest ?? exactly(index.lattice.bottom);
  return {
    range: ranges.reduce((all, known) => joinRanges(all, known.range), bottom),
    origins: ranges.map((known) => known.origin),
  };
}

/** Text of pending releases that is indexed at once, in units: some milliseconds of work. */
const settledUnits = 16_384;

/** Indexes a part of what waits; true while something is left. The index says the same before and after. */
export function settleIndex(index: ProvenanceIndex): boolean {
  let units = 0;
  let taken = 0;
  for (const entry of index.pending) {
    if (units >= settledUnits) break;
    units += entry.kind === "released" ? unitsOf(entry.event) : settledUnits;
    taken += 1;
  }
  flush(index, taken);
  return index.pending.length > 0;
}

function flush(index: ProvenanceIndex, count = index.pending.length): void {
  if (count === 0) return;
  const built = ownBuilt(index);
  for (const entry of index.pending.splice(0, count)) {
    if (entry.kind === "said") addText(index.lattice, built, entry.text);
    else if (entry.kind === "released") addReleased(index.lattice, built, entry.event);
    else leaveOut(built.secret, entry.range);
  }
}

function addText(lattice: Lattice, built: Built, text: TrustedText): void {
  const range = exactly(lattice.bottom);
  for (const leaf of leavesOf(text.value) ?? []) {
    addTrusted(built.trusted, leaf.value, { origin: text.source, pointer: pointerOf(leaf.path), range });
    addSaid(built.secret, leaf.value);
  }
}

function addReleased(lattice: Lattice, built: Built, event: Released): void {
  const found = event.value === undefined ? undefined : releasedLeaves(event.value, event.label, event.fields);
  if (found === undefined) {
    const range = secrecy(lattice, widest(event));
    if (range.hi !== lattice.bottom) leaveOut(built.secret, range);
    return;
  }
  const exempt = event.fields.length === 0 || found.other.length === 0 ? undefined : keysOf(found.structured);
  const alone = isShort([...found.structured, ...found.other]);
  const add = (leaf: LabelledLeaf, setting: Setting): void => addLeaf({ lattice, built, event }, leaf, setting);
  for (const leaf of found.structured) add(leaf, { exempt: undefined, alone });
  for (const leaf of found.other) add(leaf, { exempt, alone });
}

/** True for a release of a few words in all, of which each may be what it tells. */
function isShort(leaves: readonly LabelledLeaf[]): boolean {
  let words = 0;
  for (const { value } of leaves) {
    words += typeof value === "string" ? value.split(/\s+/u, shortReleaseWordsMax + 1).length : 1;
    if (words > shortReleaseWordsMax) return false;
  }
  return true;
}

function widest(event: Released): LabelRange {
  return event.fields.reduce((all, field) => joinRanges(all, field.range), event.label);
}

/** Keys of the structured leaves: text beside them repeats their values, which have labels of their own. */
function keysOf(leaves: readonly LabelledLeaf[]): ReadonlySet<number> {
  const keys = new Set<number>();
  for (const leaf of leaves) visitSource(leaf.value, 1, (key) => keys.add(key));
  return keys;
}

type Adding = { readonly lattice: Lattice; readonly built: Built; readonly event: Released };

function addLeaf({ lattice, built, event }: Adding, leaf: LabelledLeaf, setting: Setting): void {
  const { server, tool, scope } = event;
  // Only a declaration of the whole speaks of text outside the structured result.
  const types = typesAt(leaf.place ?? [], scope?.types ?? []);
  const origin: Origin = {
    origin: event.call ?? "message",
    server,
    tool,
    pointer: leaf.pointer,
    range: leaf.range,
    ...(scope === undefined ? {} : { stores: scope.stores }),
    ...(types === undefined ? {} : { types }),
  };
  if (!isUntrusted(lattice, leaf.range.hi)) addTrusted(built.trusted, leaf.value, origin);
  else explain(built, leaf, origin);
  const range = secrecy(lattice, leaf.range);
  if (range.hi !== lattice.bottom) addSecret(built.secret, { ...leaf, range }, origin, setting);
}

/** Keeps the latest untrusted text: an explanation mostly speaks of what was just read. */
function explain({ untrusted }: Built, leaf: LabelledLeaf, origin: Origin): void {
  const text = typeof leaf.value === "string" ? leaf.value : JSON.stringify(leaf.value);
  untrusted.units += text.length;
  untrusted.texts.push({ text, origin });
  while (untrusted.units > explainedUnitsMax) untrusted.units -= untrusted.texts.shift()?.text.length ?? 0;
}

/** Sizes of releases: one that many runs receive is measured once. */
const knownUnits = new WeakMap<Released, number>();

function unitsOf(event: Released): number {
  const known = knownUnits.get(event);
  if (known !== undefined) return known;
  const units = event.value === undefined ? resultUnitsMax + 1 : unitsUpTo(event.value, resultUnitsMax);
  knownUnits.set(event, units);
  return units;
}

/** Size of a value as text and leaves; counting ends once it is above `max`. Without recursion: depth is the sender's. */
function unitsUpTo(value: Json, max: number): number {
  const open: Json[] = [value];
  let units = 0;
  for (let next = open.pop(); next !== undefined && units <= max; next = open.pop()) {
    units += typeof next === "string" ? next.length : 8;
    if (isArray(next)) for (const element of next) open.push(element);
    else if (isObject(next)) for (const [name, element] of Object.entries(next)) open.push(name, element);
  }
  return units;
}
