/**
 * Labels as sets of restrictions.
 *
 * A label says what may *not* be done with a value. Each restriction is one bit, so that join is union, the order is
 * inclusion, and the semilattice laws hold by construction instead of by care:
 *
 *   levels      one bit for every level above the lowest: bit i set = "at least level i+1" (thermometer code)
 *   categories  one bit each: set = the value belongs to the category
 *   readers     one bit for every group: set = that group may not read it
 *   trust       one bit: set = untrusted
 *
 * Larger labels are more restricted (DESIGN 2: "join goes toward private and untrusted"). 32-bit arithmetic keeps a
 * decision in the microseconds; `labelBitsMax` bounds what a policy may declare.
 */
import type { Result } from "./result.ts";
import { err, ok } from "./result.ts";
import { labelBitsMax } from "./limits.ts";

declare const labelBrand: unique symbol;

/** A set of restrictions over one lattice. Labels of different lattices must not meet. */
export type Label = number & { readonly [labelBrand]: true };

/** An uncertain label: the truth lies between `lo` and `hi`. Safety rests on `hi`; `lo` chooses deny over confirm. */
export type LabelRange = { readonly lo: Label; readonly hi: Label };

/** What a policy declares; names are lower case and distinct over all four lists. */
export type LatticeDeclaration = {
  readonly levels: readonly string[];
  readonly categories: readonly string[];
  /** Disjoint groups of readers. `anyone` stands for everybody outside the other groups. */
  readonly groups: readonly string[];
};

export type Lattice = LatticeDeclaration & {
  readonly bitCount: number;
  readonly levelMask: number;
  readonly categoryMask: number;
  readonly readerMask: number;
  readonly untrustedBit: number;
  /** The unrestricted label: lowest level, no category, every reader, trusted. */
  readonly bottom: Label;
  /** The worst label: highest level, every category, no reader, untrusted. */
  readonly top: Label;
};

/** A label in words, as policies write it and messages print it. `readers` undefined means everyone. */
export type LabelText = {
  readonly level: string;
  readonly categories: readonly string[];
  readonly readers: readonly string[] | undefined;
  readonly trust: "trusted" | "untrusted";
};

const branded = (bits: number): Label => bits as Label; // the only place where a label is made from bits

/** Makes the lattice of a declaration; refuses one that needs more than `labelBitsMax` bits. */
export function makeLattice(declaration: LatticeDeclaration): Result<Lattice, string> {
  const { levels, categories, groups } = declaration;
  if (levels.length === 0) return err("the lattice has no confidentiality level: declare at least one");
  const names = [...levels, ...categories, ...groups];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return err(`\`${twice}\` is declared twice in the lattice: give each name one meaning`);
  const bitCount = levels.length - 1 + categories.length + groups.length + 1;
  if (bitCount > labelBitsMax) {
    return err(`the lattice needs ${bitCount} bits, the limit is ${labelBitsMax}: declare fewer categories or groups`);
  }
  const mask = (from: number, count: number): number => ((1 << count) - 1) << from;
  const categoryStart = levels.length - 1;
  const readerStart = categoryStart + categories.length;
  return ok({
    levels,
    categories,
    groups,
    bitCount,
    levelMask: mask(0, categoryStart),
    categoryMask: mask(categoryStart, categories.length),
    readerMask: mask(readerStart, groups.length),
    untrustedBit: 1 << (bitCount - 1),
    bottom: branded(0),
    top: branded((1 << bitCount) - 1),
  });
}

/** The label that carries the restrictions of both. Associative, commutative, idempotent, with `bottom` as unit. */
export function join(left: Label, right: Label): Label {
  return branded(left | right);
}

export function joinAll(labels: Iterable<Label>, start: Label): Label {
  let all = start;
  for (const label of labels) all = join(all, label);
  return all;
}

/** True iff `left` is at most as restricted as `right`. */
export function atMost(left: Label, right: Label): boolean {
  return (left & ~right) === 0;
}

/** The join at both ends; the left range itself where the right one adds nothing, as it mostly does. */
export function joinRanges(left: LabelRange, right: LabelRange): LabelRange {
  if (atMost(right.lo, left.lo) && atMost(right.hi, left.hi)) return left;
  return { lo: join(left.lo, right.lo), hi: join(left.hi, right.hi) };
}

export function joinAllRanges(ranges: readonly LabelRange[], start: LabelRange): LabelRange {
  let all = start;
  for (const range of ranges) all = joinRanges(all, range);
  return all;
}

export function exactly(label: Label): LabelRange {
  return { lo: label, hi: label };
}

/** The range of a value of which nothing is known. */
export function unknownRange(lattice: Lattice): LabelRange {
  return { lo: lattice.bottom, hi: lattice.top };
}

export function isUntrusted(lattice: Lattice, label: Label): boolean {
  return (label & lattice.untrustedBit) !== 0;
}

/** The label with its trust set; only endorsement may lower trust (DESIGN 2). */
export function withTrust(lattice: Lattice, label: Label, trust: "trusted" | "untrusted"): Label {
  return branded(trust === "trusted" ? label & ~lattice.untrustedBit : label | lattice.untrustedBit);
}

/** Only the parts of a label that speak of secrecy: levels, categories and readers. */
export function confidentiality(lattice: Lattice, label: Label): Label {
  return branded(label & ~lattice.untrustedBit);
}

/** Only the trust of a label. */
export function trustOf(lattice: Lattice, label: Label): Label {
  return branded(label & lattice.untrustedBit);
}

/** Label in which `level` is reached; undefined when the lattice has no such level. */
export function levelLabel(lattice: Lattice, level: string): Label | undefined {
  const index = lattice.levels.indexOf(level);
  return index < 0 ? undefined : branded((1 << index) - 1);
}

export function categoryLabel(lattice: Lattice, category: string): Label | undefined {
  const index = lattice.categories.indexOf(category);
  return index < 0 ? undefined : branded(1 << (lattice.levels.length - 1 + index));
}

/** Label that excludes every group but those named. A name outside the lattice gives undefined. */
export function readersLabel(lattice: Lattice, readers: readonly string[]): Label | undefined {
  const named = excludedBits(lattice, readers);
  return named === undefined ? undefined : branded(lattice.readerMask & ~named);
}

/** Bits whose presence in a label forbids showing the value to all of `audience`. */
export function excludedBits(lattice: Lattice, audience: readonly string[]): Label | undefined {
  if (audience.some((group) => !lattice.groups.includes(group))) return undefined;
  const start = lattice.levels.length - 1 + lattice.categories.length;
  let bits = 0;
  lattice.groups.forEach((group, index) => {
    if (audience.includes(group)) bits |= 1 << (start + index);
  });
  return branded(bits);
}

/**
 * The restrictions that keep a value from flowing to (bound, audience): levels and categories outside the bound, and
 * every group of the audience (formal.md 4.1). A label may flow iff it has none of them; see `mayFlow`.
 */
export function forbiddenAt(lattice: Lattice, bound: Label, audienceExcluded: Label): Label {
  return branded(((lattice.levelMask | lattice.categoryMask) & ~bound) | audienceExcluded);
}

export function mayFlow(label: Label, forbidden: Label): boolean {
  return (label & forbidden) === 0;
}

export function toText(lattice: Lattice, label: Label): LabelText {
  const levelIndex = 31 - Math.clz32((label & lattice.levelMask) + 1);
  const categoryStart = lattice.levels.length - 1;
  const readerStart = categoryStart + lattice.categories.length;
  return {
    level: lattice.levels[levelIndex] ?? "unknown",
    categories: lattice.categories.filter((_, index) => (label & (1 << (categoryStart + index))) !== 0),
    readers:
      (label & lattice.readerMask) === 0
        ? undefined
        : lattice.groups.filter((_, index) => (label & (1 << (readerStart + index))) === 0),
    trust: isUntrusted(lattice, label) ? "untrusted" : "trusted",
  };
}

/** A label in a few words: `private, medical, untrusted, only for me`. */
export function describe(lattice: Lattice, label: Label): string {
  const text = toText(lattice, label);
  const words = [text.level, ...text.categories];
  if (text.trust === "untrusted") words.push("untrusted");
  if (text.readers !== undefined)
    words.push(text.readers.length === 0 ? "for nobody" : `only for ${text.readers.join(" and ")}`);
  return words.join(", ");
}

/** A label read back from storage; bits outside the lattice are refused, because they would vanish silently. */
export function fromBits(lattice: Lattice, bits: number): Label | undefined {
  // The worst label has every bit below its highest, and bits beyond 32 would not even be seen by a mask.
  return Number.isInteger(bits) && bits >= 0 && bits <= lattice.top ? branded(bits) : undefined;
}
