/** Words of labels to bits: the lattice, ranges for values, one-sided atoms for rules, bounds for sinks. */
import {
  type Label,
  type LabelRange,
  type Lattice,
  categoryLabel,
  confidentiality,
  excludedBits,
  exactly,
  forbiddenAt,
  join,
  levelLabel,
  makeLattice,
  readersLabel,
  trustOf,
} from "../../core/label.ts";
import type { BoundForm, LabelForm, LatticeForm } from "../document/long-form.ts";
import { type DocumentPath, type Problem, type Reporter, problem, quoted, warning } from "../document/diagnostic.ts";
import { suggestion } from "../document/nearest.ts";
import type { LabelAtom } from "../ir/ir.ts";
import type { LabelCompiler, Polarity } from "../ir/label-table.ts";

export function compileLattice(form: LatticeForm, report: Reporter): Lattice {
  const made = makeLattice({ levels: form.confidentiality, categories: form.categories, groups: form.groups });
  if (made.ok) return made.value;
  report(problem("LATTICE", ["lattice"], made.error, "declare fewer or other names"));
  const least = makeLattice({ levels: ["public"], categories: [], groups: [] });
  if (!least.ok) throw new Error("the least lattice always exists");
  return least.value;
}

export function labelCompiler(form: LatticeForm, lattice: Lattice, report: Reporter): LabelCompiler {
  const words = wordCompiler(lattice, report);
  const clearance = (group: string): Label => {
    const declared = Object.hasOwn(form.clearance, group) ? form.clearance[group] : undefined;
    if (declared !== undefined) return words.bound(declared, ["lattice", "clearance", group]);
    // The run's user may see everything; any other group sees the lowest level unless the policy says more.
    return group === "me" ? confidentiality(lattice, lattice.top) : lattice.bottom;
  };
  const groupBits = (groups: readonly string[], path: DocumentPath): number =>
    groups.reduce((bits, group) => {
      const index = lattice.groups.indexOf(group);
      if (index >= 0) return bits | (1 << index);
      report(
        problem("GROUP", path, `${quoted(group)} is not a group of the lattice`, suggestion(group, lattice.groups)),
      );
      return bits;
    }, 0);
  return {
    lattice,
    groupBits,
    quiet: (other) => labelCompiler(form, lattice, other),
    range: (label, path) => rangeOf(lattice, words, label, path),
    atom: (label, polarity, path) => atomOf(lattice, words, { label, polarity, path }),
    forbidden: (bound, audience, path) => {
      const known = audience.filter((group) => lattice.groups.includes(group));
      const excluded = excludedBits(lattice, known) ?? lattice.top;
      if (bound !== undefined) return forbiddenAt(lattice, words.bound(bound, path), excluded);
      return known.reduce<Label>((all, group) => join(all, forbiddenAt(lattice, clearance(group), excluded)), excluded);
    },
  };
}

type WordCompiler = {
  readonly report: Reporter;
  readonly level: (word: string, path: DocumentPath) => Label;
  readonly trust: (word: string, path: DocumentPath) => Label;
  readonly categories: (categories: readonly string[], path: DocumentPath) => Label;
  readonly readers: (readers: readonly string[], path: DocumentPath) => Label;
  readonly bound: (bound: BoundForm, path: DocumentPath) => Label;
};

function wordCompiler(lattice: Lattice, report: Reporter): WordCompiler {
  const untrusted = trustOf(lattice, lattice.top);
  const level = (word: string, path: DocumentPath): Label => {
    const found = levelLabel(lattice, word);
    if (found === undefined) {
      if (/^\s*==/.test(word)) report(equality(path));
      else
        report(
          problem("LEVEL", path, `${quoted(word)} is not a level of the lattice`, suggestion(word, lattice.levels)),
        );
    }
    return found ?? lattice.top;
  };
  const categories = (names: readonly string[], path: DocumentPath): Label =>
    names.reduce<Label>((all, name) => {
      const found = categoryLabel(lattice, name);
      if (found === undefined) {
        const remedy = suggestion(name, lattice.categories, "declare it under `lattice.categories`");
        report(problem("CATEGORY", path, `${quoted(name)} is not a category of the lattice`, remedy));
      }
      return join(all, found ?? lattice.top);
    }, lattice.bottom);
  return {
    report,
    level,
    categories,
    trust: (word, path) => {
      if (word === "trusted") return lattice.bottom;
      if (word !== "untrusted") {
        const remedy = suggestion(word, ["trusted", "untrusted"]);
        report(
          /^\s*==/.test(word) ? equality(path) : problem("TRUST", path, `${quoted(word)} is not a trust value`, remedy),
        );
      }
      return untrusted;
    },
    readers: (readers, path) => {
      const found = readersLabel(lattice, readers);
      if (found === undefined) {
        const wrong = readers.find((reader) => !lattice.groups.includes(reader)) ?? "";
        report(
          problem("GROUP", path, `${quoted(wrong)} is not a group of the lattice`, suggestion(wrong, lattice.groups)),
        );
      }
      return found ?? lattice.top;
    },
    bound: (bound, path) => join(level(bound.confidentiality, path), categories(bound.categories, path)),
  };
}

function equality(path: DocumentPath): Problem {
  return problem(
    "EQUALITY",
    path,
    "a label cannot be compared with `==`: rules must not loosen as labels grow",
    "write the level alone: it means `at least` in block, must, confirm and `at most` in allow",
  );
}

type Ends = { readonly lo: Label; readonly hi: Label };

function rangeOf(lattice: Lattice, words: WordCompiler, label: LabelForm, path: DocumentPath): LabelRange {
  const at = (key: string): DocumentPath => [...path, key];
  const text = label.confidentiality;
  const unknown = text === undefined || text === "unsure";
  const all = confidentiality(lattice, lattice.top);
  const parts: Ends[] = [];
  if (unknown) {
    // The confidentiality is unstated, or stated as unsure: any level, any category, any readers.
    parts.push({ lo: lattice.bottom, hi: all });
  } else if (text !== "inferred") {
    parts.push(ends(text, (word) => words.level(word, at("confidentiality"))));
  }
  if (label.categories !== undefined) parts.push(exactly(words.categories(label.categories, at("categories"))));
  if (label.readers !== undefined) parts.push(exactly(words.readers(label.readers, at("readers"))));
  const trust = label.trust;
  if (trust === undefined || trust === "unsure") parts.push({ lo: lattice.bottom, hi: trustOf(lattice, lattice.top) });
  else if (trust !== "inferred") parts.push(ends(trust, (word) => words.trust(word, at("trust"))));
  const range = parts.reduce<Ends>(
    (left, right) => ({ lo: join(left.lo, right.lo), hi: join(left.hi, right.hi) }),
    exactly(lattice.bottom),
  );
  if ((range.lo & ~range.hi) !== 0) {
    words.report(problem("INTERVAL", path, "the lower end of the interval is above the upper", "swap the two ends"));
  }
  return range;
}

function ends(text: string | readonly [string, string], compile: (word: string) => Label): Ends {
  if (typeof text === "string") return exactly(compile(text));
  return { lo: compile(text[0]), hi: compile(text[1]) };
}

type AtomRequest = { readonly label: LabelForm; readonly polarity: Polarity; readonly path: DocumentPath };

function atomOf(lattice: Lattice, words: WordCompiler, request: AtomRequest): LabelAtom {
  const { label, polarity, path } = request;
  const one = (text: LabelForm["trust"], key: string): string | undefined => {
    if (text === undefined) return undefined;
    if (typeof text === "string" && text !== "unsure" && text !== "inferred") return text;
    const remedy = "write one level";
    words.report(problem("ATOM", [...path, key], "a rule asks about one level, not about an interval", remedy));
    return undefined;
  };
  const level = one(label.confidentiality, "confidentiality");
  const trust = one(label.trust, "trust");
  const levelBits = level === undefined ? lattice.bottom : words.level(level, [...path, "confidentiality"]);
  const categoryBits = words.categories(label.categories ?? [], [...path, "categories"]);
  const readerBits = label.readers === undefined ? lattice.bottom : words.readers(label.readers, [...path, "readers"]);
  const trustBits = trust === undefined ? lattice.bottom : words.trust(trust, [...path, "trust"]);
  if (polarity === "restrict") {
    const bits = [levelBits, categoryBits, readerBits, trustBits].reduce(
      (all, each) => join(all, each),
      lattice.bottom,
    );
    if (bits === lattice.bottom) {
      const message = "every label is at least this, so the condition always holds";
      words.report(warning("VACUOUS", path, message, "name a level above the lowest, or leave the condition out"));
    }
    return { kind: "atLeast", bits };
  }
  const forbidden = forbiddenTo(lattice, label, { levelBits, categoryBits, readerBits, trustBits });
  // A wrong word is reported elsewhere, and stands for the worst label, which bounds every label.
  if (forbidden === lattice.bottom && speaks(lattice, label)) {
    const message = "every label is at most this, so the condition always holds";
    words.report(warning("VACUOUS", path, message, "name a label below the highest, or leave the condition out"));
  }
  return { kind: "atMost", forbidden };
}

/** The form states a part, and uses only words of the lattice. */
function speaks(lattice: Lattice, { confidentiality: level, categories, readers, trust }: LabelForm): boolean {
  const levels = typeof level === "string" ? [level] : [];
  const trusts = typeof trust === "string" ? [trust] : [];
  const said = [...levels, ...(categories ?? []), ...(readers ?? []), ...trusts];
  const known = [...lattice.levels, ...lattice.categories, ...lattice.groups, "trusted", "untrusted"];
  return (said.length > 0 || readers !== undefined) && said.every((word) => known.includes(word));
}

type AtomBits = {
  readonly levelBits: Label;
  readonly categoryBits: Label;
  readonly readerBits: Label;
  readonly trustBits: Label;
};

/** "At most this label": naming a level also rules out every category and reader limit that is not named. */
function forbiddenTo(lattice: Lattice, label: LabelForm, bits: AtomBits): Label {
  const secrecy = label.confidentiality !== undefined;
  const mask = (speaks: boolean, whole: number): number => (speaks ? whole : 0);
  const spoken =
    mask(secrecy, lattice.levelMask) |
    mask(secrecy || label.categories !== undefined, lattice.categoryMask) |
    mask(secrecy || label.readers !== undefined, lattice.readerMask) |
    mask(label.trust !== undefined, lattice.untrustedBit);
  const admitted = bits.levelBits | bits.categoryBits | bits.readerBits | bits.trustBits;
  // Bits of one lattice: a subset of `top` by construction.
  return (spoken & ~admitted) as Label;
}
