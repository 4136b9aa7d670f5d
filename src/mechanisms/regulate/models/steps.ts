/**
 * The part of a run that a world model sees: instruction and last steps, bounded before they are kept. Long arguments keep
 * their beginning and end; a model is asked about a call, not made to read a file.
 */
import type { RunEvent } from "../../../core/event.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { type Label, type Lattice, join } from "../../../core/label.ts";
import type { CallOption } from "../../../core/moment.ts";
import type { PredictionStep } from "../../../core/questions/prediction.ts";
import { toldArguments } from "../../../core/questions/told-arguments.ts";
import { restrictionNames } from "../../../core/explain/restriction-names.ts";
import { contractFor } from "../../../policy/ir/ir.ts";

/** Steps that are kept; an older one has left its mark in the labels. */
export const stepsMax = 16;

/** Characters of the instruction. */
export const instructionCharactersMax = 4_000;

export type Steps = {
  readonly instruction: string;
  readonly done: readonly (PredictionStep & { readonly call: string })[];
  /** ⊔ of everything in here, the instruction's own label aside. */
  readonly evidence: Label;
};

export function noSteps(lattice: Lattice): Steps {
  return { instruction: "", done: [], evidence: lattice.bottom };
}

/** `labelOf` is the label of all that the arguments of a call may hold. */
export function stepsAfter(
  lattice: Lattice,
  memory: Steps,
  event: RunEvent,
  labelOf: (option: CallOption) => Label,
): Steps {
  switch (event.kind) {
    case "registered":
      return event.text.source === "instruction" ? { ...memory, instruction: textOf(event.text.value) } : memory;
    case "dispatched": {
      const step = { ...stepOf(event.option, event.arguments), call: event.call };
      const evidence = join(memory.evidence, labelOf(event.option));
      // Half of them go at once: a model that keeps what it read of a prompt reads only what is new.
      const done = memory.done.length < stepsMax ? memory.done : memory.done.slice(stepsMax / 2);
      return { ...memory, done: [...done, step], evidence };
    }
    case "succeeded":
    case "failed":
    case "unknown":
      return withStep(memory, event.call, { outcome: event.kind });
    case "released": {
      if (event.call === undefined || event.how !== "pass") return memory;
      const label = event.fields.reduce((all, field) => join(all, field.range.hi), event.label.hi);
      return withStep(memory, event.call, { brought: restrictionNames(lattice, label) });
    }
    case "begun":
    case "refused":
    case "foreseen":
    case "granted":
    case "ended":
      return memory;
  }
}

/** The step that a call would be. */
export function stepOf(option: CallOption, given: JsonObject): PredictionStep {
  const { server, tool } = option.contract;
  const { effects } = contractFor(option.contract, option.class.truths);
  const declared = [...option.contract.arguments.keys()].filter((name) => Object.hasOwn(given, name));
  return {
    server,
    tool,
    effects: effects.may,
    arguments: toldArguments(given, declared),
    declared,
    brought: [],
    outcome: "pending",
  };
}

function withStep(memory: Steps, call: string, change: Partial<PredictionStep>): Steps {
  return { ...memory, done: memory.done.map((step) => (step.call === call ? { ...step, ...change } : step)) };
}

function textOf(value: Json): string {
  return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, instructionCharactersMax);
}
