/**
 * Answers questions about the future with the models that a policy configures. The stricter prediction wins; the
 * embedded head is a prior, so its prediction is enough to ask the approver and never to refuse. A judge that does not
 * answer in time leaves the embedded head's prediction, which then reports the absence; a required question is then
 * `unavailable`, because the policy requires the answer of that judge.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Answer, NoAnswer, Question } from "../../core/opinion.ts";
import {
  type Prediction,
  type PredictionContext,
  type PredictionStep,
  predictionKind,
} from "../../core/questions/prediction.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { AskedFor, Oracle } from "../../gateway/ports/services.ts";
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
    const unavailable = (why: NoAnswer): Answer => ({ kind: "unavailable", question, ...why });
    if (question.kind !== predictionKind || models === undefined) return unavailable(noModel);
    const context = readContext(question.content);
    if (context === undefined) return unavailable({ silence: "unasked", cause: "the question cannot be read" });
    const predicted = await this.#predict(context, models, { ...asking, needed: question.mode === "required" });
    if (!predicted.ok) return unavailable(predicted.error);
    // A prediction is plain data: texts, numbers and lists of texts.
    return { kind: "known", question, value: predicted.value as unknown as Json };
  }

  async #predict(
    context: PredictionContext,
    { embedded, language }: Models,
    asking: Waiting & { readonly needed: boolean },
  ): Promise<Result<Prediction, NoAnswer>> {
    const head = embedded === undefined ? undefined : this.#embedded(embedded, context);
    if (language === undefined) return head ?? err(noModel);
    const judged = await language.predict(context, asking);
    if (judged.ok) {
      if (head === undefined) return judged;
      return ok(head.ok ? stricterPrediction(head.value, judged.value) : withSilent(judged.value, head.error));
    }
    const { silence } = judged.error;
    const cause = `the judge ${language.judge.settings.name} gave no answer: ${judged.error.cause}`;
    if (asking.needed || head?.ok !== true) return err({ silence, cause });
    return ok(withSilent(head.value, { silence, cause }));
  }

  #embedded(embedded: Embedded, context: PredictionContext): Result<Prediction, NoAnswer> {
    const startedMs = this.#nowMs();
    try {
      const prediction = embedded(context);
      return ok({ ...asAdvice(prediction), latencyMs: this.#nowMs() - startedMs });
    } catch {
      return err({ silence: "down", cause: "the embedded model failed" });
    }
  }
}

const noModel: NoAnswer = { silence: "unasked", cause: "none configured" };

/** The prediction of one model, which reports that another gave none. */
function withSilent(prediction: Prediction, { silence, cause }: NoAnswer): Prediction {
  return { ...prediction, unanswered: [...(prediction.unanswered ?? []), cause], silence };
}

type Waiting = { readonly run: string; readonly waitMs: number };

const outcomes = ["pending", "succeeded", "failed", "unknown"] as const;

/** The context, or undefined if a part is missing: then there is nothing that a model could be asked. */
function readContext(content: Json): PredictionContext | undefined {
  const instruction = stringMember(content, "instruction");
  const evidence = words(member(content, "evidence"));
  const tools = listOf(member(content, "tools"), readTool);
  const steps = listOf(member(content, "steps"), readStep);
  const given = member(content, "pending");
  const pending = given === undefined ? undefined : readStep(given);
  if (member(content, "version") !== 1 || (given !== undefined && pending === undefined)) return undefined;
  if (instruction === undefined || evidence === undefined || tools === undefined || steps === undefined)
    return undefined;
  return { version: 1, instruction, tools, steps, evidence, ...(pending === undefined ? {} : { pending }) };
}

function readTool(value: Json): PredictionContext["tools"][number] | undefined {
  const name = stringMember(value, "name");
  const effects = words(member(value, "effects"));
  return name === undefined || effects === undefined ? undefined : { name, effects };
}

function readStep(value: Json): PredictionStep | undefined {
  const server = stringMember(value, "server");
  const tool = stringMember(value, "tool");
  const effects = words(member(value, "effects"));
  const brought = words(member(value, "brought"));
  const given = member(value, "arguments");
  const outcome = outcomes.find((each) => each === member(value, "outcome"));
  const declared = words(member(value, "declared"));
  if (server === undefined || tool === undefined || effects === undefined) return undefined;
  if (brought === undefined || outcome === undefined || !isObject(given)) return undefined;
  const known: JsonObject = given;
  return { server, tool, effects, arguments: known, brought, outcome, ...(declared === undefined ? {} : { declared }) };
}

function words(value: Json | undefined): readonly string[] | undefined {
  return listOf(value, (each) => (typeof each === "string" ? each : undefined));
}

/** All elements, or undefined if one of them cannot be read: half a context would hide the other half. */
function listOf<T>(value: Json | undefined, read: (each: Json) => T | undefined): readonly T[] | undefined {
  if (!isArray(value)) return undefined;
  const found = value.map(read);
  return found.some((each) => each === undefined)
    ? undefined
    : found.flatMap((each) => (each === undefined ? [] : [each]));
}
