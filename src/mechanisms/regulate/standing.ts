/**
 * How a state stands in the game (formal.md 4.5): whether it is in W*, in W! at least, or outside of both, at both ends of
 * uncertain labels. An upper bound decides, a lower bound excuses: what may be outside is asked, what surely is is refused.
 */
import type { LabelRange } from "../../core/label.ts";
import type { Verdict } from "../../core/verdict.ts";
import { stricter } from "../../core/verdict.ts";
import type { Q } from "../../policy/state.ts";
import type { Look } from "../../proof/game/lookup.ts";
import type { Danger, Watch } from "../../proof/game/watch.ts";
import type { GoalGame } from "../../proof/game/goals.ts";

export type Standing = {
  readonly verdict: Verdict;
  /** What nobody could prevent any more, were the state reached. */
  readonly looming: readonly Danger[];
  /** Debts and firm keeps that could no longer be met. */
  readonly lost: readonly string[];
};

const fine: Standing = { verdict: "allow", looming: [], lost: [] };

export type Game = {
  /** Nothing uncontrollable can bring about any hazard, and there are no goals: every state is fine. */
  readonly trivial: boolean;
  /** Whether what a run holds matters at all. */
  readonly looksAtHeld: boolean;
  /** `held` is what counts as held in the state, whatever else it says. */
  readonly standing: (q: Q, at: number, held: readonly LabelRange[]) => Standing;
};

/** Where the game could not be made, nothing is permitted. */
export const closedGame: Game = {
  trivial: false,
  looksAtHeld: true,
  standing: () => ({ verdict: "deny", looming: [], lost: ["regulation"] }),
};

export function makeGame(watches: readonly Watch[], goals: GoalGame | undefined): Game {
  return {
    trivial: watches.length === 0 && goals === undefined,
    looksAtHeld: goals !== undefined || watches.some((watch) => watch.looksAtHeld),
    standing: (q, at, held) => {
      const accepted = acceptedIn(q, at);
      const looming = [...loomingAt(watches, { q, end: "hi", at, held }, accepted)];
      const lost = goals?.lost({ q, end: "hi", at, held }, accepted) ?? [];
      if (looming.length === 0 && lost.length === 0) return fine;
      const low: Look = { q, end: "lo", at, held };
      const sure = new Set(loomingAt(watches, low, accepted));
      let verdict: Verdict = "confirm";
      for (const danger of looming) {
        if (danger.hazard.consent === "never" && sure.has(danger)) verdict = stricter(verdict, "deny");
      }
      if (lost.some(({ consentable }) => !consentable) && (goals?.lost(low, accepted).length ?? 0) > 0)
        verdict = "deny";
      return { verdict, looming, lost: lost.flatMap(({ names }) => names) };
    },
  };
}

function* loomingAt(watches: readonly Watch[], look: Look, accepted: ReadonlySet<string>): Generator<Danger> {
  for (const { lookup, dangers } of watches) {
    for (const danger of dangers) {
      if (!accepted.has(riskName(danger)) && !lookup(danger.winning, look)) yield danger;
    }
  }
}

/** The name of a risk in grants and on cards. */
export function riskName({ hazard, move }: Danger): string {
  return `${hazard.id} ${move}`;
}

function acceptedIn({ grants }: Q, at: number): ReadonlySet<string> {
  if (grants.length === 0) return none;
  const found = grants.flatMap((grant) =>
    grant.kind === "accept" && at < grant.expiresAt ? [`${grant.hazard} ${grant.move}`] : [],
  );
  return found.length === 0 ? none : new Set(found);
}

const none: ReadonlySet<string> = new Set();
