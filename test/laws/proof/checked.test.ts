// The engine and the checker share no code: whatever the one proves, the other must find proved, on random policies.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideCore, makeProver } from "../../../src/proof/prove/prove.ts";
import { certified, checkedFor, isVacuous, wholeCore } from "../../kit/proof/certified.ts";
import { documents, hazardId, subjectOf } from "../../kit/proof/random-policy.ts";

const numRuns = Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 3;

describe("certificates of the engine", () => {
  it(
    "law: what the engine proves, the checker accepts, unless nothing could bring the hazard about at all",
    () => {
      const met = { accepted: 0, vacuous: 0, refuted: 0 };
      fc.assert(
        fc.property(documents, fc.nat(), ({ document, tools }, choice) => {
          const subject = subjectOf(document, tools);
          if (subject === undefined) return;
          const prover = makeProver(subject);
          const whole = wholeCore(subject);
          const bare = decideCore(prover, hazardId, []);
          if (!bare.ok) throw new Error(bare.error);
          const possible = bare.value.model.moves.some(({ step }) => step.bad !== 0);
          for (const core of [whole, [], whole.filter((_, index) => ((choice >> index) & 1) === 1)]) {
            const found = decideCore(prover, hazardId, core);
            if (!found.ok) throw new Error(found.error);
            const certificate = certified(subject, core, found.value);
            if (certificate === undefined) {
              met.refuted += 1;
              continue;
            }
            const checked = checkedFor(subject, certificate);
            met[checked.ok ? "accepted" : "vacuous"] += 1;
            expect(checked.ok || isVacuous(checked) ? "" : checked.reason).toBe("");
            expect(checked.ok).toBe(possible);
          }
        }),
        { numRuns },
      );
      for (const count of Object.values(met)) expect(count).toBeGreaterThan(numRuns / 10);
    },
    numRuns * 100 + 30_000,
  );
});
