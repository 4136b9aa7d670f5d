/** Whether effects that were read are what a labeller says. */
import { covers } from "../../../core/effect.ts";
import type { HandLabel } from "./hand-labelled.ts";

/**
 * Right is what names every effect that a call surely has and covers each that it may have, since whoever accepts it permits no
 * other; and a tool that may act is never right as one that reads.
 */
export function isRight(effects: readonly string[], { effects: { must, may }, sink }: HandLabel): boolean {
  const reads = effects.every((effect) => covers("read", effect));
  const covered = may.every((effect) => effects.some((wider) => covers(wider, effect)));
  return !(reads && sink) && covered && must.every((effect) => effects.includes(effect));
}
