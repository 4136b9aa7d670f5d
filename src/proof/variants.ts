/**
 * Contracts with one case applied, made once for a policy and shared by all questions about it, with a memo of which of
 * them a pattern can match at all: asking every rule of every tool again for each hazard is what would make a proof slow.
 */
import type { ToolContract } from "../core/contract.ts";
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

function variantsOf(subject: Subject, contract: ToolContract): readonly Unnumbered[] {
  const observed = isObserved(subject, contract);
  const fixed = new Map<number, boolean>();
  const found: Unnumbered[] = [];
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
