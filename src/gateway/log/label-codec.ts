/**
 * Labels read back from a log. A policy may have changed its lattice since; labels are then carried over by name, and
 * a name that is gone makes the whole run resume at the top label, because a restriction must never just vanish.
 */
import { type Json, type JsonObject, isArray, member } from "../../core/json.ts";
import {
  categoryLabel,
  fromBits,
  join,
  levelLabel,
  makeLattice,
  readersLabel,
  toText,
  withTrust,
  type Label,
  type LabelRange,
  type Lattice,
} from "../../core/label.ts";

/** A label from its stored bits; undefined if it is not a label, or has no counterpart in the present lattice. */
export type ReadLabel = (bits: Json | undefined) => Label | undefined;

/** The declaration of a lattice as a document; its digest stands in every record. */
export function latticeText(lattice: Lattice): string {
  return JSON.stringify({ levels: lattice.levels, categories: lattice.categories, groups: lattice.groups });
}

function names(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  const found = value.filter((entry) => typeof entry === "string");
  return found.length === value.length ? found : undefined;
}

export function latticeFrom(document: JsonObject): Lattice | undefined {
  const levels = names(member(document, "levels"));
  const categories = names(member(document, "categories"));
  const groups = names(member(document, "groups"));
  if (levels === undefined || categories === undefined || groups === undefined) return undefined;
  const lattice = makeLattice({ levels, categories, groups });
  return lattice.ok ? lattice.value : undefined;
}

/** The same restrictions in another lattice. A group that is new there is excluded wherever readers were limited. */
export function translate(from: Lattice, to: Lattice, label: Label): Label | undefined {
  const text = toText(from, label);
  const level = levelLabel(to, text.level);
  const readers = text.readers === undefined ? to.bottom : readersLabel(to, text.readers);
  if (level === undefined || readers === undefined) return undefined;
  let all = join(level, readers);
  for (const category of text.categories) {
    const one = categoryLabel(to, category);
    if (one === undefined) return undefined;
    all = join(all, one);
  }
  return withTrust(to, all, text.trust);
}

/** Makes a reader of labels that were written under `from`; it gives them in `to`, or undefined. */
export function labelReader(from: Lattice, to: Lattice): ReadLabel {
  const same = latticeText(from) === latticeText(to);
  return (bits) => {
    const label = typeof bits === "number" ? fromBits(from, bits) : undefined;
    return label === undefined || same ? label : translate(from, to, label);
  };
}

/** Groups as bits, in the order of the present lattice; undefined if one of them is gone. */
export type ReadAudience = (bits: Json | undefined) => number | undefined;

/** Makes a reader of audiences that were written under `from`; it gives them in `to`, or undefined. */
export function audienceReader(from: Lattice, to: Lattice): ReadAudience {
  return (bits) => {
    if (typeof bits !== "number" || !Number.isInteger(bits) || bits < 0 || bits >= 2 ** from.groups.length) {
      return undefined;
    }
    let translated = 0;
    for (const [index, group] of from.groups.entries()) {
      if ((bits & (1 << index)) === 0) continue;
      const now = to.groups.indexOf(group);
      if (now < 0) return undefined;
      translated |= 1 << now;
    }
    return translated;
  };
}

/** A range from `[lo, hi]`; undefined if the value is not a pair of labels that `read` knows. */
export function readRange(value: Json | undefined, read: ReadLabel): LabelRange | undefined {
  if (!isArray(value) || value.length !== 2) return undefined;
  const lo = read(value[0]);
  const hi = read(value[1]);
  return lo === undefined || hi === undefined ? undefined : { lo, hi };
}
