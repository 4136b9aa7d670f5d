// The more must not happen, the less may be done: hazards that are added take options away and give none.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadedPolicy } from "../../../src/app/policy/loaded-policy.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { CallMoment } from "../../../src/core/moment.ts";
import { hazardId, subjectOf } from "../../kit/proof/random-policy.ts";
import type { Point, Trial } from "../../kit/proof/game/explicit-regulation.ts";
import { now, pointsOf, stateOf } from "../../kit/proof/game/points.ts";
import { exactSubject, hazardDocuments } from "../../kit/proof/game/random-hazards.ts";
import { callOf, decidedBy, toldLabels, trialsOf } from "../../kit/proof/game/trials.ts";

const numRuns = Math.min(5_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 2);
const trialsPerPolicy = 8;

const order = ["allow", "confirm", "deny"];

const met = { trials: 0, stricter: 0, hidden: 0 };

type Judge = (point: Point, trial: Trial) => { readonly called: number; readonly listed: number };

/** How strictly a policy judges calls and their entries in a list; what a call is, it finds out by itself. */
function judgeOf(subject: Subject): Judge {
  const { engine } = loadedPolicy(subject.policy, "law");
  return (point, trial) => {
    const q = stateOf(subject.policy.ir, point);
    const call = callOf(subject, trial);
    const entry = { kind: "expose" as const, at: now, contract: call.contract };
    return {
      called: order.indexOf(decidedBy(toldLabels(engine, trial), q, call).verdict),
      listed: order.indexOf(decidedBy(engine, q, entry).verdict),
    };
  };
}

it(
  "law: more hazards never let more through, neither of calls nor of lists",
  () => {
    fc.assert(
      fc.property(hazardDocuments, fc.gen(), (named, generate) => {
        const { h } = named.document.hazards ?? {};
        const all = exactSubject(named);
        if (all === undefined || h === undefined || Object.keys(named.document.hazards ?? {}).length < 2) return;
        const one = exactSubject({ ...named, document: { ...named.document, hazards: { [hazardId]: h } } });
        if (one === undefined || one.policy.ir.flow === "none") return;
        const [judgeAll, judgeOne] = [judgeOf(all), judgeOf(one)];
        for (let tried = 0; tried < trialsPerPolicy; tried += 1) {
          const point = generate(pointsOf, all);
          const trial = generate(trialsOf, all, point);
          const [more, fewer] = [judgeAll(point, trial), judgeOne(point, trial)];
          const text = JSON.stringify({ point: { ...point, bits: [...point.bits] }, trial });
          expect(more.called, text).toBeGreaterThanOrEqual(fewer.called);
          expect(more.listed, text).toBeGreaterThanOrEqual(fewer.listed);
          // Hidden implies uncallable.
          expect(more.called, text).toBeGreaterThanOrEqual(more.listed);
          met.trials += 1;
          if (more.called > fewer.called) met.stricter += 1;
          if (more.listed > fewer.listed) met.hidden += 1;
        }
      }),
      { numRuns, endOnFailure: true },
    );
  },
  numRuns * 200,
);

it("the law above meets hazards that make a difference", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.stricter).toBeGreaterThan(met.trials / 20);
  expect(met.hidden).toBeGreaterThan(met.trials / 50);
});

it("a tool is not hidden for what a call with a key would do, while one without is only asked about", () => {
  const open = { confidentiality: "public", trust: "trusted" };
  const rest = { role: "content", sink: false } as const;
  const subject = subjectOf(
    {
      version: 1,
      servers: { s: { trust: "trusted" } },
      labels: {
        "s.open_case": { effects: "write.local", args: { x: rest }, rest, output: open },
        "s.share": { effects: "write.external.share", rest, output: open, opens: { store: "box", audience: "anyone" } },
      },
      stores: { box: { audience: "me", label: open } },
      hazards: {
        [hazardId]: {
          never: {
            sequence: { after: "s.open_case", never: { effect: "write.external" }, key: { argument: "x", form: "id" } },
          },
        },
      },
      flow: { mode: "provenance" },
    },
    ["s.open_case", "s.share"],
  );
  if (subject === undefined) throw new Error("the policy of the example does not load");
  const [contract] = subject.contracts;
  if (contract === undefined) throw new Error("the example has tools");
  const { engine } = loadedPolicy(subject.policy, "law");
  const shared = {
    held: [],
    stores: [{ label: 0, audience: 3, open: 2 }],
    bits: new Map([[hazardId, [[false], [false]]]]),
  };
  const q = stateOf(subject.policy.ir, shared);
  const call = (given: JsonObject): CallMoment => {
    const head = { kind: "call" as const, at: now, call: "c", method: "tools/call", contract };
    return { ...head, arguments: given, workspace: [], digest: "c" };
  };
  expect(decidedBy(engine, q, call({ x: "case" })).verdict).toBe("deny");
  expect(decidedBy(engine, q, call({})).verdict).toBe("confirm");
  expect(decidedBy(engine, q, { kind: "expose", at: now, contract }).verdict).toBe("confirm");
});
