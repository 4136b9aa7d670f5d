/**
 * Contracts with one case applied, made once for a policy and shared by all questions about it, with a memo of which of
 * them a pattern can match at all: asking every rule of every tool again for each hazard is what would make a proof slow.
 */
import type { ContractCase, ToolContract } from "../core/contract.ts";
import type { LabelRange } from "../core/label.ts";
import type { Pattern } from "../policy/ir.ts";
import type { End, Polarity } from "../policy/patterns.ts";
import { staticMatch } from "../policy/patterns.ts";
import type { Subject } from "./subject.ts";
import { isObserved } from "./subject.ts";

export type Variant = {
  readonly contract: ToolContract;
  /** Truths that choosing the case fixes. */
  readonly fixed: ReadonlyMap<number, boolean>;
  readonly observed: boolean;
  /** Equal for variants that differ in nothing but their names. */
  readonly kind: number;
};

export type Variants = {
  readonly all: readonly Variant[];
  /** How many kinds there are. */
  readonly kinds: number;
  /** Distinct labels of all outputs, whole and fields. */
  readonly outputs: readonly LabelRange[];
  /** Which variants a pattern can match by name, effects and flags; one entry for each variant, 1 = it can. */
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

/** Everything of a variant that a model can look at, but its names. */
function kindText({ contract, fixed, observed }: Unnumbered): string {
  const { effects, flags, output, reads, writes, opens, consequential } = contract;
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
 * One for each way in which the cases can hold, as far as it decides what is chosen. Those that few tests make come
 * first: of calls that look alike a way is told with the first.
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
      const { output = contract.output, effects = contract.effects } = chosen;
      found.push({ contract: { ...contract, output, effects }, fixed, observed });
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
