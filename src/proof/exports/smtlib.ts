/**
 * A proof, or its refutation, as SMT-LIB 2 text for a third-party solver (docs/exports.md). It contains the model that
 * the engine explored, so it checks the engine; the checker of certificates checks the compilation of the policy.
 */
import type { Explored } from "../prove/fixpoint.ts";
import { type Formulas, legend, makeFormulas } from "./smtlib-formulas.ts";
import { comment } from "./smtlib-terms.ts";
import { type TransitionSystem, transitionSystem } from "./transition-system.ts";

export type Answer = "sat" | "unsat";

export type SolverText = {
  readonly text: string;
  /** The answers of a solver to each `check-sat`, in order, if the engine is right. */
  readonly expected: readonly Answer[];
};

/** Lines of text, and the answers to the questions among them. */
type Part = { readonly lines: readonly string[]; readonly answers: readonly Answer[] };

/** Names of a state and of the one after it. */
const present = { now: "", next: "'" } as const;

/**
 * For a proof: the three questions that make its invariant a proof, all `unsat`. For a refutation: the system unrolled
 * move by move, `unsat` until the length of the shortest counterexample and `sat` there.
 */
export function smtlibOf(explored: Explored): SolverText {
  const system = transitionSystem(explored);
  const formulas = makeFormulas(system);
  const { invariant } = formulas;
  const parts = invariant === undefined ? unrolled(system, formulas) : proof(system, { ...formulas, invariant });
  return written(system, "QF_UF", parts);
}

/**
 * The system as constrained Horn clauses, without the invariant: the solver has to find one. `sat` means that there is
 * one, so no bad move can be reached; `unsat` that one can.
 */
export function hornOf(explored: Explored): SolverText {
  const system = transitionSystem(explored);
  const formulas = makeFormulas(system);
  const [now, next, choices] = [formulas.states(""), formulas.states("'"), formulas.choices("")];
  const reached = (state: readonly string[]): string =>
    state.length === 0 ? "Reached" : `(Reached ${state.join(" ")})`;
  const rule = (what: string, variables: readonly string[], body: string): readonly string[] => {
    const bound = variables.map((name) => `(${name} Bool)`);
    return [comment(what), bound.length === 0 ? `(assert ${body})` : `(assert (forall (${bound.join(" ")})\n${body}))`];
  };
  const answer: Answer = explored.distance === undefined ? "sat" : "unsat";
  const lines = [
    comment("---- Is there a set of states with the start, closed under moves, in which nothing bad can happen? ----"),
    `(declare-fun Reached (${now.map(() => "Bool").join(" ")}) Bool)`,
    ...rule("It holds the start.", now, `(=>\n${formulas.start(present)}\n  ${reached(now)})`),
    ...rule(
      "It is closed under moves.",
      [...now, ...choices, ...next],
      `(=> (and ${reached(now)}\n${formulas.step(present)})\n  ${reached(next)})`,
    ),
    ...rule(
      "Nothing bad can happen in it.",
      [...now, ...choices],
      `(=> (and ${reached(now)}\n${formulas.bad(present)})\n  false)`,
    ),
    ...question(answer),
  ];
  return written(system, "HORN", [{ lines, answers: [answer] }]);
}

function proof(
  { hazard }: TransitionSystem,
  formulas: Formulas & { readonly invariant: NonNullable<Formulas["invariant"]> },
): readonly Part[] {
  const { states, choices } = formulas;
  const lines = [
    ...declared([...states(""), ...choices(""), ...states("'")]),
    ...defined("start", "The start of a run", formulas.start(present)),
    ...defined("bad", `Moves that are permitted and bring about ${hazard}`, formulas.bad(present)),
    ...defined("step", "Moves that are permitted and change the state", formulas.step(present)),
    ...defined("invariant", "States from which nothing bad can follow", formulas.invariant(present)),
    ...defined("invariant-next", "The same of the state after a move", formulas.invariant({ now: "'", next: "" })),
  ];
  return [
    { lines, answers: [] },
    asked("1. Is there a start outside the invariant?", ["start", "(not invariant)"], "unsat"),
    asked("2. Can something bad happen in a state of the invariant?", ["invariant", "bad"], "unsat"),
    asked("3. Can a move lead out of the invariant?", ["invariant", "step", "(not invariant-next)"], "unsat"),
  ];
}

/** One question for each number of moves; assertions about earlier moves are kept. */
function unrolled({ explored, hazard }: TransitionSystem, formulas: Formulas): readonly Part[] {
  const distance = explored.distance ?? 0;
  return Array.from({ length: distance }, (_, index): readonly Part[] => {
    const [now, before] = [`@${index}`, `@${index - 1}`];
    const moment = { now, next: `@${index + 1}` };
    const reached =
      index === 0
        ? defined("start", "The start of a run", formulas.start(moment))
        : defined(`step${before}`, `Move ${index}`, formulas.step({ now: before, next: now }));
    const last = index === distance - 1;
    return [
      {
        lines: [
          ...declared([...formulas.states(now), ...formulas.choices(now)]),
          ...reached,
          `(assert ${index === 0 ? "start" : `step${before}`})`,
          ...defined(`bad${now}`, `Move ${index + 1} brings about ${hazard}`, formulas.bad(moment)),
        ],
        answers: [],
      },
      asked(`Can the last of ${index + 1} moves be bad?`, [`bad${now}`], last ? "sat" : "unsat"),
    ];
  }).flat();
}

function declared(names: readonly string[]): readonly string[] {
  return names.map((name) => `(declare-const ${name} Bool)`);
}

/** A name for a formula. It is a constant that equals it, since z3 4.8 reads shared terms in `define-fun` as trees. */
function defined(name: string, what: string, body: string): readonly string[] {
  return ["", comment(`---- ${what} ----`), `(declare-const ${name} Bool)`, `(assert (= ${name}\n${body}))`];
}

function asked(what: string, terms: readonly string[], answer: Answer): Part {
  const assertions = terms.map((term) => `(assert ${term})`);
  return { lines: ["", comment(what), "(push 1)", ...assertions, ...question(answer), "(pop 1)"], answers: [answer] };
}

/** A solver that supports the status reports a different answer. */
function question(answer: Answer): readonly string[] {
  return [`(set-info :status ${answer})`, "(check-sat)"];
}

function written(system: TransitionSystem, logic: string, parts: readonly Part[]): SolverText {
  const head = [...system.about.map((line) => comment(line)), `(set-logic ${logic})`, legend(system)];
  return {
    text: [...head, ...parts.flatMap(({ lines }) => lines), ""].join("\n"),
    expected: parts.flatMap(({ answers }) => answers),
  };
}
