/** A context as the heads see it: parsed once, then asked for the features of its call and of each of its tools. */
import type { PredictionContext, PredictionStep } from "../../../core/questions/prediction.ts";
import { type Instruction, argumentFacts, readInstruction, rememberValues, withLeftOut } from "./arguments.ts";
import { deedsOf } from "./deeds.ts";
import { type CallSubject, bringFeatures, toolFeatures } from "./features.ts";
import { held, heldBits } from "./held.ts";
import { type RunState, after, noServer, readState, stepsMax } from "./run-state.ts";
import { type Weights, judged } from "./weights.ts";
import { wordHashes } from "./words.ts";

export type View = {
  readonly state: RunState;
  readonly instruction: Instruction;
  readonly call: { readonly step: PredictionStep; readonly subject: CallSubject } | undefined;
};

export function viewOf(context: PredictionContext): View {
  const state = readState(context);
  const instruction = readInstruction(context.instruction);
  const step = context.pending;
  if (step === undefined) return { state, instruction, call: undefined };
  const steps = context.steps.slice(-stepsMax);
  const earlier = new Set<string>();
  for (const one of steps) rememberValues(one.arguments, earlier);
  const previous = steps.at(-1);
  const subject: CallSubject = {
    state,
    server: state.servers.get(step.server) ?? noServer,
    deeds: deedsOf(step.effects),
    nameWords: wordHashes(step.tool),
    instruction,
    facts: argumentFacts(withLeftOut(step), instruction, earlier),
    previous: previous === undefined ? undefined : deedsOf(previous.effects),
  };
  return { state, instruction, call: { step, subject } };
}

/** Bits that the result is expected to bring: what the policy's labels say, else what the heads guess. */
export function expectedBits(
  step: PredictionStep,
  subject: CallSubject,
  heads: Pick<Weights, "private" | "secret" | "untrusted">,
): number {
  if (step.brought.length > 0) return heldBits(step.brought);
  const features = bringFeatures(subject);
  return (
    (judged(heads.private, features) >= 0.5 ? held.private : 0) |
    (judged(heads.secret, features) >= 0.5 ? held.secret : 0) |
    (judged(heads.untrusted, features) >= 0.5 ? held.untrusted : 0)
  );
}

/** The state in which the next list is shown: after the call if it runs, else as it is. */
export function nextState(view: View, brought: number | undefined): RunState {
  const { state, call } = view;
  return call === undefined || brought === undefined ? state : after(state, call.step, brought);
}

/** Features of each tool of the list in a state, in the order of the list. */
export function listedFeatures(
  tools: PredictionContext["tools"],
  state: RunState,
  instruction: Instruction,
): readonly (readonly number[])[] {
  return tools.map(({ name, effects }) => {
    const dot = name.indexOf(".");
    const server = dot < 0 ? undefined : state.servers.get(name.slice(0, dot));
    return toolFeatures({
      state,
      server: server ?? noServer,
      deeds: deedsOf(effects),
      nameWords: wordHashes(dot < 0 ? name : name.slice(dot + 1)),
      instruction,
    });
  });
}
