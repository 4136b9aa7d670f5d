/** The interface of a mechanism, and the engine that runs a set of them (system.md 3). All functions are pure and total. */
import type { RunEvent } from "./event.ts";
import type { ArgumentLabel, CallClass, CallMoment, CallOption, Moment } from "./moment.ts";
import type { Answers, Opinion } from "./opinion.ts";
import type { Result } from "./result.ts";
import type { ModelState, Run } from "./run.ts";

/**
 * A moment with the option that the engine made of it; only calls have one. A call is judged as an entry of the list as
 * well, and that view carries the option too: a mechanism then judges this call instead of every possible one.
 */
export type MomentWithOption = { readonly moment: Moment; readonly option: CallOption | undefined };

/**
 * A mechanism considers moments and remembers events. It does no I/O and asks for facts as data. A throw is a deny. The
 * hook `label` is optional: it gives the labels of a call's arguments. The engine takes the first mechanism that has it;
 * without one, labels are unknown, the worst case.
 */
export interface Mechanism<M> {
  readonly id: string;
  readonly version: number;
  /** A fresh memory, one for each run: a memory may be a private mutable index. */
  initial(): M;
  /** Judges a moment of a run. `answers` holds what was asked so far for this moment. */
  consider(judged: MomentWithOption, run: Run, memory: M, answers: Answers): Opinion;
  /** The memory after an event; `run` is the run after it. */
  remember(memory: M, event: RunEvent, run: Run): M;
  /** A copy that goes on by itself, of a memory that is changed in place; any other is its own copy. */
  copy?(memory: M): M;
  /** Does some milliseconds of work that the memory puts off until it is asked; true while some is left. Changes no answer. */
  settle?(memory: M): boolean;
  label?(moment: CallMoment, run: Run, memory: M): ReadonlyMap<string, ArgumentLabel>;
}

/** A mechanism whose memory type is hidden, so that one engine can hold mechanisms of different memories. */
export interface SealedMechanism {
  readonly id: string;
  readonly version: number;
  /** True where the mechanism has the hook `label`. */
  readonly labels: boolean;
  initial(): unknown;
  consider(judged: MomentWithOption, run: Run, memory: unknown, answers: Answers): Opinion;
  remember(memory: unknown, event: RunEvent, run: Run): unknown;
  copy(memory: unknown): unknown;
  settle(memory: unknown): boolean;
  label(moment: CallMoment, run: Run, memory: unknown): ReadonlyMap<string, ArgumentLabel>;
}

/** The transition system of a run (formal.md 4.1); `policy/semantics` implements it. */
export interface Model {
  /** State of a new run that takes over the shared part (stores) of another state; undefined = nothing is shared yet. */
  initial(shared: ModelState | undefined): ModelState;
  /** The class of a concrete call: truth of argument predicates, keys, amounts. */
  classify(moment: CallMoment): CallClass;
  /** Labels of arguments without a labelling mechanism: the worst case, for every argument of the call. */
  unknownLabels(moment: CallMoment): ReadonlyMap<string, ArgumentLabel>;
  /** The state after an event. An event that is not a move of the model is an error, and its call is denied. */
  next(q: ModelState, event: RunEvent): Result<ModelState, string>;
}

/** One policy, ready to decide: its model and its mechanisms. */
export type Engine = {
  readonly model: Model;
  readonly mechanisms: readonly SealedMechanism[];
};

/** Hides a mechanism's memory type. The cast is sound: a memory only comes back to the mechanism that made it. */
export function seal<M>(mechanism: Mechanism<M>): SealedMechanism {
  return {
    id: mechanism.id,
    version: mechanism.version,
    labels: mechanism.label !== undefined,
    initial: () => mechanism.initial(),
    consider: (judged, run, memory, answers) => mechanism.consider(judged, run, memory as M, answers),
    remember: (memory, event, run) => mechanism.remember(memory as M, event, run),
    copy: (memory) => (mechanism.copy === undefined ? memory : mechanism.copy(memory as M)),
    settle: (memory) => mechanism.settle?.(memory as M) ?? false,
    label: (moment, run, memory) => mechanism.label?.(moment, run, memory as M) ?? new Map(),
  };
}

/** A new run. `key` names it; `shared` as in `Model.initial`. */
export function begin(engine: Engine, key: string, shared: ModelState | undefined): Run {
  const memories = new Map(engine.mechanisms.map((mechanism) => [mechanism.id, mechanism.initial()]));
  return { key, q: engine.model.initial(shared), memories };
}

/** Another run that is where `run` is, and goes on from there by itself. */
export function branched(engine: Engine, run: Run, key: string): Run {
  const copies = engine.mechanisms.map((one): [string, unknown] => [one.id, one.copy(run.memories.get(one.id))]);
  const memories = new Map(copies);
  return { key, q: run.q, memories };
}

/** Does a part of what the memories of a run put off; true while some is left. */
export function settlesOn(engine: Engine, { memories }: Pick<Run, "memories">): boolean {
  return engine.mechanisms.some((one) => one.settle(memories.get(one.id)));
}
