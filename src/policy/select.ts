/** Selects the policy for a client: the most specific `match` wins, and a tie refuses to load. */
import type { CanonicalPolicy } from "./canonical/policy-document.ts";
import { type Problem, problem } from "./document/diagnostic.ts";
import { nameMatches } from "./semantics/patterns.ts";

export type Who = {
  readonly principal: string;
  readonly client: string | undefined;
  readonly tag: string | undefined;
};

const keys = ["principal", "client", "tag"] as const;

/** Conditions are compared principal first; a literal is more specific than a wildcard, and that than nothing. */
function rank(policy: CanonicalPolicy): readonly number[] {
  return keys.map((key) => {
    const pattern = policy.match[key];
    if (pattern === undefined) return 0;
    return pattern.includes("*") ? 1 + pattern.replaceAll("*", "").length : 1_000_000;
  });
}

function compare(left: CanonicalPolicy, right: CanonicalPolicy): number {
  const first = rank(left);
  const second = rank(right);
  for (const [index, value] of first.entries()) {
    const difference = value - (second[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function matches(policy: CanonicalPolicy, who: Who): boolean {
  return keys.every((key) => {
    const pattern = policy.match[key];
    const value = who[key];
    return pattern === undefined || (value !== undefined && nameMatches(pattern, value));
  });
}

/** The most specific policy that matches; undefined if none does, and then nothing may pass. */
export function selectPolicy<T extends { readonly policy: CanonicalPolicy }>(
  policies: readonly T[],
  who: Who,
): T | undefined {
  let best: T | undefined;
  for (const candidate of policies) {
    if (!matches(candidate.policy, who)) continue;
    if (best === undefined || compare(candidate.policy, best.policy) > 0) best = candidate;
  }
  return best;
}

/** Two policies of one rank that some client could both match leave the choice open, so neither is loaded. */
export function selectionProblems(policies: readonly { readonly policy: CanonicalPolicy }[]): readonly Problem[] {
  const found: Problem[] = [];
  for (const [index, left] of policies.entries()) {
    for (const right of policies.slice(index + 1)) {
      if (compare(left.policy, right.policy) !== 0 || !overlaps(left.policy, right.policy)) continue;
      const remedy = "make one `match` more specific";
      found.push(problem("TIE", ["match"], "two policies match the same clients equally well", remedy));
    }
  }
  return found;
}

function overlaps(left: CanonicalPolicy, right: CanonicalPolicy): boolean {
  return keys.every((key) => {
    const first = left.match[key];
    const second = right.match[key];
    if (first === undefined || second === undefined || first === second) return true;
    // Two different wildcards may meet in a name that neither file shows; that counts as a tie.
    if (first.includes("*") && second.includes("*")) return true;
    return nameMatches(first, second) || nameMatches(second, first);
  });
}
