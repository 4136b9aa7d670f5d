// Debts and firm keeps of policies: the winning sets of the diagrams against the game played through plain values.
import fc from "fast-check";
import { expect, it } from "vitest";
import { slotsOf } from "../../../src/policy/semantics/monitors.ts";
import { makeGoals } from "../../../src/proof/game/goals.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { type GoalGame, goalGame } from "../../kit/proof/game/explicit-goals.ts";
import { iterated } from "../../kit/proof/game/oracles.ts";
import { now, statesIn, stateOfWorld } from "../../kit/proof/game/points.ts";
import { goalDocuments } from "../../kit/proof/game/random-goals.ts";
import { exactSubject } from "../../kit/proof/game/random-hazards.ts";

// What is drawn while a law runs shrinks slowly and to little use, so the first failure ends it. Each game is played through whole, which takes its time.
const numRuns = Math.min(2_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200));
const startsPerPolicy = 3;

const met = { policies: 0, large: 0, games: 0, won: 0, asked: 0, lost: 0 };

/** By the gateway: whether every goal can be met, with consent, or not at all. */
function saidIn(subject: Subject, { world, states }: GoalGame): readonly string[] {
  const { policy, contracts } = subject;
  const keeps = policy.regulation.keeps.flatMap(({ firm, tools }) => (firm ? tools : []));
  const goals = makeGoals({ policy, slots: slotsOf(policy.ir), contracts, keeps });
  if (!goals.ok) throw new Error(goals.error);
  return states.map((state) => {
    const q = stateOfWorld(world, state);
    const lost = goals.value?.lost({ q, end: "hi", at: now, held: q.held }, new Set()) ?? [];
    return lost.length === 0 ? "won" : lost.every(({ consentable }) => consentable) ? "asked" : "lost";
  });
}

/** An injected call leaves no trace in the state of the gateway, which therefore cannot be in all states of the model. */
function representable({ world, states }: GoalGame, state: number): boolean {
  return world.automata.every(({ id }, index) => {
    const rule = world.ir.rules.find((one) => one.id === id);
    const injected = rule?.kind === "temporal" && rule.temporal.kind === "inject";
    return !injected || states[state]?.automata[index]?.bits[0] !== true;
  });
}

it(
  "law: debts and firm keeps can be met exactly where the game through plain values says so",
  () => {
    fc.assert(
      fc.property(goalDocuments, fc.gen(), (named, generate) => {
        const subject = exactSubject(named);
        if (subject === undefined || subject.policy.ir.flow === "none") return;
        met.policies += 1;
        const found = goalGame(subject, (world) =>
          Array.from({ length: startsPerPolicy }, () => generate(statesIn, world)),
        );
        if (found === undefined) {
          met.large += 1;
          return;
        }
        if (found.game.goals.length === 0) return;
        met.games += 1;
        const [all, never] = (["all", "never"] as const).map((hazards) => iterated(found.game, hazards));
        const said = saidIn(subject, found);
        found.states.forEach((state, number) => {
          if (!representable(found, number)) return;
          const expected = all?.[number] === true ? "won" : never?.[number] === true ? "asked" : "lost";
          met[expected] += 1;
          expect(said[number], `${number}: ${JSON.stringify(state)}`).toBe(expected);
        });
      }),
      { numRuns, endOnFailure: true },
    );
  },
  numRuns * 500,
);

it("the law above meets goals that can be met, and such that cannot", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.games).toBeGreaterThan(met.policies / 5);
  expect(met.won).toBeGreaterThan(met.games);
  expect(met.lost).toBeGreaterThan(met.games);
  expect(met.asked).toBeGreaterThan(0);
});
