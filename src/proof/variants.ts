/**
 * Contracts with one case applied, made once for a policy and shared by all questions about it, with a memo of which of
 * them a pattern can match at all: asking every rule of every tool again for each hazard is what would make a proof slow.
 */
import type { ToolContract } from "../core/contract.ts";
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
};

export type Variants = {
  readonly all: readonly Variant[];
  /** Which variants a pattern can match by name, effects and flags; one entry for each variant, 1 = it can. */
  readonly matching: (pattern: Pattern, polarity: Polarity, end: End) => Uint8Array;
};

export function makeVariants(subject: Subject): Variants {
  const all = subject.contracts.flatMap((contract) => variantsOf(subject, contract));
  const memo = new Map<Pattern, Map<string, Uint8Array>>();
  return {
    all,
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

function variantsOf(subject: Subject, contract: ToolContract): readonly Variant[] {
  const observed = isObserved(subject, contract);
  const fixed = new Map<number, boolean>();
  const found: Variant[] = [];
  for (const one of contract.cases) {
    // The first case whose predicate holds decides; a predicate that stands twice cannot decide the second time.
    if (fixed.has(one.predicate)) continue;
    const output = one.output ?? contract.output;
    const effects = one.effects ?? contract.effects;
    found.push({
      contract: { ...contract, output, effects },
      fixed: new Map(fixed).set(one.predicate, true),
      observed,
    });
    fixed.set(one.predicate, false);
  }
  return [...found, { contract, fixed, observed }];
}
