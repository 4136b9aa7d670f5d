/**
 * A counterexample in words: what is called, in order, which label goes where, and what nobody decides. At most eight
 * lines with its heading and the change that closes it, so that it is read.
 */
import { describe } from "../core/label.ts";
import type { Label, Lattice } from "../core/label.ts";
import { knownMethods } from "../policy/contracts/methods.ts";
import type { Hazard } from "../policy/ir.ts";
import type { Subject } from "./subject.ts";
import type { TraceStep } from "./trace.ts";

/** Lines for steps; a longer way shows its beginning and its end. */
export const stepLinesMax = 6;

export function renderSteps(
  { policy: { ir } }: Subject,
  hazard: Hazard,
  steps: readonly TraceStep[],
): readonly string[] {
  const lines = steps.map((step, index) => {
    const last = index === steps.length - 1;
    return `${index + 1}. ${sentence(ir.lattice, step, ir.rules)}${last ? ` <- ${hazard.id}` : ""}`;
  });
  if (lines.length <= stepLinesMax) return lines;
  const hidden = lines.length - stepLinesMax + 1;
  return [...lines.slice(0, stepLinesMax - 2), `   ... ${hidden} more steps`, ...lines.slice(-1)];
}

type Rules = readonly { readonly id: string; readonly why: string }[];

function sentence(lattice: Lattice, step: TraceStep, rules: Rules): string {
  const label = (bits: number): string => describe(lattice, bits as Label); // bits that the model made of this lattice
  switch (step.kind) {
    case "call":
      return callSentence(step, label);
    case "late":
      return `a call that was on its way succeeds late, which unlocks ${step.rule}`;
    case "tick":
      return `${span(step.withinMs)} pass, and ${named(rules, step.rule)} no longer holds what happened before`;
    case "speak":
      return `a server says something unasked, of which nothing is known (at worst ${label(step.label)})`;
    case "host-read":
      return `the client reads by itself: ${label(step.label)}`;
    case "fire":
      return `nobody decides this: ${step.group} reads ${step.store}, which holds ${label(step.label)} data`;
    case "host-send":
      return `nobody decides this: the client itself sends what it holds (${label(step.label)})`;
    case "host-execute":
      return `nobody decides this: the client itself acts on what it holds (${label(step.label)})`;
  }
}

const named = (rules: Rules, id: string): string => (rules.some((rule) => rule.id === id) ? `rule ${id}` : id);

function callSentence(step: TraceStep & { kind: "call" }, label: (bits: number) => string): string {
  const method = knownMethods.includes(step.tool);
  const name = method ? `${step.tool} of ${step.server}` : `${step.server}.${step.tool}`;
  const args = step.arguments.map(
    (argument) => `${argument.name === "" ? "an argument" : argument.name}: ${label(argument.label)}`,
  );
  const parts = [
    `${step.run === "other" ? "another run calls " : ""}${name}${args.length === 0 ? "" : `(${args.join("; ")})`}`,
  ];
  if (step.gained !== undefined && step.gained !== 0) parts.push(`returns ${label(step.gained)} data`);
  for (const { store, label: now, opened } of step.stored) {
    parts.push(
      opened.length > 0 ? `opens ${store} to ${opened.join(" and ")}` : `${store} now holds ${label(now)} data`,
    );
  }
  if (step.key === "other") parts.push("for another key");
  return parts.join(", ");
}

/** Milliseconds in the largest unit that is whole. */
export function span(milliseconds: number): string {
  const units = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
    [1_000, "second"],
  ] as const;
  for (const [size, name] of units) {
    const count = milliseconds / size;
    if (Number.isInteger(count) && count > 0) return `${count} ${name}${count === 1 ? "" : "s"}`;
  }
  return `${milliseconds} ms`;
}
