/**
 * Labels as lists of names, for questions and answers in JSON: every restriction of a label has one name. Names of levels,
 * categories and groups are distinct words of the policy; `not GROUP` holds a space, so it equals none of them.
 */
import {
  type Label,
  type Lattice,
  categoryLabel,
  excludedBits,
  isUntrusted,
  join,
  levelLabel,
  toText,
  trustOf,
} from "../label.ts";

const reader = "not ";

/** Names of the restrictions of a label: its level unless that is the lowest, categories, `not GROUP`, `untrusted`. */
export function restrictionNames(lattice: Lattice, label: Label): readonly string[] {
  const text = toText(lattice, label);
  const readers = text.readers;
  return [
    ...(text.level === lattice.levels[0] ? [] : [text.level]),
    ...text.categories,
    ...(readers === undefined
      ? []
      : lattice.groups.filter((group) => !readers.includes(group)).map((one) => reader + one)),
    ...(isUntrusted(lattice, label) ? ["untrusted"] : []),
  ];
}

/** The label with these restrictions. A name outside the lattice makes it the worst label. */
export function labelOfNames(lattice: Lattice, names: readonly string[]): Label {
  return names.reduce((all, name) => join(all, labelOfName(lattice, name) ?? lattice.top), lattice.bottom);
}

function labelOfName(lattice: Lattice, name: string): Label | undefined {
  if (name === "untrusted") return trustOf(lattice, lattice.top);
  if (name === "trusted") return lattice.bottom;
  if (name.startsWith(reader)) return excludedBits(lattice, [name.slice(reader.length)]);
  return levelLabel(lattice, name) ?? categoryLabel(lattice, name);
}
