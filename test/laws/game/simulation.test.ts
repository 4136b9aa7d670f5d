// Regulation alone, without a single rule: whatever agents, tools, outsiders and time do, no hazard comes about, or the
// policy says at its start that nobody could keep it from coming about.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadedPolicy } from "../../../src/app/policy/loaded-policy.ts";
import { Household } from "../../kit/proof/household.ts";
import { hazardId, subjectOf } from "../../kit/proof/random-policy.ts";
import { traces } from "../../kit/proof/random-trace.ts";
import { startOf } from "../../kit/proof/explicit-moves.ts";
import { makeWorld } from "../../kit/proof/explicit-model.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { Regulation } from "../../kit/proof/game/explicit-regulation.ts";
import { hazardDocuments } from "../../kit/proof/game/random-hazards.ts";

const numRuns = Math.min(5_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 2);

const met = { policies: 0, unenforceable: 0, allowed: 0, refused: 0, released: 0, unregulated: 0 };

/** Whether every hazard can be kept away at the start, by the plain oracle. */
function startsWell(subject: Subject): boolean {
  const { held, stores, automata } = startOf(makeWorld(subject, hazardId, []));
  return new Regulation(subject).wins(
    { held, stores, bits: new Map([[hazardId, automata.map(({ bits }) => bits)]]) },
    "all",
  );
}

it(
  "law: with hazards and no rules, nothing bad is ever done, nor fires; or the start is refused",
  () => {
    fc.assert(
      fc.property(hazardDocuments, traces, ({ document, tools }, trace) => {
        const { h } = document.hazards ?? {};
        if (h === undefined || document.flow?.mode === "none") return;
        const subject = subjectOf({ ...document, hazards: { [hazardId]: h } }, tools);
        // What is only observed is not kept away, and nobody says so.
        if (subject === undefined || Object.values(document.servers ?? {}).some(({ mode }) => mode === "observe"))
          return;
        met.policies += 1;
        const problem = loadedPolicy(subject.policy, "law").startProblem;
        expect(problem === undefined).toBe(startsWell(subject));
        if (problem !== undefined) {
          met.unenforceable += 1;
          return;
        }
        const household = new Household(subject, 2);
        for (const one of trace) household.perform(one);
        met.allowed += household.met.allowed;
        met.refused += household.met.refused;
        met.released += household.met.released;
        expect(household.met.bad).toBe(0);
        // The same without regulation: were nothing bad ever to happen then, nothing would have been shown.
        const observed = subjectOf({ ...document, hazards: { [hazardId]: { ...h, mode: "observe" } } }, tools);
        if (observed === undefined) return;
        const free = new Household(observed, 2);
        for (const one of trace) free.perform(one);
        if (free.met.bad > 0) met.unregulated += 1;
      }),
      { numRuns },
    );
  },
  numRuns * 500,
);

it("the law above meets calls that pass, results that do, and hazards that come about without regulation", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.unenforceable).toBeGreaterThan(met.policies / 50);
  expect(met.allowed).toBeGreaterThan(met.policies);
  expect(met.refused).toBeGreaterThan(met.policies / 2);
  expect(met.released).toBeGreaterThan(met.policies / 2);
  expect(met.unregulated).toBeGreaterThan(met.policies / 20);
});
