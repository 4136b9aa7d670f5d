import { describe, expect, it } from "vitest";
import { type LabelRange, exactly } from "../../core/label.ts";
import { begin, seal } from "../../core/mechanism.ts";
import type { Answer, Answers, Question } from "../../core/opinion.ts";
import { programContextFrom, programQuestionKind } from "../../core/questions/program-question.ts";
import { step, type Step } from "../../core/step.ts";
import type { Check, Pattern, Rule } from "../../policy/ir/ir.ts";
import { makeModel } from "../../policy/semantics/model.ts";
import type { Frame } from "../../policy/semantics/transition.ts";
import { argument, contract, frameOf, nothing, pattern, rule, secret } from "../../../test/kit/policy/scene.ts";
import { makeTiers } from "./tiers.ts";

const look = contract("look", { does: ["read.local"], arguments: new Map([["q", argument("query", false)]]) });

function check(when: Partial<Pattern>, mode: Rule["mode"] = "enforce"): Check {
  const asks = { ...rule("R", { tier: "block", when: pattern(when) }), mode } as Check["rule"]; // of a plain pattern
  return { rule: asks, name: "f", source: "export const f = () => true", program: "digest-of-f" };
}

function decide(frame: Frame, answers: Answers = new Map(), label: LabelRange = exactly(nothing)): Step {
  const model = makeModel(frame, () => "digest");
  const tiers = makeTiers(frame, model);
  const labelled = { ...tiers, label: () => new Map([["q", { range: label, digest: "d", path: [] }]]) };
  const engine = { model, mechanisms: [seal(labelled)] };
  const head = { kind: "call", at: 1, call: "c", method: "tools/call", contract: look } as const;
  const moment = { ...head, arguments: { q: "what" }, workspace: [], digest: "of-the-call" };
  return step(engine, begin(engine, "r", undefined), moment, answers);
}

function asked(found: Step): readonly Question[] {
  return found.kind === "asking" ? found.questions : [];
}

/** Decides with one answer to whatever is asked. */
function answered(frame: Frame, give: (question: Question) => Answer, label?: LabelRange) {
  const questions = asked(decide(frame, new Map(), label));
  const found = decide(frame, new Map(questions.map((question) => [question.key, give(question)])), label);
  if (found.kind !== "decided") throw new Error("it asks again");
  return found.decision;
}

const says =
  (value: boolean | string) =>
  (question: Question): Answer => ({ kind: "known", question, value });
const silent = (question: Question): Answer => ({ kind: "unavailable", question, cause: "it hangs" });

describe("a rule that asks a program", () => {
  const frame = frameOf({ checks: [check({})] });

  it("brings call and program along in its question, and the same call asks the same", () => {
    const [question] = asked(decide(frame));
    expect(question).toMatchObject({ kind: programQuestionKind, mode: "required", unavailable: "deny" });
    expect(question?.key).toBe("program digest-of-f f of-the-call");
    expect(programContextFrom(question?.content ?? null)).toEqual({
      program: "digest-of-f",
      name: "f",
      source: "export const f = () => true",
      server: look.server,
      tool: "look",
      arguments: { q: "what" },
    });
    expect(programContextFrom({})).toBeUndefined();
    expect(programContextFrom({ program: "", name: "", source: "" })).toBeUndefined();
  });

  it("refuses what the program refuses, in the words of the rule, and lets the rest go", () => {
    expect(answered(frame, says(true))).toMatchObject({
      verdict: "deny",
      reasons: [{ code: "SG-RULE-BLOCK", rule: "R", facts: { program: "f" } }],
    });
    expect(answered(frame, says(false))).toMatchObject({ verdict: "allow", reasons: [] });
  });

  it("refuses where the program is silent or says neither", () => {
    expect(answered(frame, silent)).toMatchObject({
      verdict: "deny",
      reasons: [{ code: "SG-PROGRAM", rule: "R", facts: { program: "f", cause: "it hangs" } }],
    });
    expect(answered(frame, says("yes")).reasons).toEqual([
      {
        mechanism: "tiers",
        code: "SG-PROGRAM",
        verdict: "deny",
        rule: "R",
        why: "because of R",
        serves: [],
        facts: { program: "f", cause: "it did not answer with true or false" },
        way: "ask the operator to look at that rule's program",
      },
    ]);
    // No answer, whatever came along with it.
    const lost = (question: Question): Answer => ({ ...silent(question), value: false }) as Answer;
    expect(answered(frame, lost)).toMatchObject({ verdict: "deny", reasons: [{ code: "SG-PROGRAM" }] });
  });

  it("asks only of calls that it fits, and of none that is refused anyway", () => {
    const secretOnly = { data: [{ atom: { kind: "atLeast", bits: secret } }] } as const;
    expect(asked(decide(frameOf({ checks: [check(secretOnly)] })))).toEqual([]);
    const blocked = frameOf({ rules: [rule("B", { tier: "block", when: pattern({}) })], checks: [check({})] });
    expect(decide(blocked)).toMatchObject({ kind: "decided", decision: { verdict: "deny" } });
  });

  it("asks a person where its rule fits only if an uncertain label is what it may be", () => {
    const secretOnly = { data: [{ atom: { kind: "atLeast", bits: secret } }] } as const;
    const unsure = { lo: nothing, hi: secret };
    const found = answered(frameOf({ checks: [check(secretOnly)] }), says(true), unsure);
    expect(found).toMatchObject({ verdict: "confirm", reasons: [{ code: "SG-RULE-UNSURE" }] });
  });

  it("adds to the questions of the default and of other rules, and takes none away", () => {
    const confirms = rule("C", { tier: "confirm", when: pattern({}) });
    const both = frameOf({ rules: [confirms], checks: [check({})] });
    expect(answered(both, says(false))).toMatchObject({ verdict: "confirm" });
    expect(answered(both, says(true))).toMatchObject({ verdict: "deny" });
  });

  it("in observe mode says what it would do, and refuses nothing, silent or not", () => {
    const observed = frameOf({ checks: [check({}, "observe")] });
    const [question] = asked(decide(frame));
    expect(asked(decide(observed))).toEqual([
      {
        key: `${question?.key} observed`,
        mechanism: "tiers",
        kind: programQuestionKind,
        content: question?.content,
        mode: "advisory",
        without: "allow",
      },
    ]);
    for (const give of [says(true), silent]) {
      expect(answered(observed, give)).toMatchObject({ verdict: "allow", enforcedVerdict: "deny" });
    }
  });

  it("refuses for a silent program also where an observed rule asks it the same", () => {
    for (const checks of [
      [check({}), check({}, "observe")],
      [check({}, "observe"), check({})],
    ]) {
      expect(answered(frameOf({ checks }), silent)).toMatchObject({
        verdict: "deny",
        reasons: [{ code: "SG-PROGRAM" }, {}],
      });
    }
  });

  it("does not hide its tool", () => {
    const model = makeModel(frame, () => "digest");
    const engine = { model, mechanisms: [seal(makeTiers(frame, model))] };
    const found = step(engine, begin(engine, "r", undefined), { kind: "expose", at: 1, contract: look }, new Map());
    expect(found).toMatchObject({ kind: "decided", decision: { verdict: "allow" } });
  });
});
