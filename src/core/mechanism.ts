/** The contract of a mechanism, and of the engine that runs a set of them. All functions are pure and total. */
import type { RunEvent } from "./event.ts";
import type { ArgumentLabel, CallClass, CallMoment, CallOption, Moment } from "./moment.ts";
import type { Answers, Opinion } from "./opinion.ts";
import type { Result } from "./result.ts";
import type { Run } from "./run.ts";

/**
 * A moment with the option that the engine made of it. A call is judged as a list entry, too, and then both have its option:
 * what the entry alone would say of every possible call, the mechanism says better of this one.
 */
export type Judged = { readonly moment: Moment; readonly option: CallOption | undefined };

/**
 * A mechanism considers moments and remembers events; it does no I/O, and asks for facts as data. One hook is optional:
 * `label` gives the labels of a call's arguments (at most one mechanism of an engine has it; without it they are
 * unknown, the worst case).
 */
export interface Mechanism<M, Q> {
  readonly id: string;
  readonly version: number;
  /** A fresh memory for a new run. Called anew for each run, since a memory may be a private mutable index. */
  initial(): M;
  consider(judged: Judged, run: Run<Q>, memory: M, answers: Answers): Opinion;
  remember(memory: M, event: RunEvent, run: Run<Q>): M;
  label?(moment: CallMoment, run: Run<Q>, memory: M): ReadonlyMap<string, ArgumentLabel>;
}

/** A mechanism whose memory type is hidden, so that engines can hold mechanisms of different memories. */
export interface SealedMechanism<Q> {
  readonly id: string;
  readonly version: number;
  readonly labels: boolean;
  initial(): unknown;
  consider(judged: Judged, run: Run<Q>, memory: unknown, answers: Answers): Opinion;
  remember(memory: unknown, event: RunEvent, run: Run<Q>): unknown;
  label(moment: CallMoment, run: Run<Q>, memory: unknown): ReadonlyMap<string, ArgumentLabel>;
}

/** The transition system that the run moves in (policy/semantics through an adapter). */
export interface Model<Q> {
  /** State of a new run over the shared part of another state; undefined = nothing shared yet. */
  initial(shared: Q | undefined): Q;
  /** The class of a concrete call: truth of argument predicates, keys, amounts. */
  classify(moment: CallMoment): CallClass;
  /** Labels of arguments when no mechanism knows better: the worst case. */
  unknownLabels(moment: CallMoment): ReadonlyMap<string, ArgumentLabel>;
  /** The move that an event is; an event that is no move of the model is an error, and its call is denied (R3). */
  next(q: Q, event: RunEvent): Result<Q, string>;
}

export type Engine<Q> = {
  readonly model: Model<Q>;
  readonly mechanisms: readonly SealedMechanism<Q>[];
};

/** Hides a mechanism's memory type. The one cast is sound: a memory only ever comes back to the mechanism it is from. */
export function seal<M, Q>(mechanism: Mechanism<M, Q>): SealedMechanism<Q> {
  return {
    id: mechanism.id,
    version: mechanism.version,
    labels: mechanism.label !== undefined,
    initial: () => mechanism.initial(),
    consider: (judged, run, memory, answers) => mechanism.consider(judged, run, memory as M, answers),
    remember: (memory, event, run) => mechanism.remember(memory as M, event, run),
    label: (moment, run, memory) => mechanism.label?.(moment, run, memory as M) ?? new Map(),
  };
}

export function begin<Q>(engine: Engine<Q>, key: string, shared: Q | undefined): Run<Q> {
  const memories = new Map(engine.mechanisms.map((mechanism) => [mechanism.id, mechanism.initial()]));
  return { key, q: engine.model.initial(shared), memories };
}
