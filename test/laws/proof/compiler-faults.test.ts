// Faults in the engine and in what compiles for it. Each proves something that is false; the checker, which reads the
// policy and the table by itself, must refuse every one of these proofs.
import { describe, expect, it } from "vitest";
import { decideCore, makeProver } from "../../../src/proof/prove.ts";
import type { Subject } from "../../../src/proof/subject.ts";
import { caseOf, certified, checkedFor, wholeCore } from "./certified.ts";
import type { Fault } from "./faults.ts";
import { exploreFaultily, faults } from "./faults.ts";
import { hazardId } from "./random-policy.ts";

/** False proofs that are wanted: 40 in a quick run, 200 in a full one. */
const wanted = Math.max(40, Math.min(200, Number(process.env["SLUICEGATE_RUNS"] ?? 200) / 5));
const seedsMax = wanted * 25;
const names = Object.keys(faults);
const each = Math.ceil((1.5 * wanted) / names.length);

type Met = { wrong: number; accepted: number };
const met = new Map(names.map((name): [string, Met] => [name, { wrong: 0, accepted: 0 }]));

/** Whether the hazard can happen under a core, as the engine without a fault finds. */
function refuting(subject: Subject): (core: readonly string[]) => boolean {
  const prover = makeProver(subject);
  const known = new Map<string, boolean>();
  return (core) => {
    const text = core.join(" ");
    const found = known.has(text) ? undefined : decideCore(prover, hazardId, core);
    if (found !== undefined) known.set(text, found.ok && found.value.distance !== undefined);
    return known.get(text) === true;
  };
}

function tryFault(subject: Subject, fault: Fault, isRefuted: (core: readonly string[]) => boolean): Met {
  const its = fault.subject?.(subject) ?? subject;
  const whole = wholeCore(its);
  const found = { wrong: 0, accepted: 0 };
  for (const core of [whole, whole.filter((_, index) => index % 2 === 0), []]) {
    // Only where the hazard can happen would a proof be false.
    const explored = isRefuted(core) ? exploreFaultily({ its, hazardId, core, fault }) : undefined;
    const certificate = explored === undefined ? undefined : certified(subject, core, explored);
    if (certificate === undefined) continue;
    found.wrong += 1;
    if (checkedFor(subject, certificate).ok) found.accepted += 1;
  }
  return found;
}

describe("compiler faults", () => {
  it(
    "law: no false proof of a faulty engine is accepted",
    () => {
      for (let seed = 1; seed <= seedsMax; seed += 1) {
        const one = caseOf(seed);
        if (one === undefined) continue;
        const isRefuted = refuting(one.subject);
        for (const [name, fault] of Object.entries(faults)) {
          const so = met.get(name);
          if (so === undefined || so.wrong >= each) continue;
          const { wrong, accepted } = tryFault(one.subject, fault, isRefuted);
          so.wrong += wrong;
          so.accepted += accepted;
        }
      }
      const accepted = [...met].filter(([, so]) => so.accepted > 0).map(([name]) => name);
      expect(accepted).toEqual([]);
    },
    wanted * 1500 + 30_000,
  );

  it("the law above met as many false proofs as are wanted, of nearly every fault", () => {
    const counts = [...met.values()].map(({ wrong }) => wrong);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(wanted);
    if (process.env["SHOW"] !== undefined) console.error(Object.fromEntries([...met].map(([n, m]) => [n, m.wrong])));
  });
});
