// The engine against the explicit explorer, on random policies: the same answer and the same shortest way to the hazard.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideCore, makeProver, proveHazard } from "../../../src/proof/prove/prove.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { type Answer, exploreExplicitly } from "../../kit/proof/explicit.ts";
import { coreOf, documents, hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

// Ordinary laws run 200 times where nothing else is said; these need more to meet every kind of rule and hazard.
const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 5);

function engineSays(subject: Subject, core: readonly string[]): Answer {
  const found = decideCore(makeProver(subject), hazardId, core);
  if (!found.ok) throw new Error(found.error);
  const { distance } = found.value;
  return distance === undefined ? { safe: true } : { safe: false, steps: distance };
}

/** How often each answer was met, so that a generator that says nothing interesting is noticed. */
const met = { loaded: 0, refused: 0, large: 0, safe: 0, refuted: 0, rescued: 0 };

function agree(subject: Subject, core: readonly string[]): Answer | undefined {
  const expected = exploreExplicitly(subject, hazardId, core);
  if (expected === undefined) {
    met.large += 1;
    return undefined;
  }
  met[expected.safe ? "safe" : "refuted"] += 1;
  expect(engineSays(subject, core)).toEqual(expected);
  return expected;
}

describe("the proof engine and the explicit explorer", () => {
  it(
    "law: both say the same of every rule, of none and of some",
    () => {
      fc.assert(
        fc.property(documents, fc.nat(), ({ document, tools }, choice) => {
          const subject = subjectOf(document, tools);
          if (subject === undefined) {
            met.refused += 1;
            return;
          }
          met.loaded += 1;
          const whole = coreOf(subject);
          const all = agree(subject, whole);
          const none = agree(subject, []);
          if (all?.safe === true && none?.safe === false) met.rescued += 1;
          agree(
            subject,
            whole.filter((_, index) => ((choice >> index) & 1) === 1),
          );
        }),
        { numRuns },
      );
    },
    numRuns * 500,
  );

  it(
    "law: a proof says what all rules together say; its core suffices, and the way it shows is a shortest one",
    () => {
      fc.assert(
        fc.property(documents, ({ document, tools }) => {
          const subject = subjectOf(document, tools);
          const hazard = subject?.policy.ir.hazards[0];
          if (subject === undefined || hazard === undefined) return;
          const whole = engineSays(subject, coreOf(subject));
          const { verdict, core, counterexample } = proveHazard(makeProver(subject), hazard);
          expect(verdict === "refuted").toBe(!whole.safe);
          if (core !== undefined) expect(engineSays(subject, core)).toEqual({ safe: true });
          if (!whole.safe) expect(counterexample?.steps.length).toBe(whole.steps);
        }),
        { numRuns },
      );
    },
    numRuns * 100,
  );

  it("the first law meets every kind of answer, and seldom a policy that is none or too large", () => {
    expect(met.refused).toBeLessThan(met.loaded / 10);
    expect(met.large).toBeLessThan(met.loaded * 0.6);
    for (const count of [met.safe, met.refuted, met.rescued]) expect(count).toBeGreaterThan(numRuns / 50);
  });
});
