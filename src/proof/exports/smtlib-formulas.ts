/**
 * The transition system as formulas of SMT-LIB 2. Each is a closed term over the variables at certain points of time,
 * which differ by the marks on their names.
 */
import { marked, symbol } from "./names.ts";
import { type Terms, alternatives, comment, conjunction, makeTerms } from "./smtlib-terms.ts";
import { type SystemMove, type TransitionSystem, moveTitle } from "./transition-system.ts";

/** Marks of the state of a formula, also used for the choices made in it, and of the state after a move. */
export type Moment = { readonly now: string; readonly next: string };

export type Formulas = {
  /** Symbols of all variables: of the state, and of the choices of one move. */
  readonly states: (mark: string) => readonly string[];
  readonly choices: (mark: string) => readonly string[];
  readonly start: (moment: Moment) => string;
  readonly bad: (moment: Moment) => string;
  readonly step: (moment: Moment) => string;
  /** Undefined for a system that was refuted. */
  readonly invariant: ((moment: Moment) => string) | undefined;
};

export function makeFormulas(system: TransitionSystem): Formulas {
  const { unsafe, states, explored } = system;
  const symbols = new Map<number, string>([
    ...states.map(({ name }, level) => [level, symbol(name)] as const),
    ...[...system.choices].map(([level, { name }]) => [level, symbol(name)] as const),
  ]);
  const at = (mark: string) => (level: number) => marked(symbols.get(level) ?? "", mark);
  const terms = ({ now }: Moment): Terms => makeTerms(explored.model.space.diagram, at(now));
  const levels = states.map((_, level) => level);
  return {
    states: (mark) => levels.map(at(mark)),
    choices: (mark) => [...system.choices.keys()].map(at(mark)),
    start: ({ now }) => `  ${conjunction(levels.map((level) => literal(at(now)(level), states[level]?.initial)))}`,
    bad: (moment) => badFormula(system, terms(moment)),
    step: (moment) => {
      const variables = levels.map((level) => [at(moment.now)(level), at(moment.next)(level)] as const);
      return stepFormula(system, terms(moment), variables);
    },
    invariant:
      unsafe === undefined
        ? undefined
        : (moment) => {
            const made = terms(moment);
            const root = made.of(unsafe);
            return made.around(`  (not ${root})`);
          },
  };
}

function literal(name: string, value: boolean | undefined): string {
  return value === true ? name : `(not ${name})`;
}

function badFormula({ moves }: TransitionSystem, terms: Terms): string {
  const parts = moves
    .filter(({ bad }) => bad !== 0)
    .map((move) => ({ title: moveTitle(move), term: terms.of(move.bad) }));
  return terms.around(alternatives(parts));
}

/** Every move that changes the state; `variables` are the symbols of each variable now and next. */
function stepFormula(
  { moves }: TransitionSystem,
  terms: Terms,
  variables: readonly (readonly [now: string, next: string])[],
): string {
  const changing = moves.filter(({ next }) => next.size > 0);
  const parts = changing.map((move) => ({ title: moveTitle(move), term: stepTerm(move, terms, variables) }));
  const same = variables.map(([now, next], level) => `(same${level} (= ${next} ${now}))`);
  const body = alternatives(parts);
  return terms.around(same.length === 0 ? body : `  (let (${same.join(" ")})\n${body})`);
}

function stepTerm(
  { permitted, next }: SystemMove,
  terms: Terms,
  variables: readonly (readonly [now: string, next: string])[],
): string {
  const values = variables.map(([, after], level) => {
    const node = next.get(level);
    return node === undefined ? `same${level}` : `(= ${after} ${terms.of(node)})`;
  });
  return conjunction([...(permitted === 1 ? [] : [terms.of(permitted)]), ...values]);
}

/** The meaning of the variables, as comments. */
export function legend(system: TransitionSystem): string {
  const line = (name: string, words: string): string => comment(`${symbol(name)}  ${words}`);
  return [
    "",
    comment("---- State: what is true between two moves ----"),
    ...system.states.map(({ name, words }) => line(name, words)),
    "",
    comment("---- Choices: what an agent, a server or time settles in one move ----"),
    ...[...system.choices.values()].map(({ name, words }) => line(name, words)),
    "",
  ].join("\n");
}
