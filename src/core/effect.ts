/**
 * What a call does to the world (the paper's `capabilities`), as dotted paths such as `write.external.send`.
 *
 * An effect has a base (`read`, `write`, `execute`), a reach (`local`, `external`) and at most one kind of action. A
 * shorter path is a prefix that matches every longer one. What a tool does may be uncertain: `must` is done for sure,
 * `may` is all it could do. Restrictions look at `may`, permissions at `must`.
 */
export type Effect = string & { readonly effectBrand?: never };

export type EffectRange = { readonly must: readonly Effect[]; readonly may: readonly Effect[] };

export type EffectFlags = { readonly irreversible: boolean; readonly openWorld: boolean };

export const effectBases = ["read", "write", "execute"] as const;
export const effectReaches = ["local", "external"] as const;
export const effectActions = [
  "send",
  "publish",
  "delete",
  "pay",
  "grant",
  "share",
  "schedule",
  "webhook",
  "credential",
  "config",
  "actuate",
] as const;

/** Everything a tool could do of which nothing is known. */
export const everyEffect: readonly Effect[] = effectBases.flatMap((base) =>
  effectReaches.flatMap((reach) => [
    `${base}.${reach}`,
    ...effectActions.map((action) => `${base}.${reach}.${action}`),
  ]),
);

/** True iff the text is an effect path or a prefix of one. */
export function isEffect(text: string): boolean {
  const parts = text.split(".");
  const has = (list: readonly string[], part: string | undefined): boolean => part === undefined || list.includes(part);
  return (
    parts.length <= 3 && has(effectBases, parts[0]) && has(effectReaches, parts[1]) && has(effectActions, parts[2])
  );
}

/** True iff the pattern, a path or a prefix, covers the effect. */
export function covers(pattern: Effect, effect: Effect): boolean {
  return effect === pattern || effect.startsWith(`${pattern}.`);
}

/** Whatever either says: both are believed of the same call. */
export function unionOfEffects(left: EffectRange, right: EffectRange): EffectRange {
  const both = (one: readonly Effect[], two: readonly Effect[]): readonly Effect[] =>
    [...new Set([...one, ...two])].toSorted();
  return { must: both(left.must, right.must), may: both(left.may, right.may) };
}

/**
 * Some effect of the list is, or could be, one that the pattern covers. An effect that names no reach (`write`) could
 * be any of its longer forms; one with base and reach (`write.local`) is complete, and means no special action.
 */
export function mayCover(pattern: Effect, effects: readonly Effect[]): boolean {
  // A tool of which nothing is known has every effect, and a list of a thousand such tools is judged at every change.
  if (effects.length <= unrememberedMax) return someCovers(pattern, effects);
  let known = covered.get(effects);
  if (known === undefined) covered.set(effects, (known = new Map()));
  let answer = known.get(pattern);
  if (answer === undefined) known.set(pattern, (answer = someCovers(pattern, effects)));
  return answer;
}

/** Lists up to this length are looked through at once; answers about longer ones are remembered by pattern. */
const unrememberedMax = 4;

/** Patterns come from the policy and from this code, so there are only so many. */
const covered = new WeakMap<readonly Effect[], Map<Effect, boolean>>();

function someCovers(pattern: Effect, effects: readonly Effect[]): boolean {
  return effects.some((effect) => covers(pattern, effect) || (!effect.includes(".") && covers(effect, pattern)));
}

/** Some effect of the list is surely covered by the pattern. */
export function mustCover(pattern: Effect, effects: readonly Effect[]): boolean {
  return effects.some((effect) => covers(pattern, effect));
}
