/** Which arguments carry what a verdict rests on, and where their values came from: the facts of an explanation. */
import { describe } from "../core/label.ts";
import type { Lattice } from "../core/label.ts";
import type { ArgumentLabel, CallOption } from "../core/moment.ts";

export type Culprit = { readonly argument: string; readonly label: string; readonly origin: string };

/** Arguments whose upper label has any of these restrictions, worst first. */
export function culprits(lattice: Lattice, option: CallOption, restrictions: number): readonly Culprit[] {
  const found = [...option.arguments].filter(([, label]) => (label.range.hi & restrictions) !== 0);
  return found
    .map(([argument, label]) => ({
      argument,
      label: describe(lattice, label.range.hi),
      origin: originOf(label, restrictions),
    }))
    .sort((left, right) => (left.argument < right.argument ? -1 : 1));
}

/** `calendar.list_events /events/0/title`, or what else is known of the value. */
function originOf(label: ArgumentLabel, restrictions: number): string {
  const step = label.path.find((one) => (one.label & restrictions) !== 0) ?? label.path[0];
  if (step === undefined) return label.range.lo === label.range.hi ? "what this run has read" : "an unknown source";
  if (step.origin === "context") return "what this run has read";
  if (step.server === undefined || step.tool === undefined) return `the ${step.origin}`;
  return step.pointer === "" ? `${step.server}.${step.tool}` : `${step.server}.${step.tool} ${step.pointer}`;
}

/** Facts of a reason, from its culprits: parallel lists, so that the renderer needs no further structure. */
export function culpritFacts(found: readonly Culprit[]): Readonly<Record<string, readonly string[]>> {
  if (found.length === 0) return {};
  return {
    arguments: found.map((one) => one.argument),
    labels: found.map((one) => one.label),
    origins: found.map((one) => one.origin),
  };
}
