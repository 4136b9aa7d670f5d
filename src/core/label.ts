/**
 * Labels as sets of restrictions on the use of a value (system.md 2). Each restriction is one bit, so join is union, the
 * order is inclusion, and the semilattice laws hold by construction:
 *
 *   levels      one bit for every level above the lowest: bit i set = "at least level i+1" (thermometer code)
 *   categories  one bit each: set = the value belongs to the category
 *   readers     one bit for every group: set = that group may not read it
 *   trust       one bit: set = untrusted
 *
 * Larger labels are more restricted. 32-bit arithmetic keeps a decision in the microseconds; `labelBitsMax` bounds the
 * names that a policy may declare.
 */
import { type Result, err, ok } from "./result.ts";
import { labelBitsMax } from "./limits.ts";

declare const labelBrand: unique symbol;

/** A set of restrictions over one lattice. Labels of different lattices must not meet. */
export type Label = number & { readonly [labelBrand]: true };

/** An uncertain label, `lo` at most `hi`. Safety rests on `hi`; `lo` decides between deny and confirm (formal.md 4.2). */
export type LabelRange = { readonly lo: Label; readonly hi: Label };

/** The names of a lattice, distinct over all three lists (`makeLattice` checks that). */
export type LatticeDeclaration = {
  /** Lowest first; at least one. */
  readonly levels: readonly string[];
  readonly categories: readonly string[];
  /** Disjoint groups of readers. The group `anyone` holds every reader outside the other groups. */
  readonly groups: readonly string[];
};

/** A declaration with the bits of its restrictions. */
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

/** Makes a lattice. Errors: no level, a name declared twice, more than `labelBitsMax` bits. */
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

/** The join of all labels and `start`. */
export function joinAll(labels: Iterable<Label>, start: Label): Label {
  let all = start;
  for (const label of labels) all = join(all, label);
  return all;
}

/** True iff `left` is at most as restricted as `right`. */
export function atMost(left: Label, right: Label): boolean {
  return (left & ~right) === 0;
}

/** The join at both ends. Returns `left` itself where `right` adds nothing, which is the usual case. */
export function joinRanges(left: LabelRange, right: LabelRange): LabelRange {
  if (atMost(right.lo, left.lo) && atMost(right.hi, left.hi)) return left;
  return { lo: join(left.lo, right.lo), hi: join(left.hi, right.hi) };
}

/** The join of all ranges and `start`. */
export function joinAllRanges(ranges: readonly LabelRange[], start: LabelRange): LabelRange {
  let all = start;
  for (const range of ranges) all = joinRanges(all, range);
  return all;
}

/** The range of a label that is certain. */
export function exactly(label: Label): LabelRange {
  return { lo: label, hi: label };
}

/** The range of a value without any known label: from `bottom` to `top`. */
export function unknownRange(lattice: Lattice): LabelRange {
  return { lo: lattice.bottom, hi: lattice.top };
}

export function isUntrusted(lattice: Lattice, label: Label): boolean {
  return (label & lattice.untrustedBit) !== 0;
}

/** The label with its trust replaced. Only endorsement may make an untrusted label trusted (system.md 2). */
export function withTrust(lattice: Lattice, label: Label, trust: "trusted" | "untrusted"): Label {
  return branded(trust === "trusted" ? label & ~lattice.untrustedBit : label | lattice.untrustedBit);
}

/** The confidentiality part of a label: levels, categories and readers. */
export function confidentiality(lattice: Lattice, label: Label): Label {
  return branded(label & ~lattice.untrustedBit);
}

/** The trust part of a label. */
export function trustOf(lattice: Lattice, label: Label): Label {
  return branded(label & lattice.untrustedBit);
}

/** The least label at this level; undefined for a level outside the lattice. */
export function levelLabel(lattice: Lattice, level: string): Label | undefined {
  const index = lattice.levels.indexOf(level);
  return index < 0 ? undefined : branded((1 << index) - 1);
}

/** The label of one category; undefined for a name outside the lattice. */
export function categoryLabel(lattice: Lattice, category: string): Label | undefined {
  const index = lattice.categories.indexOf(category);
  return index < 0 ? undefined : branded(1 << (lattice.levels.length - 1 + index));
}

/** The label that excludes every group but `readers`; undefined for a name outside the lattice. */
export function readersLabel(lattice: Lattice, readers: readonly string[]): Label | undefined {
  const named = excludedBits(lattice, readers);
  return named === undefined ? undefined : branded(lattice.readerMask & ~named);
}

/** The reader bits of `audience`: a label with any of them excludes one of its groups. Undefined for an unknown name. */
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
 * The restrictions that forbid a flow to a sink: levels and categories above `bound`, and the reader bits of its audience
 * (`excludedBits`; formal.md 4.1). Trust is not among them. A label may flow iff it has none of them; see `mayFlow`.
 */
export function forbiddenAt(lattice: Lattice, bound: Label, audienceExcluded: Label): Label {
  return branded(((lattice.levelMask | lattice.categoryMask) & ~bound) | audienceExcluded);
}

/** True iff a value with this label may flow to a sink with this `forbidden` (`forbiddenAt`). */
export function mayFlow(label: Label, forbidden: Label): boolean {
  return (label & forbidden) === 0;
}

/** The label in words of its lattice. */
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

/** A label from stored bits; undefined for bits outside the lattice, which masks would silently ignore. */
export function fromBits(lattice: Lattice, bits: number): Label | undefined {
  // `top` has every bit of the lattice set, so a larger number has bits outside of it.
  return Number.isInteger(bits) && bits >= 0 && bits <= lattice.top ? branded(bits) : undefined;
}
