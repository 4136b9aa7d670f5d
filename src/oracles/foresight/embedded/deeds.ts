/**
 * Effects of a call as bits that generalise to unknown tools: the shapes of harm are few (formal.md 4.5), while names are
 * many.
 */
import { effectActions } from "../../../core/effect.ts";
import { hashText } from "./words.ts";

export const deed = {
  /** Data may reach an outside reader through this call. */
  leaves: 1,
  /** Its doing is felt outside the conversation, and a stranger's text must not steer it. */
  consequential: 2,
  /** It opens a channel that is used later without a call. */
  opens: 4,
  /** It starts something that acts on its own later. */
  unattended: 8,
  /** Everybody sees it. */
  public: 16,
  /** It gives the run itself more rights. */
  elevates: 32,
  /** It puts what the agent knows into the store of its server. */
  writes: 64,
  reads: 128,
  /** Its effects are not known. */
  unknown: 256,
} as const;

/** More effects than a real tool has: then nothing is known of it. */
const effectsKnownMax = 12;
const effectUnitsMax = 64;

const consequentialActions: readonly string[] = effectActions;

export type Deeds = {
  readonly bits: number;
  /** Hashes of the effect paths, in the order given. */
  readonly atoms: readonly number[];
};

const nothingKnown: Deeds = { bits: deed.unknown, atoms: [hashText("unknown")] };

/** The deeds of a list of effect paths. */
export function deedsOf(effects: readonly string[]): Deeds {
  if (effects.length === 0 || effects.length > effectsKnownMax) return nothingKnown;
  let bits = 0;
  const atoms: number[] = [];
  for (const effect of effects) {
    // No effect path is longer; what is, matches none.
    if (effect.length > effectUnitsMax) return nothingKnown;
    bits |= bitsOf(effect);
    atoms.push(hashText(effect));
  }
  return { bits, atoms };
}

function bitsOf(effect: string): number {
  const [base, reach, action] = effect.split(".", 3);
  if (reach === undefined) return deed.unknown | (base === "read" ? deed.reads : deed.writes);
  if (base === "read") return deed.reads;
  if (base === "execute") return deed.consequential | (reach === "external" ? deed.leaves : 0);
  if (action === undefined) return deed.writes;
  let bits = consequentialActions.includes(action) ? deed.consequential : 0;
  if (action === "send" || action === "pay") bits |= deed.leaves;
  if (action === "publish") bits |= deed.leaves | deed.public;
  if (action === "share") bits |= deed.opens | deed.public;
  if (action === "grant" || action === "webhook") bits |= deed.opens;
  if (action === "schedule") bits |= deed.unattended;
  if (action === "credential") bits |= deed.elevates;
  return bits;
}
