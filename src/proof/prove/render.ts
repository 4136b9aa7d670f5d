/**
 * A counterexample as text: the calls in order, the label of each value, and the moves that the gateway does not
 * decide. At most eight lines with its heading and the change that closes it.
 */
import { describe, type Label, type Lattice } from "../../core/label.ts";
import { knownMethods } from "../../policy/contracts/methods.ts";
import type { Hazard } from "../../policy/ir/ir.ts";
import type { Subject } from "./subject.ts";
import type { TraceStep } from "./trace.ts";

/** Lines for steps; a longer counterexample shows its beginning and its end. */
export const stepLinesMax = 6;

/** Steps of a counterexample on one line. */
export const shortStepsMax = 3;

export function renderSteps(
  { policy: { ir } }: Subject,
  hazard: Hazard,
  steps: readonly TraceStep[],
): readonly string[] {
  const told = folded(
    steps.map((step, index) => sentence(ir.lattice, step, { rules: ir.rules, after: steps.slice(index + 1) })),
  );
  const lines = told.map((line, index) => (index === told.length - 1 ? `${line} <- ${hazard.id}` : line));
  if (lines.length <= stepLinesMax) return lines;
  const hidden = lines.length - stepLinesMax + 1;
  return [...lines.slice(0, stepLinesMax - 2), `   ... ${hidden} more steps`, ...lines.slice(-1)];
}

/** The same on one line, for a counterexample that is only mentioned. */
export function renderShortly({ policy: { ir } }: Subject, steps: readonly TraceStep[]): string {
  const told = folded(
    steps.map((step, index) => sentence(ir.lattice, step, { rules: ir.rules, after: steps.slice(index + 1) })),
  );
  if (told.length <= shortStepsMax) return told.join("; ");
  return [...told.slice(0, shortStepsMax - 1), "...", ...told.slice(-1)].join("; ");
}

/** Numbered lines, in which the same step several times in a row is one line. */
function folded(sentences: readonly string[]): readonly string[] {
  const lines: { first: number; count: number; text: string }[] = [];
  sentences.forEach((text, index) => {
    const last = lines.at(-1);
    if (last?.text === text) last.count += 1;
    else lines.push({ first: index + 1, count: 1, text });
  });
  return lines.map(({ first, count, text }) =>
    count === 1 ? `${first}. ${text}` : `${first}.-${first + count - 1}. ${text}, ${count} times`,
  );
}

/** Context of the sentence about one step: rules by name, and the following steps. */
type Around = { readonly rules: Rules; readonly after: readonly TraceStep[] };

type Rules = readonly { readonly id: string; readonly why: string }[];

function sentence(lattice: Lattice, step: TraceStep, { rules, after }: Around): string {
  const label = (bits: number): string => describe(lattice, bits as Label); // bits that the model made of this lattice
  switch (step.kind) {
    case "call":
      return callSentence(step, label, after);
    case "late":
      return `an earlier call is answered only now, and ${named(rules, step.rule)} takes that for a new one`;
    case "tick":
      return `wait ${span(step.withinMs)}: ${named(rules, step.rule)} has forgotten`;
    case "speak":
      return `a server says something unasked: nothing is known of it, at worst it is ${label(step.label)}`;
    case "host-read":
      return `nobody decides this: the client itself reads ${label(step.label)} data`;
    case "fire":
      return `nobody decides this: ${step.group} reads ${step.store}, which holds ${label(step.label)} data`;
    case "host-send":
      return `nobody decides this: the client itself sends what it holds (${label(step.label)})`;
    case "host-execute":
      return `nobody decides this: the client itself acts on what it holds (${label(step.label)})`;
  }
}

const named = (rules: Rules, id: string): string => (rules.some((rule) => rule.id === id) ? `rule ${id}` : id);

function callSentence(
  step: TraceStep & { kind: "call" },
  label: (bits: number) => string,
  after: readonly TraceStep[],
): string {
  const method = knownMethods.includes(step.tool);
  const name = method ? `${step.tool} of ${step.server}` : `${step.server}.${step.tool}`;
  const args = step.arguments.map(
    (argument) => `${argument.name === "" ? "an argument" : argument.name}: ${label(argument.label)}`,
  );
  const caller = step.run === "other" ? "another run: " : "";
  const parts = [`${caller}${name}${args.length === 0 ? "" : `(${args.join("; ")})`}`];
  if (step.gained !== undefined && step.gained !== 0) parts.push(`returns ${label(step.gained)} data`);
  // State after the last call is not part of the counterexample.
  for (const { store, label: now, opened } of after.length === 0 ? [] : step.stored) {
    if (opened.length > 0) parts.push(`opens ${store} to ${opened.join(" and ")}`);
    else if (now !== 0) parts.push(`${store} now holds ${label(now)} data`);
  }
  const answered = after.find(({ kind }) => kind === "late");
  if (answered?.kind === "late" && step.waiting.includes(answered.rule)) parts.push("not answered yet");
  if (step.key === "other") parts.push("for another key");
  if (step.key === "unreadable") parts.push("for a key that cannot be read");
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
