// The winning sets that the gateway looks its states up in, against a walk through plain values: in every kind of state,
// reachable or not.
import fc from "fast-check";
import { expect, it } from "vitest";
import { slotsOf } from "../../../src/policy/semantics/monitors.ts";
import { type Watch, watchesOf } from "../../../src/proof/game/watch.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { Regulation, type Point } from "../../kit/proof/game/explicit-regulation.ts";
import { now, pointsOf, stateOf } from "../../kit/proof/game/points.ts";
import { exactSubject, hazardDocuments } from "../../kit/proof/game/random-hazards.ts";

// Each policy is tried in many states.
const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 3);
const pointsPerPolicy = 8;

const met = { policies: 0, watched: 0, won: 0, lost: 0 };

function watchesFor({ policy }: Subject): readonly Watch[] {
  const found = watchesOf(policy, slotsOf(policy.ir));
  if (!found.ok) throw new Error(found.error);
  return found.value;
}

function wins(subject: Subject, watches: readonly Watch[], point: Point, id: string): boolean {
  const q = stateOf(subject.policy.ir, point);
  return watches
    .filter(({ hazard }) => hazard.id === id)
    .every(({ dangers, lookup }) =>
      dangers.every(({ winning }) => lookup(winning, { q, end: "hi", at: now, held: q.held })),
    );
}

it(
  "law: for hazards alone, W is what nobody but the gateway can leave, hazard by hazard",
  () => {
    fc.assert(
      fc.property(hazardDocuments, fc.gen(), (named, generate) => {
        const subject = exactSubject(named);
        if (subject === undefined || subject.policy.ir.flow === "none") return;
        const watches = watchesFor(subject);
        const regulation = new Regulation(subject);
        met.policies += 1;
        if (watches.length > 0) met.watched += 1;
        for (let tried = 0; tried < pointsPerPolicy; tried += 1) {
          const point = generate(pointsOf, subject);
          for (const { id } of regulation.hazards) {
            const expected = regulation.keeps(id, point);
            met[expected ? "won" : "lost"] += 1;
            expect(wins(subject, watches, point, id), `${id} in ${JSON.stringify(point)}`).toBe(expected);
          }
        }
      }),
      { numRuns, endOnFailure: true },
    );
  },
  numRuns * 200,
);

it("the law above meets policies that something uncontrollable can harm, and states of both kinds", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.watched).toBeGreaterThan(met.policies / 3);
  expect(met.won).toBeGreaterThan(met.policies);
  expect(met.lost).toBeGreaterThan(met.policies / 3);
});
