/**
 * Classes of calls: a contract with the truth values of its predicates, merged with every other that `next` and `guard`
 * cannot distinguish in this question (formal.md 4.1). A thousand tools are usually a few dozen classes.
 */
import { type ArgumentContract, processStore } from "../../core/contract.ts";
import { mayCover } from "../../core/effect.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type DataAtom, workspacePredicate } from "../../policy/ir/ir.ts";
import { type End, concernsRole } from "../../policy/semantics/patterns.ts";
import { cut } from "./held-labels.ts";
import { classesMax, classesPerToolMax, combinationsMax } from "./limits.ts";
import type { Space } from "./space.ts";
import { type Question, type Reading, readings } from "./subject.ts";
import type { Variant, Variants } from "./variants.ts";

/** Key of a call in a question about one key: that key, another one, or an unreadable one. */
export type KeyRelation = "same" | "other" | "unreadable";

/** A group of arguments that the model cannot distinguish, represented by one of them. */
export type ModelArgument = { readonly name: string; readonly contract: ArgumentContract };

export type ModelClass = {
  /** The representative call of the class. */
  readonly variant: Variant;
  readonly truths: ReadonlyMap<number, boolean>;
  readonly key: KeyRelation;
  readonly arguments: readonly ModelArgument[];
  /** Held labels that the whole result, and its fields, bring. */
  readonly whole: readonly number[];
  readonly fields: readonly number[];
  readonly reads: readonly number[];
};

type Context = {
  readonly question: Question;
  readonly space: Space;
  readonly readings: readonly Reading[];
  /** By reading and end: which variants it can match. */
  readonly matching: readonly { readonly [end in End]?: Uint8Array }[];
  readonly owing: boolean;
};

export function makeClasses(space: Space, variants: Variants): Result<readonly ModelClass[], string> {
  const { question } = space;
  const all = readings(question);
  const context: Context = {
    question,
    space,
    readings: all,
    matching: all.map(({ pattern, polarity }) =>
      Object.fromEntries(question.ends.map((end) => [end, variants.matching(pattern, polarity, end)])),
    ),
    owing: question.automata.some(({ temporal }) => temporal.kind === "owed"),
  };
  const found = new Map<string, ModelClass>();
  const looks = looksOf(context, variants);
  const known = new Set<number>();
  let combinations = 0;
  for (const [index, variant] of variants.all.entries()) {
    const look = looks[index] ?? index;
    if (known.has(look)) continue;
    known.add(look);
    const free = freePredicates(context, variant, index);
    if (2 ** free.length > classesPerToolMax) {
      const { server, tool } = variant.contract;
      return err(
        `\`${server}.${tool}\` has ${free.length} argument tests that can matter at once; the limit is ${Math.log2(classesPerToolMax)}: join or drop some`,
      );
    }
    combinations += 2 ** free.length;
    if (combinations > combinationsMax) {
      return err(`the argument tests of all tools have more than ${combinationsMax} combinations: join or drop some`);
    }
    for (let vector = 0; vector < 2 ** free.length; vector += 1) {
      const truths = new Map(variant.fixed);
      free.forEach((predicate, bit) => truths.set(predicate, (vector & (1 << bit)) !== 0));
      addClasses(context, found, { variant, index, truths });
    }
    if (found.size > classesMax)
      return err(`the policy tells more than ${classesMax} classes of calls apart: drop rules`);
  }
  // Counterexamples name the first fitting call: those with known results come first.
  return ok(
    [...found.values()].toSorted((left, right) => doubt(question, left.variant) - doubt(question, right.variant)),
  );
}

/**
 * Equal numbers for indistinguishable variants: two that differ in name only are, unless some pattern distinguishes
 * them. The numbers start as those of the kinds and are refined by one pattern after the other.
 */
function looksOf({ matching }: Context, { all, kinds }: Variants): Int32Array {
  const looks = Int32Array.from(all, ({ kind }) => kind);
  let count = kinds;
  for (const { hi, lo } of matching) {
    for (const column of [hi, lo]) if (column !== undefined) count = tellApart(looks, count, column);
  }
  return looks;
}

/** Renumbers the groups so that members of a group have equal entries of the column; returns the number of groups. */
function tellApart(looks: Int32Array, count: number, column: Uint8Array): number {
  const numbers = new Int32Array(2 * count).fill(-1);
  let next = 0;
  for (let index = 0; index < looks.length; index += 1) {
    const place = 2 * (looks[index] ?? 0) + (column[index] ?? 0);
    if (numbers[place] === -1) {
      numbers[place] = next;
      next += 1;
    }
    looks[index] = numbers[place] ?? 0;
  }
  return next;
}

function freePredicates(context: Context, variant: Variant, index: number): readonly number[] {
  const free = new Set<number>();
  context.readings.forEach(({ pattern }, reading) => {
    const matching = context.matching[reading];
    if (matching?.hi?.[index] !== 1 && matching?.lo?.[index] !== 1) return;
    for (const predicate of pattern.predicates) free.add(predicate.index);
  });
  if (context.question.useDefault && mayCover("write.local", variant.contract.effects.may))
    free.add(workspacePredicate);
  for (const fixed of variant.fixed.keys()) free.delete(fixed);
  return [...free];
}

type Candidate = { readonly variant: Variant; readonly index: number; readonly truths: ReadonlyMap<number, boolean> };

function addClasses(context: Context, found: Map<string, ModelClass>, candidate: Candidate): void {
  const { question } = context;
  const { variant, index, truths } = candidate;
  const { contract } = variant;
  const alive = context.readings.map(({ pattern }, reading) => {
    if (!pattern.predicates.every((one) => truths.get(one.index) === one.holds)) return 0;
    const matching = context.matching[reading];
    return 2 * (matching?.hi?.[index] ?? 0) + (matching?.lo?.[index] ?? 0);
  });
  const outcome = outcomeOf(context.space, variant);
  const written = storesOf(context, contract.writes);
  const opened = contract.opens.flatMap((open) =>
    storesOf(context, [open.store]).map((store) => [store, ...open.audience]),
  );
  const args = argumentsOf(context, variant, alive, written.length > 0);
  const inside = truths.get(workspacePredicate) ?? false;
  const signature = [
    alive.join(""),
    outcome.whole.join(","),
    outcome.fields.join(","),
    outcome.reads.join(","),
    written.join(","),
    // A call of a process that is not enclosed fills the store of that process.
    contract.process === undefined && contract.writes.includes(processStore(contract.server)) ? contract.server : "",
    opened.map((one) => one.join(" ")).join(","),
    args
      .map((argument) => argument.signature)
      .toSorted()
      .join(";"),
    context.owing ? contract.consequential : "",
    question.useDefault ? defaultSignature(variant, inside) : "",
    variant.observed,
  ].join("|");
  const made = { variant, truths, arguments: args, ...outcome };
  const keys: readonly KeyRelation[] = question.key === undefined ? ["same"] : ["same", "other", "unreadable"];
  for (const key of keys) {
    const name = `${key}|${signature}`;
    const known = found.get(name);
    const better = known === undefined || doubt(question, variant) < doubt(question, known.variant);
    if (better) found.set(name, { ...made, key });
  }
}

/** Number of relevant restrictions that a result may have without certainly having them. */
function doubt({ mattering }: Question, { contract }: Variant): number {
  const { lo, hi } = contract.output.label;
  let count = 0;
  for (let rest = hi & ~lo & mattering; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** Facts that the default reads besides labels. */
function defaultSignature({ contract }: Variant, inside: boolean): string {
  return `${contract.effects.may.join(",")} ${contract.flags.irreversible} ${contract.answers} ${inside} ${contract.process !== undefined}`;
}

export type Outcome = Pick<ModelClass, "whole" | "fields" | "reads">;

/** Held labels that results of these labels bring, and the stores that are read. */
export function outcomeOf(space: Space, { contract }: Variant): Outcome {
  const { held, question } = space;
  const index = (label: Parameters<typeof cut>[0]): readonly number[] => {
    const found = held.indexOf(cut(label, question.mattering));
    return found === undefined ? [] : [found];
  };
  const whole = index(contract.output.label);
  const fields = [...new Set(contract.output.fields.flatMap((field) => index(field.label)))];
  const { stores } = question.subject.policy.ir;
  const reads = contract.reads.map((name) => stores.findIndex((store) => store.name === name)).filter((at) => at >= 0);
  return {
    whole,
    fields: fields.filter((one) => !whole.includes(one)).toSorted(ascending),
    reads: reads.toSorted(ascending),
  };
}

const ascending = (left: number, right: number): number => left - right;

/** Stores by index, of those whose state can change. */
function storesOf({ space }: Context, names: readonly string[]): readonly number[] {
  const { stores } = space.question.subject.policy.ir;
  return stores.flatMap((store, index) => {
    const place = space.stores[index];
    const levels = [place?.label.hi ?? [], place?.audience ?? [], place?.open ?? []];
    return names.includes(store.name) && levels.flat().some((level) => level !== undefined) ? [index] : [];
  });
}

type SignedArgument = ModelArgument & { readonly signature: string };

function argumentsOf(
  context: Context,
  { contract }: Variant,
  alive: readonly number[],
  writes: boolean,
): readonly SignedArgument[] {
  const { question } = context;
  const atoms = atomsOf(context, alive);
  if (atoms.length === 0 && !question.useDefault && !writes) return [];
  const found = new Map<string, SignedArgument>();
  const add = (name: string, argument: ArgumentContract): void => {
    const member = atoms.map((atom) => (concerns(atom, name, argument) ? 1 : 0)).join("");
    const forbidden = argument.sink ? argument.forbidden & question.mattering : 0;
    const byDefault = question.useDefault
      ? `${argument.role === "content" ? "" : "control"} ${forbidden} ${argument.sink}`
      : "";
    if (!writes && !question.useDefault && !member.includes("1")) return;
    const signature = `${member} ${byDefault}`;
    if (!found.has(signature)) found.set(signature, { name, contract: argument, signature });
  };
  // A counterexample names the first of a group, and readers expect data to leave in content.
  const content = ([, { role }]: readonly [string, ArgumentContract]): number => (role === "content" ? 0 : 1);
  const listed = [...contract.arguments].toSorted((left, right) => content(left) - content(right));
  for (const [name, argument] of listed) add(name, argument);
  // An argument that a pattern names may be given whether or not the tool declares it.
  for (const name of new Set(atoms.flatMap(({ names }) => names ?? []))) {
    if (!contract.arguments.has(name)) add(name, contract.rest);
  }
  add("", contract.rest);
  return [...found.values()].toSorted((left, right) => telling(left) - telling(right));
}

/**
 * A counterexample sets as few choices as possible, the last one first: so the most significant argument comes last.
 */
function telling({ name, contract }: SignedArgument): number {
  return name === "" ? 0 : contract.role === "content" ? 2 : 1;
}

/** The data atoms of everything that can match this class. */
function atomsOf({ question, readings: all }: Context, alive: readonly number[]): readonly DataAtom[] {
  const sources = new Map(
    question.hazards.flatMap((one) => (one.kind === "flow" ? [[one.to, one.from] as const] : [])),
  );
  return all.flatMap(({ pattern }, reading) => {
    if (alive[reading] === 0) return [];
    const from = sources.get(pattern);
    return from === undefined ? pattern.data : [from, ...pattern.data];
  });
}

function concerns(atom: DataAtom, name: string, argument: ArgumentContract): boolean {
  return (
    (atom.names === undefined || atom.names.includes(name)) &&
    concernsRole(atom.roles, argument.role) &&
    (atom.audience === undefined || (argument.audience & atom.audience) !== 0)
  );
}
