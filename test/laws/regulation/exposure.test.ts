// A tool is never hidden, or shown as one that asks, though a call of it would get more: the least that stands against any
// call of a tool stands against its entry in the list.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atLeastAsStrict, stricter } from "../../../src/core/verdict.ts";
import { exposureOf } from "../../../src/mechanisms/regulate/game/exposure.ts";
import { makeExposures } from "../../../src/mechanisms/regulate/game/exposures.ts";
import { safetyAfterTrial } from "../../../src/mechanisms/regulate/game/trial-step.ts";
import { subjectOf } from "../../kit/proof/random-policy.ts";
import { DrivenRun, operations, policies, requiring } from "../../kit/regulation/driven-run.ts";

const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 2);
const traces = fc.array(operations, { minLength: 1, maxLength: 8, size: "max" });
const tried = fc.array(fc.constantFrom("v", "w", "a@example.com", "seen 0", "seen 1"), { minLength: 2, maxLength: 2 });

const met = { calls: 0, hidden: 0, asked: 0, byGame: 0 };

describe("what a list shows", () => {
  it(
    "law: no entry of a list is judged more strictly than a call of its tool",
    () => {
      fc.assert(
        fc.property(policies, traces, fc.array(tried, { minLength: 1, maxLength: 3 }), (named, trace, values) => {
          const subject = subjectOf(named.document, named.tools);
          if (subject === undefined) return;
          const driven = new DrivenRun(requiring(subject));
          const remembered = makeExposures({ ...driven.board, digest: (value) => JSON.stringify(value) });
          for (const operation of [undefined, ...trace]) {
            if (operation !== undefined) driven.perform(operation);
            for (const contract of driven.contracts) {
              const { q } = driven;
              const exposure = exposureOf(driven.board, q, contract, driven.at);
              expect(remembered.of(q, contract, driven.at).verdict).toBe(exposure.verdict);
              if (exposure.verdict === "deny") met.hidden += 1;
              if (exposure.verdict === "confirm") met.asked += 1;
              for (const [x, y] of values) {
                const decision = driven.ruled(driven.moment(contract, { x, y }));
                const { option } = decision;
                if (option === undefined) throw new Error("every call has an option");
                const { frame, game } = driven.board;
                const safety = safetyAfterTrial(game, { frame, q, option, at: driven.at })?.verdict ?? "allow";
                met.calls += 1;
                if (safety !== "allow") met.byGame += 1;
                const judged = stricter(decision.verdict, safety);
                expect(
                  atLeastAsStrict(judged, exposure.verdict),
                  `${contract.tool}: ${exposure.verdict} in the list, ${judged} as a call ${JSON.stringify({ x, y })}`,
                ).toBe(true);
              }
            }
          }
        }),
        { numRuns },
      );
    },
    numRuns * 500,
  );

  it("the law above meets tools that are hidden, tools that ask, and games that decide", () => {
    if (process.env["SHOW"] !== undefined) console.log(met);
    expect(met.hidden).toBeGreaterThan(met.calls / 100);
    expect(met.asked).toBeGreaterThan(met.calls / 100);
    expect(met.byGame).toBeGreaterThan(met.calls / 100);
  });
});
