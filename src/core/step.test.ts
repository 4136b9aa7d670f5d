// The laws of system.md 3.2 about deciding, as properties over arbitrary sets of mechanisms.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunEvent } from "./event.ts";
import { questionsMax } from "./limits.ts";
import { type Engine, type Mechanism, begin, seal } from "./mechanism.ts";
import type { Moment } from "./moment.ts";
import { type Answer, type Opinion, noObjection, settled } from "./opinion.ts";
import { err } from "./result.ts";
import { evolve, step } from "./step.ts";
import { type Verdict, atLeastAsStrict } from "./verdict.ts";
import { call, contract, counted, model, question } from "../../test/kit/policy/small-engine.ts";

const numRuns = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
type Opined = { readonly verdict: Verdict; readonly asks: "no" | "required" | "advisory"; readonly throws: boolean };

const opined: fc.Arbitrary<Opined> = fc.record({
  verdict: fc.constantFrom<Verdict>("allow", "confirm", "deny"),
  asks: fc.constantFrom("no", "no", "required", "advisory"),
  throws: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
});

function mechanism(id: string, how: Opined): Mechanism<number> {
  return {
    id,
    version: 1,
    initial: () => 0,
    remember: (memory) => memory + 1,
    consider: (_judged, _run, _memory, answers): Opinion => {
      if (how.throws) throw new Error("broken");
      if (how.asks !== "no") {
        const asked = question(id, how.asks);
        if (!answers.has(asked.key)) return { kind: "needs", questions: [asked] };
      }
      if (how.verdict === "allow") return noObjection;
      return settled([{ mechanism: id, code: "SG-TEST", verdict: how.verdict, facts: {} }]);
    },
  };
}

function engineOf(list: readonly Opined[]): Engine {
  return { model, mechanisms: list.map((how, index) => seal(mechanism(`m${index}`, how))) };
}

function verdictOf(engine: Engine, answers: ReadonlyMap<string, Answer>, moment: Moment = call): Verdict | "asking" {
  const found = step(engine, begin(engine, "r", undefined), moment, answers);
  return found.kind === "asking" ? "asking" : found.decision.verdict;
}

function answered(list: readonly Opined[], kind: Answer["kind"]): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  list.forEach((how, index) => {
    if (how.asks === "no") return;
    const asked = question(`m${index}`, how.asks);
    answers.set(
      asked.key,
      kind === "known"
        ? { kind, question: asked, value: null }
        : { kind: "unavailable", question: asked, cause: "down" },
    );
  });
  return answers;
}

const strict = (verdict: Verdict | "asking"): Verdict => (verdict === "asking" ? "allow" : verdict);

describe("laws of deciding", () => {
  it("law: adding a mechanism never loosens", () => {
    fc.assert(
      fc.property(fc.array(opined, { maxLength: 5 }), opined, (list, extra) => {
        const before = verdictOf(engineOf(list), answered(list, "known"));
        const after = verdictOf(engineOf([...list, extra]), answered([...list, extra], "known"));
        expect(atLeastAsStrict(strict(after), strict(before))).toBe(true);
      }),
      { numRuns },
    );
  });

  it("law: the order of mechanisms is irrelevant, to reasons too", () => {
    fc.assert(
      fc.property(fc.array(opined, { minLength: 1, maxLength: 5 }), (list) => {
        const engine = engineOf(list);
        const reversed = { ...engine, mechanisms: [...engine.mechanisms].reverse() };
        const answers = answered(list, "known");
        expect(step(reversed, begin(reversed, "r", undefined), call, answers)).toEqual(
          step(engine, begin(engine, "r", undefined), call, answers),
        );
      }),
      { numRuns },
    );
  });

  it("law: a deny with fewer answers stays a deny with more", () => {
    fc.assert(
      fc.property(fc.array(opined, { maxLength: 5 }), (list) => {
        const engine = engineOf(list);
        if (verdictOf(engine, new Map()) === "deny") expect(verdictOf(engine, answered(list, "known"))).toBe("deny");
      }),
      { numRuns },
    );
  });

  it("law: an oracle that is unavailable is never looser than the mechanism with its answer missing", () => {
    fc.assert(
      fc.property(fc.array(opined, { maxLength: 5 }), (list) => {
        const engine = engineOf(list);
        const without = strict(verdictOf(engine, answered(list, "unavailable")));
        for (const how of list) {
          if (how.throws) continue;
          if (how.asks === "required") expect(without).toBe("deny");
          if (how.asks === "advisory") expect(atLeastAsStrict(without, "confirm")).toBe(true);
        }
      }),
      { numRuns },
    );
  });

  it("law: an advisory answer can only tighten", () => {
    const how: Opined = { verdict: "allow", asks: "advisory", throws: false };
    expect(verdictOf(engineOf([how]), answered([how], "known"))).toBe("confirm");
  });

  it("law: a throw denies, and says so without a stack", () => {
    const engine = engineOf([{ verdict: "allow", asks: "no", throws: true }]);
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    expect(found).toMatchObject({ kind: "decided", decision: { verdict: "deny", reasons: [{ code: "SG-INTERNAL" }] } });
    expect(JSON.stringify(found)).not.toContain("step.test");
  });

  it("law: hidden implies uncallable", () => {
    const hides: Mechanism<null> = {
      id: "hides",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: ({ moment }) =>
        moment.kind === "expose"
          ? settled([{ mechanism: "hides", code: "SG-X", verdict: "deny", facts: {} }])
          : noObjection,
    };
    const engine: Engine = { model, mechanisms: [seal(hides)] };
    expect(verdictOf(engine, new Map(), { kind: "expose", at: 1, contract })).toBe("deny");
    expect(verdictOf(engine, new Map())).toBe("deny");
  });

  it("law: observing never changes a verdict, and is still reported", () => {
    const observes: Mechanism<null> = {
      id: "o",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => settled([{ mechanism: "o", code: "SG-X", verdict: "deny", facts: {}, observed: true }]),
    };
    const engine: Engine = { model, mechanisms: [seal(observes)] };
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    expect(found).toMatchObject({ kind: "decided", decision: { verdict: "allow", enforcedVerdict: "deny" } });
  });

  it("a warning stands in the decision and decides nothing; why something is fine does not", () => {
    const fine = { mechanism: "w", code: "SG-FINE", verdict: "allow", facts: {} } as const;
    const warning = { ...fine, code: "SG-KEEP-LOST", observed: true } as const;
    const warns: Mechanism<null> = {
      id: "w",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => settled([fine, warning]),
    };
    const engine: Engine = { model, mechanisms: [seal(warns)] };
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    expect(found).toMatchObject({ decision: { verdict: "allow", enforcedVerdict: "allow", reasons: [warning] } });
  });
});

describe("step", () => {
  it("asks what is open, each question once", () => {
    const list: Opined[] = [{ verdict: "allow", asks: "required", throws: false }];
    const found = step(engineOf(list), begin(engineOf(list), "r", undefined), call, new Map());
    expect(found).toEqual({ kind: "asking", questions: [question("m0", "required")] });
  });

  it("denies a mechanism that asks without end", () => {
    const greedy: Mechanism<null> = {
      id: "greedy",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => ({
        kind: "needs",
        questions: Array.from({ length: questionsMax + 1 }, (_, i) => ({
          ...question("greedy", "required"),
          key: `${i}`,
        })),
      }),
    };
    expect(verdictOf({ model, mechanisms: [seal(greedy)] }, new Map())).toBe("deny");
  });

  it("counts a question that was answered and is asked again as unavailable", () => {
    const asked = question("again", "required");
    const again: Mechanism<null> = {
      id: "again",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => ({ kind: "needs", questions: [asked] }),
    };
    const answers = new Map<string, Answer>([[asked.key, { kind: "known", question: asked, value: 1 }]]);
    expect(verdictOf({ model, mechanisms: [seal(again)] }, answers)).toBe("deny");
  });

  it("denies a call that cannot be classified or labelled", () => {
    const fails = (): never => {
      throw "not even an error";
    };
    expect(verdictOf({ model: { ...model, classify: fails }, mechanisms: [] }, new Map())).toBe("deny");
    expect(verdictOf({ model: { ...model, unknownLabels: fails }, mechanisms: [] }, new Map())).toBe("deny");
  });

  it("gives arguments that the labeller forgot the worst label", () => {
    const labeller: Mechanism<null> = {
      id: "l",
      version: 1,
      initial: () => null,
      remember: () => null,
      consider: () => noObjection,
      label: () => new Map(),
    };
    const engine: Engine = { model, mechanisms: [seal(labeller)] };
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    expect(found.kind === "decided" && found.decision.option?.arguments.get("a")?.digest).toBe("x");
  });
});

describe("evolve", () => {
  const engine = engineOf([{ verdict: "allow", asks: "no", throws: false }]);
  const event: RunEvent = { at: 1, kind: "begun", principal: "p" };

  it("moves the state and every memory", () => {
    const moved = evolve(engine, begin(engine, "r", counted(5)), event);
    expect(moved.ok && moved.value.q).toEqual(counted(6));
    expect(moved.ok && moved.value.memories.get("m0")).toBe(1);
  });

  it("refuses an event that is no move of the model", () => {
    expect(evolve(engine, begin(engine, "r", undefined), { at: 1, kind: "ended", cause: "closed" })).toEqual(
      err("no move"),
    );
  });

  it("a mechanism that throws while it remembers makes the event no move, and stops nothing", () => {
    const broken = {
      ...mechanism("m0", { verdict: "allow", asks: "no", throws: false }),
      remember: () => JSON.parse("{"),
    };
    const engine = { model, mechanisms: [seal(broken)] };
    const folded = evolve(engine, begin(engine, "r", undefined), { at: 1, kind: "succeeded", call: "c1" });
    expect(folded).toMatchObject({ ok: false, error: expect.stringContaining("could not be folded") });
  });
});

it("obligations of several mechanisms come in one order, whatever the order of the mechanisms", () => {
  const obliging = (id: string): Mechanism<number> => ({
    ...mechanism(id, { verdict: "allow", asks: "no", throws: false }),
    consider: ({ moment }) =>
      moment.kind === "call" ? settled([], [{ kind: "hold", rule: id, since: 0, way: "wait" }]) : noObjection,
  });
  const rules = (ids: readonly string[]): readonly unknown[] => {
    const engine = { model, mechanisms: ids.map((id) => seal(obliging(id))) };
    const found = step(engine, begin(engine, "r", undefined), call, new Map());
    return found.kind === "decided" ? found.decision.obligations : [];
  };
  expect(rules(["b", "a", "c"])).toHaveLength(3);
  expect(rules(["b", "a", "c"])).toEqual(rules(["c", "b", "a"]));
});
