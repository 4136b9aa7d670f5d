import { describe, expect, it } from "vitest";
import { Diagram, type Node } from "../prove/diagram.ts";
import type { Arena, Bad, Outcome, Round, Uncontrollable } from "./arena.ts";
import { solve } from "./solve.ts";

const none: Bad = { never: 0, may: 0 };

/** One state variable, `dangerous`: something that nobody decides is bad while it holds. */
function arena(diagram: Diagram, { bad, rounds = [] }: { bad: Bad; rounds?: readonly Round[] }): Arena {
  const dangerous = diagram.variable(0);
  const move: Uncontrollable = { name: "send", possible: dangerous, bad, next: new Map() };
  return { diagram, stateCount: 1, rounds, uncontrollable: [move], goals: [], domain: 1 };
}

/** A call that makes the state dangerous if its result is passed on; it may be refused after the fact. */
function read(outcomes: readonly Outcome[]): Round {
  return { name: "s.read", open: 1, free: 1, bad: none, middle: new Map(), outcomes };
}

const into = (node: Node) => new Map([[0, node]]);
const stays = new Map<number, Node>();
const failed: Outcome = { failed: true, releases: [{ kind: "pass", next: stays, bad: none }] };
const brings = (kind: "pass" | "withhold", next: ReadonlyMap<number, Node>): Outcome => ({
  failed: false,
  releases: [
    { kind, next, bad: none },
    { kind: "reject", next: stays, bad: none },
  ],
});

describe("the solver", () => {
  it("keeps away from states in which something that nobody decides is bad", () => {
    const diagram = new Diagram(1_000);
    const solved = solve(arena(diagram, { bad: { never: 1, may: 0 } }), "all");
    expect(solved).toMatchObject({ ok: true, value: { winning: diagram.not(diagram.variable(0)) } });
  });

  it("counts what a person may consent to among all hazards, and not among those that nobody may", () => {
    const diagram = new Diagram(1_000);
    const may = arena(diagram, { bad: { never: 0, may: 1 } });
    expect(solve(may, "all")).toMatchObject({ value: { winning: diagram.not(diagram.variable(0)) } });
    expect(solve(may, "never")).toMatchObject({ value: { winning: 1 } });
  });

  it("lets a call through only if some success of it is of use", () => {
    const diagram = new Diagram(1_000);
    const safe = diagram.not(diagram.variable(0));
    const bad = { never: 1, may: 0 };
    const options = (outcome: Outcome): readonly Node[] => {
      const solved = solve(arena(diagram, { bad, rounds: [read([failed, outcome])] }), "all");
      if (!solved.ok) throw new Error(solved.error);
      return solved.value.options;
    };
    // Passing it would be dangerous, so all that is left is to reject it: of no use to anybody.
    expect(options(brings("pass", into(1)))).toEqual([0]);
    expect(options(brings("pass", stays))).toEqual([safe]);
    // What is withheld is still something the agent can work with.
    expect(options(brings("withhold", stays))).toEqual([safe]);
  });

  it("calls a state critical where a result may not be passed on", () => {
    const diagram = new Diagram(1_000);
    const rounds = [read([failed, brings("pass", into(1)), brings("pass", stays)])];
    const solved = solve(arena(diagram, { bad: { never: 1, may: 0 }, rounds }), "all");
    expect(solved).toMatchObject({ value: { critical: diagram.not(diagram.variable(0)) } });
  });

  it("says that a limit was reached, and then says nothing else", () => {
    const small = new Diagram(3);
    expect(solve(arena(small, { bad: { never: 1, may: 0 } }), "all")).toMatchObject({
      ok: false,
      error: expect.stringMatching(/more than the limit of 1000000 nodes or 100000000 steps/),
    });
  });

  it("comes to an end where moves lead on and on", () => {
    const diagram = new Diagram(10_000);
    const bits = [0, 1, 2].map((level) => diagram.variable(level));
    const shifted = new Map([
      [1, bits[0] ?? 0],
      [2, bits[1] ?? 0],
    ]);
    const step: Uncontrollable = { name: "tick", possible: 1, bad: none, next: shifted };
    const bad: Uncontrollable = { name: "send", possible: 1, bad: { never: bits[2] ?? 0, may: 0 }, next: new Map() };
    const chain: Arena = { diagram, stateCount: 3, rounds: [], uncontrollable: [step, bad], goals: [], domain: 1 };
    const solved = solve(chain, "all");
    // Whatever is set now is at the end of the line two ticks later.
    expect(solved).toMatchObject({
      value: { winning: diagram.not(diagram.or(diagram.or(bits[0] ?? 0, bits[1] ?? 0), bits[2] ?? 0)) },
    });
  });
});
