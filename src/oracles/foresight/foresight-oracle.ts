/**
 * Answers questions about the future with the models that a policy configures. The stricter prediction wins; the embedded
 * head is a prior, so what it says is enough to ask a person and never to refuse. A judge
 * that does not answer in time leaves the embedded head's prediction, with its absence told; a required question is
 * then `unavailable`, because the policy wanted that judge to look.
 */
import type { Json } from "../../core/json.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import type { Prediction, PredictionContext } from "../../core/prediction.ts";
import { predictionKind } from "../../core/prediction.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { AskedFor, Oracle } from "../../gateway/services-port.ts";
import { readContext } from "./context.ts";
import type { LanguageWorldModel } from "./llm.ts";
import { asAdvice, stricterPrediction } from "./merge.ts";

export type Embedded = (context: PredictionContext) => Prediction;

/** World models of one policy. */
export type Models = { readonly embedded: Embedded | undefined; readonly language: LanguageWorldModel | undefined };

/** Part of the budget that is kept for handing the answer back, so that it arrives before the gateway gives up. */
const reserveMs = 5;

export class ForesightOracle implements Oracle {
  readonly #modelsOf: (policy: string) => Models | undefined;
  readonly #nowMs: () => number;

  constructor(modelsOf: (policy: string) => Models | undefined, nowMs: () => number) {
    this.#modelsOf = modelsOf;
    this.#nowMs = nowMs;
  }

  async answer(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]> {
    const models = about === undefined ? undefined : this.#modelsOf(about.policy);
    const waitMs = Math.max(0, budgetMs - reserveMs);
    return Promise.all(questions.map((question) => this.#answer(question, models, { run: about?.run ?? "", waitMs })));
  }

  async #answer(question: Question, models: Models | undefined, asking: Waiting): Promise<Answer> {
    const unavailable = (cause: string): Answer => ({ kind: "unavailable", question, cause });
    if (question.kind !== predictionKind || models === undefined) return unavailable("none configured");
    const context = readContext(question.content);
    if (context === undefined) return unavailable("the question cannot be read");
    const predicted = await this.#predict(context, models, { ...asking, needed: question.mode === "required" });
    if (!predicted.ok) return unavailable(predicted.error);
    // A prediction is plain data: texts, numbers and lists of texts.
    return { kind: "known", question, value: predicted.value as unknown as Json };
  }

  async #predict(
    context: PredictionContext,
    { embedded, language }: Models,
    asking: Waiting & { readonly needed: boolean },
  ): Promise<Result<Prediction, string>> {
    const head = embedded === undefined ? undefined : this.#embedded(embedded, context);
    if (language === undefined) return head ?? err("none configured");
    const judged = await language.predict(context, asking);
    if (judged.ok) return head?.ok === true ? ok(stricterPrediction(head.value, judged.value)) : judged;
    const cause = `the judge ${language.judge.settings.name} gave no answer: ${judged.error}`;
    if (asking.needed || head?.ok !== true) return err(cause);
    return ok({ ...head.value, unanswered: [...(head.value.unanswered ?? []), cause] });
  }

  #embedded(embedded: Embedded, context: PredictionContext): Result<Prediction, string> {
    const startedMs = this.#nowMs();
    try {
      const prediction = embedded(context);
      return ok({ ...asAdvice(prediction), latencyMs: this.#nowMs() - startedMs });
    } catch {
      return err("the embedded model failed");
    }
  }
}

type Waiting = { readonly run: string; readonly waitMs: number };
