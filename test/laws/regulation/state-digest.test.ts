// What the lists of a run are remembered by: runs of one policy whose digests are equal are shown the same.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { RegulationSection } from "../../../src/policy/sections/regulation.ts";
import { subjectOf } from "../../kit/proof/random-policy.ts";
import { DrivenRun, operations, policies, requiring } from "../../kit/regulation/driven-run.ts";

const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200));
const traces = fc.array(fc.array(operations, { minLength: 1, maxLength: 6, size: "max" }), {
  minLength: 2,
  maxLength: 4,
});

const settings: fc.Arbitrary<RegulationSection> = fc.record({
  filter: fc.constantFrom<NonNullable<RegulationSection["filter"]>>(
    { mode: "replace" },
    { mode: "accumulate" },
    { mode: "lease", ttl: "1m" },
  ),
  leases: fc.constantFrom<NonNullable<RegulationSection["leases"]>>(
    [],
    [{ tool: "s.a", calls: 1 }],
    [{ tool: "s.b", for: "2m" }],
  ),
});

const met = { states: 0, same: 0, lists: 0 };

it(
  "law: equal digests, equal lists",
  () => {
    fc.assert(
      fc.property(policies, settings, traces, (named, regulation, all) => {
        const found = subjectOf({ ...named.document, regulation }, named.tools);
        if (found === undefined) return;
        const subject = requiring(found);
        const known = new Map<string, string>();
        for (const trace of all) {
          const driven = new DrivenRun(subject);
          for (const operation of trace) {
            driven.perform(operation);
            const digest = driven.digest();
            const list = driven.listed().join(" ");
            const before = known.get(digest);
            met.states += 1;
            if (before !== undefined) {
              met.same += 1;
              expect(list).toBe(before);
            }
            known.set(digest, list);
          }
        }
        if (new Set(known.values()).size > 1) met.lists += 1;
      }),
      { numRuns },
    );
  },
  numRuns * 500,
);

it("the law above meets equal digests, and runs that are shown different lists", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.same).toBeGreaterThan(met.states / 20);
  expect(met.lists).toBeGreaterThan(numRuns / 50);
});
