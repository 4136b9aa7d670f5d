// The running system refines the model (R1 to R4 of formal.md 4.4), on random policies and random traces: calls that
// overlap, runs that share stores, failures, lost and late answers. The judge is what was planted and where it arrived.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import { Household } from "../../kit/proof/household.ts";
import { coreOf, documents, hazardId, subjectOf } from "../../kit/proof/random-policy.ts";
import { traces } from "../../kit/proof/random-trace.ts";

const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 5);

const met = { traces: 0, safe: 0, allowed: 0, refused: 0, released: 0, bad: 0 };

describe("the running system and its model", () => {
  it(
    "law: every event is a move of the model, labels reach up to the truth, and what is proved does not happen",
    () => {
      fc.assert(
        fc.property(documents, traces, ({ document, tools }, trace) => {
          // The hazard is watched and does not itself refuse: what the proof says rests on the rules alone.
          const { h, ...others } = document.hazards ?? {};
          // Without information flow nothing is labelled, and nothing is claimed of labels.
          if (h === undefined || document.flow?.mode === "none") return;
          const subject = subjectOf(
            { ...document, hazards: { ...others, [hazardId]: { ...h, mode: "observe" } } },
            tools,
          );
          if (subject === undefined) return;
          const found = decideCore(makeProver(subject), hazardId, coreOf(subject));
          const household = new Household(subject, 2);
          for (const one of trace) household.perform(one);
          const safe = found.ok && found.value.distance === undefined;
          met.traces += 1;
          if (safe) met.safe += 1;
          met.allowed += household.met.allowed;
          met.refused += household.met.refused;
          met.released += household.met.released;
          met.bad += household.met.bad > 0 ? 1 : 0;
          if (safe) expect(household.met.bad).toBe(0);
        }),
        { numRuns },
      );
    },
    numRuns * 500,
  );

  it("the law above meets calls that pass, calls that are refused, and hazards that do come about", () => {
    if (process.env["SHOW"] !== undefined) console.log(met);
    expect(met.safe).toBeGreaterThan(met.traces / 5);
    expect(met.allowed).toBeGreaterThan(met.traces);
    expect(met.refused).toBeGreaterThan(met.traces);
    expect(met.released).toBeGreaterThan(met.traces / 2);
    expect(met.bad).toBeGreaterThan(met.traces / 20);
  });
});
