/** Effects of a tool from its signs: a logistic score for each question, and the list of effects that the answers make. */
import { type Effect, effectActions } from "../../core/effect.ts";
import type { Sign } from "./signs.ts";
import { type Question, weights } from "./weights.ts";

export type Deeds = {
  /** The likeliest effects; both reaches where neither is likely enough. */
  readonly effects: readonly Effect[];
  /** That the tool does nothing but these. */
  readonly probability: number;
  /** Strongest evidence first. */
  readonly because: readonly string[];
};

type Answer = { readonly probability: number; readonly evidence: readonly (readonly [string, number])[] };

/** An answer is open between this and its complement: then both are named. */
const openBelow = 0.9;

/** A tool with a sign of acting is never read as one that only reads with more than this. */
const doubtfulReadMax = 0.6;

/** Each of these is a sign of acting that reading words beside it do not outweigh. */
const actingSigns: ReadonlySet<string> = new Set([
  "name:carry",
  "name:send",
  "name:pay",
  "name:publish",
  "name:grant",
  "name:share",
  "name:delete",
  "name:execute",
  "schema:outlet",
  "schema:choice",
  "schema:switch",
  "readOnlyHint=false",
  "destructiveHint=true",
  "arg:amount!",
  "arg:recipient!",
]);

export function toolDeeds(signs: readonly Sign[]): Deeds {
  const acts = answer("acts", signs);
  const runs = answer("runs", signs);
  const outside = answer("outside", signs);
  const base = runs.probability >= 0.5 ? "execute" : acts.probability >= 0.5 ? "write" : "read";
  const sure = Math.max(outside.probability, 1 - outside.probability);
  const reaches = sure < openBelow ? ["local", "external"] : [outside.probability >= 0.5 ? "external" : "local"];
  const actions = base === "write" ? actionsOf(signs) : { names: [], probability: 1, evidence: [] };
  const named = actions.names.length === 0 ? [""] : actions.names.map((name) => `.${name}`);
  const effects = reaches.flatMap((reach) => named.map((action) => `${base}.${reach}${action}`)).toSorted();
  const kind = baseProbability(base, acts, runs, signs);
  const evidence = [...acts.evidence, ...runs.evidence, ...outside.evidence, ...actions.evidence]
    .toSorted(([, left], [, right]) => Math.abs(right) - Math.abs(left))
    .map(([because]) => because);
  return {
    effects,
    probability: kind * (reaches.length === 2 ? 1 : sure) * actions.probability,
    because: [...new Set(evidence)].slice(0, 6),
  };
}

function baseProbability(base: string, acts: Answer, runs: Answer, signs: readonly Sign[]): number {
  if (base === "execute") return runs.probability;
  const quiet = 1 - runs.probability;
  if (base === "write") return acts.probability * quiet;
  const only = (1 - acts.probability) * quiet;
  return signs.some(({ id }) => actingSigns.has(id)) ? Math.min(only, doubtfulReadMax) : only;
}

function actionsOf(signs: readonly Sign[]): {
  names: readonly string[];
  probability: number;
  evidence: Answer["evidence"];
} {
  const answers = effectActions.map((name) => ({ name, ...answer(name, signs) }));
  const taken = answers.filter(({ probability }) => probability >= 0.5);
  // The least certain of the answers stands for all of them: they share their evidence.
  const probability = Math.min(...answers.map((one) => Math.max(one.probability, 1 - one.probability)));
  return { names: taken.map(({ name }) => name), probability, evidence: taken.flatMap(({ evidence }) => evidence) };
}

function answer(question: Question, signs: readonly Sign[]): Answer {
  const table = weights[question];
  let sum = table["bias"] ?? 0;
  const evidence: (readonly [string, number])[] = [];
  for (const { id, because } of signs) {
    const weight = Object.hasOwn(table, id) ? (table[id] ?? 0) : 0;
    if (weight === 0) continue;
    sum += weight;
    evidence.push([because, weight]);
  }
  return { probability: 1 / (1 + Math.exp(-sum)), evidence };
}
