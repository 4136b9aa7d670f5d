/** Several predictions of one future: the stricter one wins in every part, so that asking more models never loosens. */
import type { Advice, Prediction } from "../../core/questions/prediction.ts";
import { stricterClass } from "./llm-verdict.ts";

/** Reasons kept of all models together. */
const reasonsMax = 16;

/** The prediction of a model that may only cause a question to the approver. */
export function asAdvice(prediction: Prediction): Prediction {
  const { safety, pUnsafe, filteredTools } = prediction;
  return { ...prediction, safety: "safe", pUnsafe: 0, filteredTools: [], asks: { safety, pUnsafe, filteredTools } };
}

function stricterAdvice(left: Advice | undefined, right: Advice | undefined): Advice | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return {
    safety: stricterClass(left.safety, right.safety),
    pUnsafe: Math.max(left.pUnsafe, right.pUnsafe),
    filteredTools: [...new Set([...left.filteredTools, ...right.filteredTools])],
  };
}

export function stricterPrediction(left: Prediction, right: Prediction): Prediction {
  const both = (one: readonly string[], other: readonly string[]): readonly string[] => [
    ...new Set([...one, ...other]),
  ];
  const invented = (left.invented ?? 0) + (right.invented ?? 0);
  const unanswered = both(left.unanswered ?? [], right.unanswered ?? []);
  const silence = left.silence ?? right.silence;
  const some = (one?: readonly string[], other?: readonly string[]): readonly string[] | undefined =>
    one === undefined || other === undefined ? (one ?? other) : both(one, other);
  const labels = some(left.nextState.labels, right.nextState.labels);
  const effects = some(left.nextState.effects, right.nextState.effects);
  const asks = stricterAdvice(left.asks, right.asks);
  return {
    model: `${left.model}+${right.model}`,
    nextState: {
      ...(labels === undefined ? {} : { labels }),
      ...(effects === undefined ? {} : { effects }),
      text: [left.nextState.text, right.nextState.text].filter((text) => text !== "").join(" / "),
    },
    safety: stricterClass(left.safety, right.safety),
    pUnsafe: Math.max(left.pUnsafe, right.pUnsafe),
    filteredTools: both(left.filteredTools, right.filteredTools),
    ...(asks === undefined ? {} : { asks }),
    reasons: both(left.reasons, right.reasons).slice(0, reasonsMax),
    ...(invented === 0 ? {} : { invented }),
    ...(unanswered.length === 0 ? {} : { unanswered }),
    ...(silence === undefined ? {} : { silence }),
    latencyMs: Math.max(left.latencyMs, right.latencyMs),
  };
}
