/**
 * A policy of any size for `bench proof`: tools of many servers with labels, rules of every kind, and a hazard for each
 * pair of a category and an effect. Made by arithmetic from a seed, so that every run proves the same.
 */
import { effectActions } from "../../../core/effect.ts";
import type { PolicyDocument } from "../../../policy/canonical/policy-document.ts";
import type { RuleText } from "../../../policy/document/shapes-rules.ts";
import type { ToolLabelsText } from "../../../policy/document/shapes-labels.ts";

export type ProofSize = {
  readonly tools: number;
  readonly rules: number;
  readonly categories: number;
  readonly effects: number;
  readonly debts: number;
};

/** The size that the budget speaks of: 1,000 tools, 100 rules, 144 hazards. */
export const budgetSize: ProofSize = { tools: 1_000, rules: 100, categories: 12, effects: 12, debts: 2 };

const effectNames = [...effectActions.map((action) => `write.external.${action}`), "execute.external"];

/** Numbers from a linear congruence: uneven enough for a benchmark, equal on every machine. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export function proofCase(size: ProofSize, seed = 1): PolicyDocument {
  const next = numbers(seed);
  const categories = Array.from({ length: size.categories }, (_, index) => `category-${index}`);
  const effects = effectNames.slice(0, size.effects);
  const labels: { [tool: string]: ToolLabelsText } = {};
  for (let index = 0; index < size.tools; index += 1) {
    labels[`server-${index % 40}.tool-${index}`] = toolLabels(next, index, categories, effects);
  }
  const hazards = Object.fromEntries(
    categories.flatMap((category) =>
      effects.map((effect) => [
        `${category}-to-${effect.replaceAll(".", "-")}`,
        { loss: "L1", never: { flow: { from: { categories: [category] }, to: { effect } } } },
      ]),
    ),
  );
  return {
    version: 1,
    lattice: { categories },
    labels,
    hazards,
    rules: rulesOf(next, size, categories, effects),
    flow: { mode: "provenance" },
  };
}

function toolLabels(
  next: (below: number) => number,
  index: number,
  categories: readonly string[],
  effects: readonly string[],
): ToolLabelsText {
  const category = categories[next(categories.length)] ?? "";
  const other = categories[next(categories.length)] ?? "";
  const level = ["public", "sensitive", "private"][next(3)] ?? "private";
  const trust = next(2) === 0 ? ("trusted" as const) : ("untrusted" as const);
  if (index % 3 !== 0) {
    const both = next(4) === 0 ? [...new Set([category, other])] : [category];
    return {
      effects: "read.local",
      args: { id: "identifier" },
      output: { confidentiality: level, categories: both, trust },
    };
  }
  return {
    effects: effects[next(effects.length)] ?? "write.external",
    args: { to: "recipient", subject: "content", body: "content" },
    output: { confidentiality: "public", trust: "trusted" },
  };
}

/** Every third tool acts outside; for some of them the policy asks nothing, so that some hazards can happen. */
function sink(next: (below: number) => number, size: ProofSize): string {
  const index = 3 * next(Math.ceil(size.tools / 3));
  return `server-${index % 40}.tool-${index}`;
}

function rulesOf(
  next: (below: number) => number,
  size: ProofSize,
  categories: readonly string[],
  effects: readonly string[],
): readonly RuleText[] {
  const found: RuleText[] = [];
  const tool = (): string => {
    const index = next(size.tools);
    return `server-${index % 40}.tool-${index}`;
  };
  for (let index = 0; index < size.rules; index += 1) {
    const head = { id: `rule-${index}`, why: "part of a benchmark", serves: "L1" };
    const category = categories[index % categories.length] ?? "";
    if (index < size.debts) found.push({ ...head, tier: "must", owed: { after: tool(), owe: tool(), within: 3 } });
    else if (index % 10 === 8) found.push({ ...head, tier: "must", gate: { before: tool(), need: tool() } });
    else if (index % 10 === 9) found.push({ ...head, tier: "block", atMost: { of: tool(), count: 3 } });
    else if (index % 10 === 6) found.push({ ...head, tier: "allow", when: { tool: sink(next, size) } });
    else if (index % 10 === 7) found.push({ ...head, tier: "confirm", when: { tool: tool() } });
    else {
      // Pairs in turn, so that most hazards have their rule and some have none.
      const from = Math.floor(index / categories.length) * 2;
      found.push({
        ...head,
        tier: "block",
        when: {
          effect: effects.slice(from, from + 2).concat(effects.slice(0, from + 2 > effects.length ? 1 : 0)),
          data: { categories: [category] },
        },
      });
    }
  }
  return found;
}
