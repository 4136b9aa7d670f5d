/**
 * Answers the questions of the mechanism `projection` with the judge that a policy names for them. A judge that does not
 * answer leaves the question unavailable: it is advisory, so the rules alone decide then.
 */
import {
  domainsContextFrom,
  domainsJudgeKind,
  effectsContextFrom,
  effectsJudgeKind,
} from "../../core/questions/effect-question.ts";
import type { Json } from "../../core/json.ts";
import type { Answer, NoAnswer, Question } from "../../core/opinion.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { AskedFor, Oracle } from "../../gateway/ports/services.ts";
import { domainsCanary, domainsJudgement, effectsCanary, effectsJudgement } from "./effects-questions.ts";
import type { Asking, ModelJudge } from "./model-judge.ts";

/** Part of the budget that is kept for handing the answer back, so that it arrives before the gateway gives up. */
const reserveMs = 5;

const noJudge: NoAnswer = { silence: "unasked", cause: "none configured" };

/** Whether a question is one that this oracle answers. */
export function isEffectsQuestion(kind: string): boolean {
  return kind === effectsJudgeKind || kind === domainsJudgeKind;
}

export class EffectsOracle implements Oracle {
  readonly #judgeOf: (policy: string) => ModelJudge | undefined;

  constructor(judgeOf: (policy: string) => ModelJudge | undefined) {
    this.#judgeOf = judgeOf;
  }

  async answer(questions: readonly Question[], budgetMs: number, about?: AskedFor): Promise<readonly Answer[]> {
    const judge = about === undefined ? undefined : this.#judgeOf(about.policy);
    const asking = { run: about?.run ?? "", waitMs: Math.max(0, budgetMs - reserveMs) };
    return Promise.all(
      questions.map(async (question): Promise<Answer> => {
        const found = judge === undefined ? err(noJudge) : await asked(judge, question, asking);
        return found.ok
          ? { kind: "known", question, value: found.value }
          : { kind: "unavailable", question, ...found.error };
      }),
    );
  }
}

/** Tests a judge ahead of the first question, so that no call waits for it. */
export async function prepareEffects(judge: ModelJudge): Promise<void> {
  await judge.prepare(effectsJudgement(effectsCanary));
  await judge.prepare(domainsJudgement(domainsCanary));
}

async function asked(judge: ModelJudge, question: Question, asking: Asking): Promise<Result<Json, NoAnswer>> {
  const unreadable = err<NoAnswer>({ silence: "unasked", cause: "the question cannot be read" });
  if (question.kind === effectsJudgeKind) {
    const context = effectsContextFrom(question.content);
    if (context === undefined) return unreadable;
    const verdict = await judge.ask(effectsJudgement(context), asking);
    return verdict.ok ? ok({ ...verdict.value }) : verdict;
  }
  const context = question.kind === domainsJudgeKind ? domainsContextFrom(question.content) : undefined;
  return context === undefined ? unreadable : judge.ask(domainsJudgement(context), asking);
}
