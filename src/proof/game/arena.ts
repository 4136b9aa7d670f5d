/**
 * A game between the gateway, which may refuse calls and results, and its environment (formal.md 4.5), over decision
 * diagrams. State variables are the levels 0 to `stateCount` - 1; every level from there on is a choice.
 * `goal-arena.ts` and `safety-arena.ts` make arenas of policies; the solver does not know policies.
 */
import type { Diagram, Node } from "../prove/diagram.ts";

/** New functions for the state variables that change. */
export type Update = ReadonlyMap<number, Node>;

/** Where a move is bad: for hazards with `consent: never`, and for those with `consent: may`. */
export type Bad = { readonly never: Node; readonly may: Node };

/** The gateway's choices for a result, in order of preference. */
export type Release = {
  readonly kind: "pass" | "withhold" | "reject";
  /** State after the whole round, as a function of the state before it. */
  readonly next: Update;
  readonly bad: Bad;
};

/** One way in which a call can end. */
export type Outcome = { readonly failed: boolean; readonly releases: readonly Release[] };

/**
 * A class of calls. All nodes are functions of the state before the call and of the agent's choices (labels of
 * arguments); other choices do not occur, since each outcome and each release is listed.
 */
export type Round = {
  readonly name: string;
  /** The rules do not deny it; and they do not ask either. */
  readonly open: Node;
  readonly free: Node;
  /** The dispatch itself is bad. */
  readonly bad: Bad;
  /** State between dispatch and release, in which fire moves happen in the middle of the round. */
  readonly middle: Update;
  readonly outcomes: readonly Outcome[];
};

/** Uncontrollable moves: an opened channel is used, the client's own tools act, time passes. */
export type Uncontrollable = {
  readonly name: string;
  readonly possible: Node;
  readonly bad: Bad;
  readonly next: Update;
};

/** A goal that must stay reachable: states, or states in which some round of `rounds` is in Φᶜ. */
export type Goal = {
  readonly name: string;
  readonly holds: Node;
  /** Indices of rounds; any of them being an option counts as reached. Empty where the goal is a set of states. */
  readonly rounds: readonly number[];
};

export type Arena = {
  readonly diagram: Diagram;
  readonly stateCount: number;
  readonly rounds: readonly Round[];
  readonly uncontrollable: readonly Uncontrollable[];
  readonly goals: readonly Goal[];
  /** States that can occur; all where encoded tightly. */
  readonly domain: Node;
};
