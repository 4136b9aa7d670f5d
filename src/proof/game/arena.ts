/**
 * A game between the gateway, who may refuse calls and results, and everyone else (formal.md 4.5), over decision diagrams.
 * State variables are the levels 0 to `stateCount` - 1; every level from there on is somebody's choice. What a policy is as
 * an arena is said in `policy-arena.ts`; the solver knows nothing of policies.
 */
import type { Diagram, Node } from "../diagram.ts";

/** New functions for the state variables that change. */
export type Update = ReadonlyMap<number, Node>;

/** Where something is bad: for hazards that nobody may consent to, and for those that a person may. */
export type Bad = { readonly never: Node; readonly may: Node };

/** What the gateway may do with a result, in the order in which it prefers it. */
export type Release = {
  readonly kind: "pass" | "withhold" | "reject";
  /** State after the whole round, as a function of the state before it. */
  readonly next: Update;
  readonly bad: Bad;
};

/** One way in which a call can end. */
export type Outcome = { readonly failed: boolean; readonly releases: readonly Release[] };

/**
 * A class of calls. All nodes speak of the state before the call and of the agent's choices (labels of arguments); there
 * are no other choices in them, since each outcome and each release stands in the list.
 */
export type Round = {
  readonly name: string;
  /** The rules do not deny it; and they do not even ask. */
  readonly open: Node;
  readonly free: Node;
  /** The dispatch itself is bad. */
  readonly bad: Bad;
  /** State between dispatch and release: what fires there fires in the middle of the round. */
  readonly middle: Update;
  readonly outcomes: readonly Outcome[];
};

/** What nobody decides: an opened channel is used, the client's own tools act, time passes. */
export type Uncontrollable = {
  readonly name: string;
  readonly possible: Node;
  readonly bad: Bad;
  readonly next: Update;
};

/** Something that must stay reachable: states, or states in which some round of `rounds` is in Φᶜ. */
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
