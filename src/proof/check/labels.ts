/** Section 1 of the specification: labels as bits, the atoms of patterns, and the upper bounds of values. */
import { type Json, quoted, textOf } from "./json.ts";
import type { Typed } from "./shape.ts";

/** Records why the certificate is refused; the first reason is kept. Values returned after it are never used. */
export type Refuse = (reason: string) => void;

const labelMembers = {
  confidentiality: "any",
  categories: { list: "text" },
  trust: "any",
  readers: { list: "text" },
} as const;
export const labelShape = { fields: {}, optional: labelMembers } as const;
export const dataShape = {
  fields: {},
  optional: { ...labelMembers, roles: { list: "text" }, args: { list: "text" }, audience: { list: "text" } },
} as const;
export type LabelForm = Typed<typeof labelShape>;

export type Lattice = {
  readonly levels: readonly string[];
  readonly categories: readonly string[];
  readonly groups: readonly string[];
  /** Every name outside of this lattice ends the check, since its restrictions are unknown. */
  readonly refuse: Refuse;
};
export type Atom = { readonly kind: "atLeast" | "atMost"; readonly bits: bigint };

export const bit = (index: number): bigint => 1n << BigInt(index);
export const join = (labels: readonly bigint[]): bigint => labels.reduce((all, label) => all | label, 0n);
export function bitsOf(label: bigint): readonly number[] {
  return [...label.toString(2)].reverse().flatMap((digit, index) => (digit === "1" ? [index] : []));
}

const untrustedIndex = ({ levels, categories, groups }: Lattice): number =>
  levels.length - 1 + categories.length + groups.length;
export const bitCount = (lattice: Lattice): number => untrustedIndex(lattice) + 1;
export const untrusted = (lattice: Lattice): bigint => bit(untrustedIndex(lattice));

const levelBits = ({ levels }: Lattice): bigint => bit(levels.length - 1) - 1n;
/** All level bits up to the highest of a label. */
export const levelsUpTo = (index: number): bigint => bit(index + 1) - 1n;
export const isLevelBit = ({ levels }: Lattice, index: number): boolean => index < levels.length - 1;

function levelOf(lattice: Lattice, name: Json): bigint {
  const index = typeof name === "string" ? lattice.levels.indexOf(name) : -1;
  if (index < 0) lattice.refuse(`${quoted(textOf(name))} is not a level of the policy's lattice`);
  return bit(Math.max(index, 0)) - 1n;
}
export function categoriesOf(lattice: Lattice, names: readonly string[]): bigint {
  return join(names.map((name) => bit(lattice.levels.length - 1 + indexIn(lattice, lattice.categories, name))));
}
/** The groups as a mask: bit i is group i. */
export function groupsOf(lattice: Lattice, names: readonly string[]): bigint {
  return join(names.map((name) => bit(indexIn(lattice, lattice.groups, name))));
}
function indexIn(lattice: Lattice, names: readonly string[], name: string): number {
  const index = names.indexOf(name);
  if (index < 0) lattice.refuse(`${quoted(name)} is not a category or group of the policy's lattice`);
  return Math.max(index, 0);
}
const firstGroup = ({ levels, categories }: Lattice): bigint => BigInt(levels.length - 1 + categories.length);
const allGroups = (lattice: Lattice): bigint => (bit(lattice.groups.length) - 1n) << firstGroup(lattice);
function readersOf(lattice: Lattice, names: readonly string[]): bigint {
  return allGroups(lattice) & ~(groupsOf(lattice, names) << firstGroup(lattice));
}
function trustOf(lattice: Lattice, name: Json): bigint {
  if (name !== "trusted" && name !== "untrusted") lattice.refuse(`${quoted(textOf(name))} is not a trust value`);
  return name === "trusted" ? 0n : untrusted(lattice);
}

/** The join of the labels of the named parts of a form. */
function named(lattice: Lattice, form: LabelForm): bigint {
  return join([
    form.confidentiality === undefined ? 0n : levelOf(lattice, form.confidentiality),
    categoriesOf(lattice, form.categories ?? []),
    form.readers === undefined ? 0n : readersOf(lattice, form.readers),
    form.trust === undefined ? 0n : trustOf(lattice, form.trust),
  ]);
}

export function atomOf(lattice: Lattice, form: LabelForm, restricts: boolean): Atom {
  const label = named(lattice, form);
  if (restricts) return { kind: "atLeast", bits: label };
  const level = form.confidentiality !== undefined;
  const spoken = join([
    level ? levelBits(lattice) : 0n,
    level || form.categories !== undefined
      ? (bit(lattice.categories.length) - 1n) << BigInt(lattice.levels.length - 1)
      : 0n,
    level || form.readers !== undefined ? allGroups(lattice) : 0n,
    form.trust !== undefined ? untrusted(lattice) : 0n,
  ]);
  return { kind: "atMost", bits: spoken & ~label };
}

/** The upper bound of the label with which a store starts. */
export function upperBound(lattice: Lattice, form: LabelForm | undefined): bigint {
  const { confidentiality, trust, categories, readers } = form ?? { confidentiality: "inferred" };
  const unknown = untrusted(lattice) - 1n;
  return join([
    confidentiality === undefined || confidentiality === "unsure"
      ? unknown
      : confidentiality === "inferred"
        ? 0n
        : levelOf(lattice, highEnd(confidentiality)),
    categoriesOf(lattice, categories ?? []),
    readers === undefined ? 0n : readersOf(lattice, readers),
    trust === undefined || trust === "unsure"
      ? untrusted(lattice)
      : trust === "inferred"
        ? 0n
        : trustOf(lattice, highEnd(trust)),
  ]);
}
function highEnd(value: Json): Json {
  return Array.isArray(value) && value.length === 2 ? (value[1] ?? null) : value;
}
