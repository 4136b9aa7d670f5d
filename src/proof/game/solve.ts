/**
 * The largest set of states from which the gateway can prevent every hazard and every goal can still be reached
 * (formal.md 4.5), with the moves that it may let through in each: the maximally permissive, non-blocking supervisor.
 *
 * W := Q; repeat W := S(W), then W := reach_g(W) for each goal, until nothing changes. Solutions are closed under
 * union, so the largest one exists; one pass does not suffice, since one goal may need states that the next one
 * removes.
 */
import { type Result, err, ok } from "../../core/result.ts";
import type { Node } from "../prove/diagram.ts";
import { diagramNodesMax, diagramStepsMax, layersMax } from "../prove/limits.ts";
import type { Arena, Bad, Goal, Outcome, Release, Round, Uncontrollable, Update } from "./arena.ts";

export type Solution = {
  /** W: no hazard can happen from here unless the gateway permits it, and every goal is reachable. */
  readonly winning: Node;
  /** Φ_W by round, over state and choices: the calls that may be let through. */
  readonly options: readonly Node[];
  /** Φᶜ_W by round: the calls that may be let through with consent to hazards with `consent: may`. */
  readonly excused: readonly Node[];
  /** States of W in which some call that the rules leave open has an outcome that may not be released. */
  readonly critical: Node;
};

/** `all` is W*; `never` is W!, without the hazards with `consent: may`. */
export type Hazards = "all" | "never";

type Play = Arena & {
  readonly hazards: Hazards;
  /** States in which an uncontrollable move is bad at once. */
  readonly fireBad: Node;
  /** By round: it has no bad fire in its middle. */
  readonly quiet: readonly Node[];
};

/** Solves the arena; the error names the limit that was reached. */
export function solve(arena: Arena, hazards: Hazards): Result<Solution, string> {
  const { diagram } = arena;
  const fires = arena.uncontrollable.map(({ possible, bad }) => diagram.and(possible, counted(arena, bad, hazards)));
  const fireBad = forget(arena, any(arena, fires));
  const quiet = arena.rounds.map(({ middle }) => diagram.not(substitute(arena, fireBad, middle)));
  const play: Play = { ...arena, hazards, fireBad, quiet };
  let winning = arena.domain;
  for (let round = 0; round < layersMax && !diagram.exhausted; round += 1) {
    let next = staying(play, winning);
    for (const goal of arena.goals) next = reaching(play, goal, next);
    if (next === winning) return finished(play, winning);
    winning = next;
  }
  return tooLarge();
}

function finished(play: Play, winning: Node): Result<Solution, string> {
  const { diagram, rounds } = play;
  const options = rounds.map((round, index) => optionsOf(play, winning, { round, index, excusing: false }));
  const excused = rounds.map((round, index) => optionsOf(play, winning, { round, index, excusing: true }));
  const refused = rounds.map((round, index) => diagram.and(round.open, withoutPass(play, winning, { round, index })));
  const critical = diagram.and(winning, forget(play, any(play, refused)));
  return diagram.exhausted ? tooLarge() : ok({ winning, options, excused, critical });
}

function tooLarge(): Result<never, string> {
  return err(
    `the game needs more than the limit of ${diagramNodesMax} nodes or ${diagramStepsMax} steps of a decision diagram: use fewer stores, categories or counters, or drop a firm keep`,
  );
}

/** S(W): the largest part of W that no uncontrollable move leaves or makes bad. */
function staying(play: Play, within: Node): Node {
  const { diagram } = play;
  let kept = diagram.and(within, diagram.not(play.fireBad));
  while (!diagram.exhausted) {
    const outside = diagram.not(kept);
    const leaving = play.uncontrollable.map((move) => leadsInto(play, move, outside));
    const next = diagram.and(kept, diagram.not(any(play, leaving)));
    if (next === kept) break;
    kept = next;
  }
  return kept;
}

function leadsInto(play: Arena, { possible, next }: Uncontrollable, target: Node): Node {
  // A move without changes stays in its state.
  if (next.size === 0) return 0;
  return forget(play, play.diagram.and(possible, substitute(play, target, next)));
}

/** reach_g(W): the states of W from which some path within W, with favourable outcomes and consent, meets the goal. */
function reaching(play: Play, goal: Goal, within: Node): Node {
  const { diagram, rounds } = play;
  const excused = rounds.map((round, index) => optionsOf(play, within, { round, index, excusing: true }));
  const usable = goal.rounds.map((index) => forget(play, excused[index] ?? 0));
  let reached = diagram.and(within, any(play, [goal.holds, ...usable]));
  while (!diagram.exhausted) {
    const target = reached;
    const steps = rounds.map((round, index) => {
      const ways = releasesOf(round).map((release) =>
        diagram.and(
          acceptable(play, { round, index, release, excusing: true }),
          substitute(play, target, release.next),
        ),
      );
      return forget(play, diagram.and(excused[index] ?? 0, any(play, ways)));
    });
    const drifts = play.uncontrollable.map((move) => leadsInto(play, move, target));
    const next = diagram.or(reached, diagram.and(within, any(play, [...steps, ...drifts])));
    if (next === reached) break;
    reached = next;
  }
  return reached;
}

function releasesOf({ outcomes }: Round): readonly Release[] {
  return outcomes.flatMap(({ releases }) => releases);
}

type Placed = { readonly round: Round; readonly index: number };

/**
 * Φ_W or Φᶜ_W of one round: every outcome has a permitted release, and some success has one that is not a rejection.
 */
function optionsOf(
  play: Play,
  within: Node,
  { round, index, excusing }: Placed & { readonly excusing: boolean },
): Node {
  const { diagram } = play;
  const permitted = (release: Release): Node =>
    diagram.and(acceptable(play, { round, index, release, excusing }), substitute(play, within, release.next));
  const dealtWith = ({ releases }: Outcome): Node => any(play, releases.map(permitted));
  const useful = round.outcomes
    .filter(({ failed }) => !failed)
    .flatMap(({ releases }) => releases.filter(({ kind }) => kind !== "reject").map(permitted));
  const every = round.outcomes.reduce((all, outcome) => diagram.and(all, dealtWith(outcome)), round.open);
  return diagram.and(within, diagram.and(every, any(play, useful)));
}

/** Some outcome of the round may not be released unchanged. */
function withoutPass(play: Play, within: Node, { round, index }: Placed): Node {
  const { diagram } = play;
  const passes = releasesOf(round).filter(({ kind }) => kind === "pass");
  const refused = passes.map((release) => {
    const permitted = acceptable(play, { round, index, release, excusing: false });
    return diagram.not(diagram.and(permitted, substitute(play, within, release.next)));
  });
  return any(play, refused);
}

/** The round has no bad move: consent may excuse a dispatch or release, but never a fire move in the middle. */
function acceptable(
  play: Play,
  { round, index, release, excusing }: Placed & { readonly release: Release; readonly excusing: boolean },
): Node {
  const { diagram } = play;
  const hazards = excusing ? "never" : play.hazards;
  const bad = diagram.or(counted(play, round.bad, hazards), counted(play, release.bad, hazards));
  return diagram.and(play.quiet[index] ?? 0, diagram.not(bad));
}

function counted({ diagram }: Arena, bad: Bad, hazards: Hazards): Node {
  return hazards === "all" ? diagram.or(bad.never, bad.may) : bad.never;
}

function any({ diagram }: Arena, nodes: readonly Node[]): Node {
  return nodes.reduce((all, node) => diagram.or(all, node), 0);
}

function forget({ diagram, stateCount }: Arena, node: Node): Node {
  return diagram.existsFrom(node, stateCount);
}

function substitute({ diagram }: Arena, node: Node, update: Update): Node {
  return update.size === 0 ? node : diagram.compose(node, update);
}
