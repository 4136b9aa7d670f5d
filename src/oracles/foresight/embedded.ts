/**
 * The learned world model that ships with the gateway (foresight.md 2): a hashed linear head over symbolic facts and a
 * few words. It is a prior, not a judge: it orders questions and moves borderline calls from allowed to asked, and what
 * the game has refused stays refused. Pure; the weights are data, made by `sluicegate train`.
 */
import type { Prediction, PredictionContext, StateClass } from "../../core/questions/prediction.ts";
import { deed } from "./embedded/deeds.ts";
import { callFeatures, listFeatures } from "./embedded/features.ts";
import { held, heldBits } from "./embedded/held.ts";
import { type View, expectedBits, listedFeatures, nextState, viewOf } from "./embedded/view.ts";
import { type Weights, judged } from "./embedded/weights.ts";

export const embeddedName = "embedded";

/** Tools of one list that are judged; what stands behind them is unknown, and filtered. */
const toolsMax = 4_096;

/** Probability from which a tool is filtered and a class is taken. */
const threshold = 0.5;

/** A prediction and the probabilities behind it, for measurements. */
export type Scored = {
  readonly prediction: Prediction;
  /** Of the three classes; they add up to 1. */
  readonly classes: { readonly [name in StateClass]: number };
  /** Of each tool asked about, in the order of the list: that it should be filtered. */
  readonly tools: readonly number[];
};

/** Binds the model to its weights. The result is total: any context gives a prediction, and equal ones the same. */
export function makeEmbedded(weights: Weights): (context: PredictionContext) => Prediction {
  return (context) => scoreEmbedded(weights, context).prediction;
}

/** The prediction with its probabilities. `latencyMs` is 0: a caller with a clock measures it. */
export function scoreEmbedded(weights: Weights, context: PredictionContext): Scored {
  const view = viewOf(context);
  const call = view.call;
  const pUnsafe = call === undefined ? 0 : judged(weights.unsafe, callFeatures(call.subject));
  const refused = pUnsafe >= threshold;
  const brought = call === undefined ? 0 : expectedBits(call.step, call.subject, weights);
  const next = nextState(view, refused ? undefined : brought);
  const judgedTools = context.tools.slice(0, toolsMax);
  const scores = listedFeatures(judgedTools, next, view.instruction).map((features) =>
    judged(weights.filter, features),
  );
  const tools = context.tools.map((_, index) => scores[index] ?? 1);
  const pCritical = judged(weights.critical, listFeatures(tools, next, call !== undefined));
  const safety = refused ? "unsafe" : classOfList(tools, pCritical);
  const isFiltered = filterOf(safety, tools, context);
  return {
    prediction: {
      model: embeddedName,
      nextState: refused ? expected(context, { ...view, call: undefined }, 0) : expected(context, view, brought),
      safety,
      pUnsafe,
      filteredTools: context.tools.flatMap(({ name }, index) => (isFiltered(index) ? [name] : [])),
      reasons: reasonsOf(view, refused),
      latencyMs: 0,
    },
    classes: { safe: (1 - pUnsafe) * (1 - pCritical), critical: (1 - pUnsafe) * pCritical, unsafe: pUnsafe },
    tools,
  };
}

/** The stricter of what the list says as a whole and what its tools say one by one. */
function classOfList(tools: readonly number[], pCritical: number): StateClass {
  if (tools.length === 0) return "safe";
  return pCritical >= threshold || tools.some((score) => score >= threshold) ? "critical" : "safe";
}

/** Never contradicts the class: safe filters nothing, critical the likeliest at least, unsafe the tool of the call. */
function filterOf(
  safety: StateClass,
  tools: readonly number[],
  context: PredictionContext,
): (index: number) => boolean {
  if (safety === "safe") return () => false;
  const { pending } = context;
  const called = pending === undefined ? undefined : `${pending.server}.${pending.tool}`;
  let likeliest = 0;
  tools.forEach((score, index) => {
    if (score > (tools[likeliest] ?? 0)) likeliest = index;
  });
  return (index) =>
    (tools[index] ?? 0) >= threshold ||
    (safety === "critical" && index === likeliest) ||
    (safety === "unsafe" && context.tools[index]?.name === called);
}

/** Names for what no step has named yet: those of the default policy. */
const labelNames = [
  [held.private, "private"],
  [held.secret, "credentials"],
  [held.untrusted, "untrusted"],
] as const;

/**
 * Labels are named as earlier results were, since a policy may call its levels anything: the same tool is expected to
 * bring the same again. The evidence is no help, because the instruction alone makes it the worst there is.
 */
function expected({ steps, pending }: PredictionContext, view: View, brought: number): Prediction["nextState"] {
  const before = steps.flatMap((step) => step.brought);
  const alike = steps.findLast((step) => step.server === pending?.server && step.tool === pending.tool)?.brought ?? [];
  const given = [...(pending?.brought ?? []), ...alike];
  const known = heldBits([...before, ...given]);
  const guessed = labelNames.flatMap(([bit, name]) => ((brought & ~known & bit) === 0 ? [] : [name]));
  const labels = [...new Set([...before, ...(brought === 0 ? [] : given), ...guessed])].slice(0, namesShownMax);
  return {
    labels,
    effects: view.call === undefined ? [] : view.call.step.effects.slice(0, namesShownMax),
    text: `The run is expected to hold ${labels.length === 0 ? "nothing restricted" : labels.join(", ")}.`,
  };
}

const namesShownMax = 32;

/** In words, which of the symbolic facts speak for the verdict; a head has no better account of itself. */
function reasonsOf(view: View, refused: boolean): readonly string[] {
  const subject = view.call?.subject;
  if (!refused || subject === undefined) return [];
  const { bits } = subject.deeds;
  const holds = (label: number): boolean => (view.state.held & label) !== 0;
  const reasons: string[] = [];
  const untold = subject.facts.some((fact) => fact.role !== "content" && fact.provenance !== "told");
  if (holds(held.secret) && (bits & deed.leaves) !== 0)
    reasons.push("credentials are held, and the call reaches outside");
  if (holds(held.private) && (bits & deed.leaves) !== 0)
    reasons.push("private data is held, and the call reaches outside");
  if ((bits & deed.opens) !== 0) reasons.push("it opens a way that stays open");
  if (holds(held.untrusted) && (bits & deed.consequential) !== 0)
    reasons.push("text of strangers is held, and the call has consequences");
  if (view.state.elevated && (bits & deed.consequential) !== 0) reasons.push("the run has given itself more rights");
  if (untold) reasons.push("an argument that decides was not in the instruction");
  return reasons.length === 0 ? ["the call is like others that led to harm"] : reasons;
}
