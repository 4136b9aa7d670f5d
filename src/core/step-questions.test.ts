// What is asked before something is decided, and what answers that do not come are worth.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  answersTo,
  call,
  engineOf,
  mechanism,
  model,
  question,
  reason,
  stepOf,
} from "../../test/kit/policy/small-engine.ts";
import { questionsMax } from "./limits.ts";
import { type Mechanism, begin, seal } from "./mechanism.ts";
import type { Moment } from "./moment.ts";
import { type Question, noObjection, settled } from "./opinion.ts";
import { step } from "./step.ts";
import type { Verdict } from "./verdict.ts";

const asking = (id: string, questions: readonly Question[], then: Verdict = "allow"): Mechanism<number> =>
  mechanism(id, {
    consider: (_judged, _run, _memory, answers) =>
      questions.some(({ key }) => !answers.has(key))
        ? { kind: "needs", questions }
        : settled(then === "allow" ? [] : [reason({ mechanism: id, verdict: then })]),
  });
const saying = (id: string, verdict: Verdict): Mechanism<number> =>
  mechanism(id, { consider: () => settled([reason({ mechanism: id, verdict })]) });
const keysOf = (...mechanisms: readonly Mechanism<number>[]): readonly string[] | Verdict => {
  const found = stepOf(engineOf(...mechanisms));
  return found.kind === "asking" ? found.questions.map(({ key }) => key) : found.decision.verdict;
};

describe("what is open", () => {
  const open = asking("a", [question("a", "required")]);

  it("law: a settled deny decides, whatever is still unknown, and nothing less does", () => {
    const verdicts = fc.array(fc.constantFrom<Verdict>("allow", "confirm", "deny"), { maxLength: 4 });
    fc.assert(
      fc.property(verdicts, fc.nat({ max: 4 }), (said, at) => {
        const list = said.map((verdict, index) => saying(`m${index}`, verdict));
        list.splice(at, 0, open);
        expect(keysOf(...list)).toEqual(said.includes("deny") ? "deny" : ["q:a"]);
      }),
    );
  });

  it("is asked up to the limit; beyond it the call is refused with what was said so far", () => {
    const many = (count: number): Mechanism<number> =>
      asking(
        "many",
        // A call is judged twice, also as an entry of the list.
        Array.from({ length: count / 2 }, (_, index) => ({ ...question("many", "required"), key: `${index}` })),
      );
    expect(keysOf(many(questionsMax))).toHaveLength(questionsMax / 2);
    expect(stepOf(engineOf(saying("other", "confirm"), many(questionsMax + 2)))).toMatchObject({
      decision: {
        verdict: "deny",
        reasons: [
          { mechanism: "core", code: "SG-INTERNAL", facts: { detail: `more than ${questionsMax} open questions` } },
          { mechanism: "other", verdict: "confirm" },
        ],
      },
    });
  });

  it("is asked once and in one order, whoever asks first", () => {
    const [a, b] = [question("a", "required"), question("b", "advisory")];
    expect(keysOf(asking("x", [b]), asking("y", [a, b]))).toEqual(["q:a", "q:b"]);
    expect(keysOf(asking("y", [a, b]), asking("x", [b]))).toEqual(["q:a", "q:b"]);
  });

  it("is nothing that one key says in two ways: the call is refused, whoever asks first", () => {
    const [deny, ask] = (["deny", "confirm"] as const).map((unavailable): Question => ({
      ...question("a", "required"),
      mode: "required",
      unavailable,
    })) as [Question, Question];
    const others: readonly Question[] = [
      ask,
      { ...deny, mechanism: "b" },
      { ...deny, kind: "other" },
      question("a", "advisory"),
    ];
    for (const other of others) {
      const both = [asking("x", [deny]), asking("y", [other, question("c", "required")])];
      const found = stepOf(engineOf(...both));
      expect(found).toMatchObject({
        decision: { verdict: "deny", reasons: [{ facts: { detail: "two questions have one key: q:a" } }] },
      });
      expect(stepOf(engineOf(...both.toReversed()))).toEqual(found);
    }
    expect(keysOf(asking("x", [deny]), asking("y", [{ ...deny }]))).toEqual(["q:a"]);
  });

  it("is no way to an allow where nothing is asked", () => {
    const silent = mechanism("s", { consider: () => ({ kind: "needs", questions: [] }) });
    expect(stepOf(engineOf(silent))).toMatchObject({
      decision: { verdict: "deny", reasons: [{ mechanism: "s", code: "SG-INTERNAL" }] },
    });
  });

  it("is asked without what was answered", () => {
    const [a, b] = [question("a", "required"), question("b", "required")];
    const found = stepOf(engineOf(asking("x", [a, b])), answersTo([a], "known"));
    expect(found).toEqual({ kind: "asking", questions: [b] });
  });
});

describe("an answer", () => {
  const required = question("a", "required");
  const advisory = question("a", "advisory");
  const floor = (verdict: Verdict) =>
    reason({ mechanism: "a", code: "SG-ANSWER-UNAVAILABLE", verdict, facts: { question: "test" } });
  const decided = (mechanisms: readonly Mechanism<number>[], asked: Question, kind: "known" | "unavailable") => {
    const found = stepOf(engineOf(...mechanisms), answersTo([asked], kind));
    return found.kind === "decided" ? [found.decision.verdict, found.decision.reasons] : found;
  };

  it("that is known leaves it to the mechanism", () => {
    expect(decided([asking("a", [required])], required, "known")).toEqual(["allow", []]);
  });

  it("that is unavailable is worth what its question states, to the mechanism that asked and to no other", () => {
    expect(decided([asking("a", [required])], required, "unavailable")).toEqual(["deny", [floor("deny")]]);
    const others = [saying("z", "confirm"), asking("a", [advisory]), mechanism("y")];
    const said = reason({ mechanism: "z", verdict: "confirm" });
    expect(decided(others, advisory, "unavailable")).toEqual(["confirm", [floor("confirm"), said]]);
  });

  it("that raises nothing adds no reason, and one that raises keeps those that there are", () => {
    const said = (verdict: Verdict) => reason({ mechanism: "a", verdict });
    expect(decided([asking("a", [advisory], "confirm")], advisory, "known")).toEqual(["confirm", [said("confirm")]]);
    expect(decided([asking("a", [advisory], "deny")], advisory, "unavailable")).toEqual(["deny", [said("deny")]]);
    expect(decided([asking("a", [required], "confirm")], required, "unavailable")).toEqual([
      "deny",
      [floor("deny"), said("confirm")],
    ]);
  });
});

describe("what is judged", () => {
  const judged = (moment: Moment): readonly string[] => {
    const seen: string[] = [];
    const watching = mechanism("w", {
      consider: ({ moment: one }) => {
        seen.push(one.kind);
        return noObjection;
      },
    });
    stepOf(engineOf(watching), new Map(), moment);
    return seen;
  };

  it("is a call, also as an entry of the list; any other moment is judged as what it is", () => {
    expect(judged(call)).toEqual(["expose", "call"]);
    expect(judged({ kind: "expose", at: 1, contract: call.contract })).toEqual(["expose"]);
  });
});

describe("labels of arguments", () => {
  const labelled = (digest: string) => ({
    range: { lo: call.contract.rest.forbidden, hi: call.contract.rest.forbidden },
    digest,
    path: [],
  });
  const moment = { ...call, arguments: { a: 1, b: 2 } };
  const worst = () => new Map(["a", "b"].map((name) => [name, labelled(`worst ${name}`)]));
  const digestsWith = (label: Mechanism<number>["label"] & {}, unknown = worst) => {
    const engine = {
      model: { ...model, unknownLabels: unknown },
      mechanisms: [seal(mechanism("silent")), seal(mechanism("labeller", { label, initial: () => 7 }))],
    };
    const found = step(engine, begin(engine, "r", undefined), moment, new Map());
    return (
      found.kind === "decided" && [...(found.decision.option?.arguments ?? [])].map(([name, one]) => [name, one.digest])
    );
  };
  it("are those of the mechanism that labels, from its own memory", () => {
    const both = (memory: number) => new Map(["a", "b"].map((name) => [name, labelled(`${memory} ${name}`)]));
    const fails = (): never => {
      throw new Error("nothing is unknown here");
    };
    expect(digestsWith((_moment, _run, memory) => both(memory), fails)).toEqual([
      ["a", "7 a"],
      ["b", "7 b"],
    ]);
  });

  it("are the worst for each that it forgot, and for no other", () => {
    expect(digestsWith(() => new Map([["a", labelled("known")]]))).toEqual([
      ["a", "known"],
      ["b", "worst b"],
    ]);
  });
});
