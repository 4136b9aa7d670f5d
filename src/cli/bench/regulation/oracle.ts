/** The embedded world model as an oracle of the bench: it answers what regulation asks, and nothing else. */
import type { Json } from "../../../core/json.ts";
import type { PredictionContext } from "../../../core/prediction.ts";
import { predictionKind } from "../../../core/prediction.ts";
import type { Result } from "../../../core/result.ts";
import { ok } from "../../../core/result.ts";
import { makeEmbedded } from "../../../oracles/foresight/embedded.ts";
import { asAdvice } from "../../../oracles/foresight/merge.ts";
import { shippedWeights } from "../../train/shipped.ts";
import type { Oracle } from "./play.ts";

export function embeddedOracle(): Result<Oracle, string> {
  const weights = shippedWeights();
  if (!weights.ok) return weights;
  const predict = makeEmbedded(weights.value);
  return ok((question) => {
    if (question.kind !== predictionKind) return undefined;
    // The question was made by regulation from such a context, and a prediction holds nothing but JSON values.
    return asAdvice(predict(question.content as unknown as PredictionContext)) as unknown as Json;
  });
}
