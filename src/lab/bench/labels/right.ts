/** Whether effects that were read are what a labeller says. */
import { covers } from "../../../core/effect.ts";
import type { HandLabel } from "./hand-labelled.ts";

/** Right is what names every effect that a call surely has; and a tool that may act is never right as one that reads. */
export function isRight(effects: readonly string[], { effects: { must }, sink }: HandLabel): boolean {
  const reads = effects.every((effect) => covers("read", effect));
  return !(reads && sink) && must.every((effect) => effects.includes(effect));
}
