/**
 * Weights of effects. The unit is reading one file of this machine; the other numbers say how much harder an act is to
 * notice, to contain and to take back, and how much more can follow from it without another question. Only their order
 * matters, since the budget has the same unit.
 */
import { type Effect, effectActions, everyEffect } from "../../core/effect.ts";

/** Where something happens. What leaves the machine cannot be taken back; code can do whatever its user can. */
const places: { readonly [place: string]: number } = {
  "read.local": 1,
  // Where an address or a query is chosen by the agent, a read also tells something.
  "read.external": 2,
  "write.local": 3,
  "write.external": 8,
  "execute.local": 20,
  "execute.external": 24,
};

/** Weight of the action, on top of the place. */
const actions: { readonly [action in (typeof effectActions)[number]]: number } = {
  // One message to one place: bad when wrong, but over when it is sent.
  send: 4,
  publish: 6,
  delete: 8,
  // Effects that happen later, unobserved.
  schedule: 8,
  share: 10,
  // Things in the world, and standing orders to others: effects that go on without the run.
  actuate: 16,
  webhook: 16,
  pay: 20,
  // Power that makes power: a change of settings, rights or keys decides what can be done next.
  config: 20,
  grant: 24,
  credential: 32,
};

const builtIn: ReadonlyMap<Effect, number> = new Map(
  Object.entries(places).flatMap(([place, weight]) => [
    [place, weight] as const,
    ...effectActions.map((action) => [`${place}.${action}`, weight + actions[action]] as const),
  ]),
);

/** Sums are made of whole thousandths, so that no order of addition can round one way or the other. */
const partsOfOne = 1_000;

/** The prefix without its last word: `write.external` of `write.external.send`. */
function above(effect: Effect): Effect {
  return effect.slice(0, Math.max(0, effect.lastIndexOf(".")));
}

/** The policy's weight of the effect or of the nearest effect above it, else the built-in weight. */
function spoken(effect: Effect, weights: ReadonlyMap<Effect, number>): number {
  for (let at = effect; at !== ""; at = above(at)) {
    const own = weights.get(at);
    if (own !== undefined) return own;
  }
  // Every complete effect has a row; one that is not complete never gets here.
  return builtIn.get(effect) ?? 0;
}

/**
 * Weight of a complete effect in thousandths. A send also writes to the outside, so an action weighs no less than its
 * place, whatever a policy says.
 */
function weightOf(effect: Effect, weights: ReadonlyMap<Effect, number>): number {
  const place = above(effect);
  const own = spoken(effect, weights);
  return Math.round(partsOfOne * (place.includes(".") ? Math.max(own, spoken(place, weights)) : own));
}

/** Effects that a path can stand for: itself, or all of a base such as `write`, which leaves everything open. */
export function completed(effects: Iterable<Effect>): ReadonlySet<Effect> {
  const found = new Set<Effect>();
  for (const effect of effects) {
    if (effect.includes(".")) found.add(effect);
    else for (const one of everyEffect) if (one.startsWith(`${effect}.`)) found.add(one);
  }
  return found;
}

/**
 * Power of a set of effects, in the units of the weights. Effects add up once each, however often they were used; an
 * effect without an action counts only where none with an action stands below it. Monotone in effects and in weights.
 */
export function powerOf(effects: ReadonlySet<Effect>, weights: ReadonlyMap<Effect, number>): number {
  const held = completed(effects);
  let parts = 0;
  for (const effect of held) {
    const outdone = Object.hasOwn(places, effect) && effectActions.some((one) => held.has(`${effect}.${one}`));
    if (!outdone) parts += weightOf(effect, weights);
  }
  return parts / partsOfOne;
}
