/**
 * Contracts with one case applied, made once for a policy and shared by all questions about it, with a cache of the
 * static part of each match: matching every rule with every tool again for each hazard would make proofs slow.
 */
import type { ContractCase, ToolContract } from "../../core/contract.ts";
import type { LabelRange } from "../../core/label.ts";
import { type Pattern, withEffects } from "../../policy/ir/ir.ts";
import { type End, type Polarity, staticMatch } from "../../policy/semantics/patterns.ts";
import { type Subject, isObserved } from "./subject.ts";

export type Variant = {
  readonly contract: ToolContract;
  /** Truth values that the choice of the case fixes. */
  readonly fixed: ReadonlyMap<number, boolean>;
  readonly observed: boolean;
  /** Equal for variants that differ only in their names. */
  readonly kind: number;
};

export type Variants = {
  readonly all: readonly Variant[];
  /** Number of kinds. */
  readonly kinds: number;
  /** Distinct labels of all outputs, whole and fields. */
  readonly outputs: readonly LabelRange[];
  /** The variants that a pattern can match by name, effects and flags; one entry for each variant, 1 = it can. */
  readonly matching: (pattern: Pattern, polarity: Polarity, end: End) => Uint8Array;
};

export function makeVariants(subject: Subject): Variants {
  const kinds = new Map<string, number>();
  const all = subject.contracts.flatMap((contract) =>
    variantsOf(subject, contract).map((variant): Variant => {
      const text = kindText(variant);
      const kind = kinds.get(text) ?? kinds.size;
      kinds.set(text, kind);
      return { ...variant, kind };
    }),
  );
  const memo = new Map<Pattern, Map<string, Uint8Array>>();
  return {
    all,
    kinds: kinds.size,
    outputs: distinctOutputs(all),
    matching: (pattern, polarity, end) => {
      const known = memo.get(pattern) ?? new Map<string, Uint8Array>();
      memo.set(pattern, known);
      const key = `${polarity} ${end}`;
      const found =
        known.get(key) ??
        Uint8Array.from(all, ({ contract }) => (staticMatch(pattern, contract, polarity, end) ? 1 : 0));
      known.set(key, found);
      return found;
    },
  };
}

/** All of a variant that a model can read, except its names. */
function kindText({ contract, fixed, observed }: Unnumbered): string {
  const { effects, flags, output, reads, writes, opens, consequential, answers, process } = contract;
  const args = [...contract.arguments].map(([name, { role, sink, audience, forbidden }]) => [
    name,
    role,
    sink,
    audience,
    forbidden,
  ]);
  const { role, sink, audience, forbidden } = contract.rest;
  const rest = [role, sink, audience, forbidden];
  return JSON.stringify([
    effects,
    flags,
    args,
    rest,
    output,
    reads,
    writes,
    opens,
    consequential,
    answers,
    process,
    [...fixed],
    observed,
  ]);
}

function distinctOutputs(all: readonly Variant[]): readonly LabelRange[] {
  const found = new Map<string, LabelRange>();
  for (const { contract } of all) {
    for (const label of [contract.output.label, ...contract.output.fields.map((field) => field.label)]) {
      found.set(`${label.lo} ${label.hi}`, label);
    }
  }
  return [...found.values()];
}

type Unnumbered = Omit<Variant, "kind">;

/**
 * One variant for each distinct choice of cases. Those with few true tests come first: of indistinguishable calls a
 * counterexample names the first.
 */
function variantsOf(subject: Subject, contract: ToolContract): readonly Unnumbered[] {
  const observed = isObserved(subject, contract);
  const found: Unnumbered[] = [];
  const walk = (
    from: number,
    fixed: ReadonlyMap<number, boolean>,
    chosen: Pick<ContractCase, "output" | "effects">,
  ) => {
    const index = contract.cases.findIndex(
      (one, at) =>
        at >= from &&
        ((one.output !== undefined && chosen.output === undefined) ||
          (one.effects !== undefined && chosen.effects === undefined)) &&
        one.predicates.every((predicate) => fixed.get(predicate) !== false),
    );
    const one = contract.cases[index];
    if (one === undefined) {
      const { output = contract.output, effects } = chosen;
      const own = effects === undefined ? {} : withEffects(contract, effects);
      found.push({ contract: { ...contract, output, ...own }, fixed, observed });
      return;
    }
    const open = one.predicates.find((predicate) => !fixed.has(predicate));
    if (open === undefined) return walk(index + 1, fixed, { ...one, ...chosen });
    walk(index, new Map(fixed).set(open, true), chosen);
    walk(index + 1, new Map(fixed).set(open, false), chosen);
  };
  walk(0, new Map(), {});
  const fitting = ({ fixed }: Unnumbered): number => [...fixed.values()].filter((truth) => truth).length;
  return found.toSorted((left, right) => fitting(left) - fitting(right));
}
