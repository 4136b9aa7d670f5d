/**
 * Games over numbered states as plain tables: what the solver of diagrams is compared with. The words are those of
 * formal.md 4.5; an *option* is a class of calls with a choice of labels, so a round has one row per state and choice.
 */

/** Whether a move is bad, for hazards that nobody may consent to and for those that a person may. */
export type Badness = { readonly never: boolean; readonly may: boolean };

export type ReleaseKind = "pass" | "withhold" | "reject";

/** One end of a call in one state: where it leads with one release, and whether that release is bad. */
export type Landing = Badness & { readonly to: number };

/** A call in one state with one choice of labels. */
export type Row = Badness & {
  /** The rules do not deny it; they do not even ask. */
  readonly open: boolean;
  readonly free: boolean;
  readonly middle: number;
  /** By outcome and release, in the order of the round's shape. */
  readonly landings: readonly (readonly Landing[])[];
};

export type GameRound = {
  readonly outcomes: readonly { readonly failed: boolean; readonly releases: readonly ReleaseKind[] }[];
  /** By state, then choice. */
  readonly rows: readonly (readonly Row[])[];
};

/** A move that nobody decides, in one state with one choice of the environment. */
export type Fire = Landing & { readonly possible: boolean };

export type GameGoal = { readonly holds: readonly boolean[]; readonly rounds: readonly number[] };

export type Game = {
  readonly size: number;
  /** Choices that a move has at most; where there are fewer rows, there are fewer. */
  readonly choices: number;
  readonly rounds: readonly GameRound[];
  /** By move, state, choice. */
  readonly fires: readonly (readonly (readonly Fire[])[])[];
  readonly goals: readonly GameGoal[];
};

/** Hazards that count: all, or only those that nobody may consent to. */
export type Hazards = "all" | "never";

/** Membership by state. */
export type States = readonly boolean[];
