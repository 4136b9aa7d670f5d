// Nothing looms over a run of which every call and every result was let through without a question: time, failures and calls
// that overlap included.
import fc from "fast-check";
import { expect, it } from "vitest";
import { hold, hostHeld } from "../../../src/policy/semantics/state.ts";
import { subjectOf } from "../../kit/proof/random-policy.ts";
import { DrivenRun, operations, policies } from "../../kit/regulation/driven-run.ts";

const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 2);
const traces = fc.array(operations, { minLength: 1, maxLength: 10, size: "max" });

const met = { runs: 0, games: 0, moves: 0, closed: 0 };

it(
  "law: without consent, a run stays where nobody but the gateway can bring about a hazard, and every debt can be met",
  () => {
    fc.assert(
      fc.property(policies, traces, (named, trace) => {
        const subject = subjectOf(named.document, named.tools);
        if (subject === undefined) return;
        const driven = new DrivenRun(subject);
        const { frame, game } = driven.board;
        const stands = (): string => {
          const { q } = driven;
          const held = hostHeld(frame.ir, q).reduce(hold, q.held);
          return game.safetyOf(q, driven.at, held).verdict;
        };
        met.runs += 1;
        if (!game.trivial) met.games += 1;
        // Where nobody decides what would happen at once, no run starts.
        if (stands() !== "allow") {
          met.closed += 1;
          return;
        }
        for (const operation of trace) {
          const before = driven.run;
          driven.perform(operation.kind === "wait" ? operation : { ...operation, consents: false });
          if (driven.run !== before) met.moves += 1;
          expect(stands(), JSON.stringify(operation)).toBe("allow");
        }
      }),
      { numRuns },
    );
  },
  numRuns * 300,
);

it("the law above meets games, and runs that do something", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.games).toBeGreaterThan(met.runs / 4);
  expect(met.moves).toBeGreaterThan(met.runs);
});
