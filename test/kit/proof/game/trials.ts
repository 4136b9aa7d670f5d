/** Arbitrary calls in a state, and what the engine says of them when their class and labels are given to it. */
import fc from "fast-check";
import type { Decision } from "../../../../src/core/decision.ts";
import { type Engine, begin } from "../../../../src/core/mechanism.ts";
import type { CallClass, CallMoment, ExposeMoment } from "../../../../src/core/moment.ts";
import type { Run } from "../../../../src/core/run.ts";
import { step } from "../../../../src/core/step.ts";
import type { Q } from "../../../../src/policy/semantics/state.ts";
import type { Subject } from "../../../../src/proof/prove/subject.ts";
import { makeWorld } from "../explicit-model.ts";
import { argumentsOf, choicesOf, classesOf } from "../explicit-moves.ts";
import { hazardId } from "../random-policy.ts";
import type { Point, Trial } from "./explicit-regulation.ts";
import { exact, followedKey, now } from "./points.ts";

/** The name of an argument that no list of names mentions. */
const unnamed = "other";

/** Calls with any labels that the flow mode leaves to the agent, and with keys that can be read: a rule never knows of others. */
export function trialsOf(subject: Subject, { held }: Point): fc.Arbitrary<Trial> {
  const world = makeWorld(subject, hazardId, []);
  const classes = new Map(classesOf(world).map((one) => [JSON.stringify([one.contract, [...one.truths]]), one]));
  const label = fc.constantFrom(...choicesOf(world, held));
  return fc.constantFrom(...classes.values()).chain((one) =>
    fc.record({
      contract: fc.constant(one.contract),
      truths: fc.constant(one.truths),
      observed: fc.constant(one.observed),
      given: fc.tuple(
        ...argumentsOf(world, one.contract).map((argument) => label.map((own) => ({ ...argument, label: own }))),
      ),
      keys: fc.constantFrom<Trial["keys"]>(["same", "other"], ["other", "same"]),
    }),
  );
}

function classOf(subject: Subject, { contract, truths, keys, given }: Trial): CallClass {
  const [first] = keys;
  const own = first === "same" ? [followedKey] : first === "other" ? ["another"] : [];
  const keyed = subject.policy.ir.hazards.map(({ id }) => [id, own] as const);
  const { server, tool } = contract;
  // What carries nothing is left out of the call.
  const bare = !given.some((one) => one.contract.role !== "content" && one.label !== 0);
  return { server, tool, truths, keys: new Map(keyed), amounts: new Map(), ...(bare ? { bare } : {}) };
}

/** The verdict of the engine on a call in a state, or on its entry in a list. */
export function decidedBy(engine: Engine, q: Q, moment: CallMoment | ExposeMoment): Decision {
  const run: Run = { ...begin(engine, "law", undefined), q };
  const found = step(engine, run, moment, new Map());
  if (found.kind !== "decided") throw new Error("nothing is asked here");
  return found.decision;
}

/** The engine with the class and the labels of the trial in place of what it would find out by itself. */
export function told(engine: Engine, subject: Subject, trial: Trial): Engine {
  const { model, mechanisms } = toldLabels(engine, trial);
  return { model: { ...model, classify: () => classOf(subject, trial) }, mechanisms };
}

/** The same with its labels alone. */
export function toldLabels(engine: Engine, trial: Trial): Engine {
  const labels = new Map(
    trial.given.flatMap(({ name, label }) =>
      label === 0 ? [] : [[name ?? unnamed, { range: exact(label), digest: "", path: [] }] as const],
    ),
  );
  return {
    model: engine.model,
    mechanisms: engine.mechanisms.map((one) => (one.labels ? { ...one, label: () => labels } : one)),
  };
}

/** The call itself. What carries nothing may as well be left out. */
export function callOf(subject: Subject, { contract, given }: Trial): CallMoment {
  const whole = subject.contracts.find(({ server, tool }) => server === contract.server && tool === contract.tool);
  const sent = given.filter(({ label }) => label !== 0).map(({ name }) => [name ?? unnamed, "v"] as const);
  return {
    kind: "call",
    at: now,
    call: "trial",
    method: "tools/call",
    contract: whole ?? contract,
    arguments: Object.fromEntries(sent),
    workspace: [],
    digest: "trial",
  };
}
