/**
 * Block rules that ask a program of the operator's. The program is asked only about calls that the rule fits and nothing
 * else refuses, and can only refuse: whatever it says but `false` is a refusal, and so is silence.
 */
import { type ProgramContext, programQuestionKind } from "../../core/questions/program-question.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CallMoment } from "../../core/moment.ts";
import type { Answer, Answers, Question, Reason } from "../../core/opinion.ts";
import type { Check } from "../../policy/ir/ir.ts";
import { type Ends, type Scene, firedRules, verdictAt } from "../../policy/semantics/verdicts.ts";

/** The open questions, and the reasons from the answers. */
export type Consulted = { readonly questions: readonly Question[]; readonly reasons: readonly Reason[] };

const nothing: Consulted = { questions: [], reasons: [] };

export function consult(
  scene: Scene,
  checks: readonly Check[],
  { moment, answers }: { readonly moment: CallMoment; readonly answers: Answers },
): Consulted {
  if (checks.length === 0) return nothing;
  const questions: Question[] = [];
  const reasons: Reason[] = [];
  for (const check of checks) {
    const [fired] = firedRules(scene, [check.rule]);
    if (fired === undefined) continue;
    const question = questionOf(check, moment);
    const answer = answers.get(question.key);
    if (answer === undefined) questions.push(question);
    else reasons.push(...reasonsOf(check, fired.at, answer));
  }
  return { questions, reasons };
}

function questionOf(
  { rule, name, source, program }: Check,
  { contract, arguments: given, digest }: CallMoment,
): Question {
  const { server, tool } = contract;
  const content: ProgramContext = { program, name, source, server, tool, arguments: given };
  const observed = rule.mode === "observe";
  const key = `${programQuestionKind} ${program} ${name} ${digest}`;
  const head = {
    // The consequence of a missing answer differs, so an observed rule has its own question.
    key: observed ? `${key} observed` : key,
    mechanism: "tiers",
    kind: programQuestionKind,
    content: content as unknown as JsonObject, // texts, and the arguments of a call
  };
  return observed
    ? { ...head, mode: "advisory", without: "allow" }
    : { ...head, mode: "required", unavailable: "deny" };
}

function reasonsOf({ rule, name }: Check, at: Ends, answer: Answer): readonly Reason[] {
  if (answer.kind === "known" && answer.value === false) return [];
  const head = {
    mechanism: "tiers",
    rule: rule.id,
    why: rule.why,
    serves: rule.serves,
    ...(rule.mode === "observe" ? { observed: true as const } : {}),
  };
  if (answer.kind === "known" && answer.value === true) {
    const verdict = verdictAt(at, "deny");
    const code = verdict === "deny" ? "SG-RULE-BLOCK" : "SG-RULE-UNSURE";
    return [{ ...head, code, verdict, facts: { program: name } }];
  }
  const cause = answer.kind === "unavailable" ? answer.cause : "it did not answer with true or false";
  const way = "ask the operator to look at that rule's program";
  return [{ ...head, code: "SG-PROGRAM", verdict: "deny", facts: { program: name, cause }, way }];
}
