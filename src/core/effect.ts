/**
 * Effects of a call on the world (the `capabilities` of arXiv 2601.08012), as dotted paths such as `write.external.send`:
 * a base (`read`, `write`, `execute`), a reach (`local`, `external`) and at most one action. A shorter path is a prefix
 * that matches every longer one.
 */
export type Effect = string & { readonly effectBrand?: never };

/**
 * Uncertain effects: `must` surely happens, `may` is everything that could happen. Restrictions look at `may`, permissions
 * at `must`.
 */
export type EffectRange = { readonly must: readonly Effect[]; readonly may: readonly Effect[] };

/** `irreversible`: cannot be undone. `openWorld`: reaches systems outside the policy (MCP `openWorldHint`). */
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

/** The effects of a tool without any statement about it: all of them. */
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

/** True iff the effect is the pattern, or the pattern is a prefix of it. */
export function covers(pattern: Effect, effect: Effect): boolean {
  return effect === pattern || effect.startsWith(`${pattern}.`);
}

/** The effects that either range names; both are statements about the same call. */
export function unionOfEffects(left: EffectRange, right: EffectRange): EffectRange {
  const both = (one: readonly Effect[], two: readonly Effect[]): readonly Effect[] =>
    [...new Set([...one, ...two])].toSorted();
  return { must: both(left.must, right.must), may: both(left.may, right.may) };
}

/**
 * True iff the pattern covers, or could cover, an effect of the list. An effect that names no reach (`write`) could
 * be any of its longer forms; one with base and reach (`write.local`) is complete, and means no special action.
 */
export function mayCover(pattern: Effect, effects: readonly Effect[]): boolean {
  // An unknown tool has every effect, and a list of a thousand such tools is judged at every change.
  if (effects.length <= unrememberedMax) return someCovers(pattern, effects);
  let known = covered.get(effects);
  if (known === undefined) covered.set(effects, (known = new Map()));
  let answer = known.get(pattern);
  if (answer === undefined) known.set(pattern, (answer = someCovers(pattern, effects)));
  return answer;
}

/** Lists up to this length are searched each time; answers about longer ones are kept by pattern. */
const unrememberedMax = 4;

/** Bounded: patterns come from the policy and from this code. */
const covered = new WeakMap<readonly Effect[], Map<Effect, boolean>>();

function someCovers(pattern: Effect, effects: readonly Effect[]): boolean {
  return effects.some((effect) => covers(pattern, effect) || (!effect.includes(".") && covers(effect, pattern)));
}

/** True iff the pattern surely covers an effect of the list. */
export function mustCover(pattern: Effect, effects: readonly Effect[]): boolean {
  return effects.some((effect) => covers(pattern, effect));
}
