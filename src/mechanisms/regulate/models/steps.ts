/**
 * The part of a run that a world model sees: instruction and last steps, bounded before they are kept. Long arguments keep
 * their beginning and end; a model is asked about a call, not made to read a file.
 */
import type { RunEvent } from "../../../core/event.ts";
import { type Json, type JsonObject, isArray, isObject, isRawNumber } from "../../../core/json.ts";
import { type Label, type Lattice, join } from "../../../core/label.ts";
import type { CallOption } from "../../../core/moment.ts";
import type { PredictionStep } from "../../../core/questions/prediction.ts";
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

/** Characters of one step's arguments as JSON. */
export const argumentCharactersMax = 2_000;

/** Less than this of a long value is not worth its place. */
const partCharactersMin = 80;

/**
 * All of them where they are short. Else the declared ones before those that the agent made up, the shorter before the
 * longer: a mail with a long body still has its recipient, and padding pushes nothing out that the schema names.
 */
export function toldArguments(given: JsonObject, declared: readonly string[]): JsonObject {
  if (JSON.stringify(given).length <= argumentCharactersMax) return given;
  const known = new Set(declared);
  const rank = (name: string): number => (known.has(name) ? 0 : 1);
  const sized = Object.entries(given).map(([name, value]) => ({ name, value, length: JSON.stringify(value).length }));
  sized.sort((left, right) => rank(left.name) - rank(right.name) || left.length - right.length);
  const told = new Map<string, Json>();
  // The braces, and of each member its name, a colon and a comma.
  let left = argumentCharactersMax - 2;
  for (const { name, value, length } of sized) {
    const room = left - JSON.stringify(name).length - 2;
    if (length > room && room < partCharactersMin) continue;
    const kept = length <= room ? value : partOf(value, room);
    told.set(name, kept);
    left = room - JSON.stringify(kept).length;
  }
  return Object.fromEntries(Object.keys(given).flatMap((name) => entryOf(told, name)));
}

function entryOf(told: ReadonlyMap<string, Json>, name: string): readonly (readonly [string, Json])[] {
  const value = told.get(name);
  return value === undefined ? [] : [[name, value]];
}

/** The beginning and the end of a value, of the same kind as it. */
function partOf(value: Json, room: number): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  let characters = room;
  let part = wrapped(value, cut(text, characters));
  // An escaped character of JSON takes up to six times its length.
  while (JSON.stringify(part).length > room) {
    characters = Math.floor(characters * 0.75);
    part = wrapped(value, cut(text, characters));
  }
  return part;
}

function wrapped(value: Json, part: string): Json {
  if (isArray(value)) return [part];
  return isObject(value) && !isRawNumber(value) ? { "": part } : part;
}

function cut(text: string, characters: number): string {
  const head = text.slice(0, Math.ceil(characters * 0.75));
  const tail = text.slice(text.length - Math.floor(characters * 0.25));
  // A cut through a surrogate pair would leave half of it, which no canonical form has.
  return `${head} [${text.length - head.length - tail.length} characters left out] ${tail}`.toWellFormed();
}
