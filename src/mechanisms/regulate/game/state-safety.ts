/**
 * Safety of a state in the game (formal.md 4.5) at both ends of uncertain labels: in W*, in W! at least, or outside of both.
 * The upper bound decides and the lower bound excuses: a state that may be outside is asked about, one that surely is
 * outside is refused.
 */
import type { LabelRange } from "../../../core/label.ts";
import type { Verdict } from "../../../core/verdict.ts";
import type { Q } from "../../../policy/semantics/state.ts";
import type { Look } from "../../../proof/game/lookup.ts";
import type { Danger, Watch } from "../../../proof/game/watch.ts";
import type { GoalGame, Lost } from "../../../proof/game/goals.ts";

export type StateSafety = {
  readonly verdict: Verdict;
  /** Dangers that no decision could prevent any more, were the state reached. */
  readonly looming: readonly Danger[];
  /** Debts and firm keeps that could no longer be met. */
  readonly lost: readonly string[];
};

const fine: StateSafety = { verdict: "allow", looming: [], lost: [] };

export type Game = {
  /** Nothing uncontrollable can bring about any hazard, and there are no goals: every state is fine. */
  readonly trivial: boolean;
  /** Whether what a run holds matters at all. */
  readonly looksAtHeld: boolean;
  /** Whether any automaton matters: one of a hazard, or a debt. */
  readonly looksAtHistory: boolean;
  /** Names of all risks that an approver can accept, each `HAZARD MOVE`. */
  readonly risks: readonly string[];
  /** `held` is what counts as held in the state, whatever else it says. */
  readonly safetyOf: (q: Q, at: number, held: readonly LabelRange[]) => StateSafety;
};

/** Where the game could not be made, nothing is permitted. */
export const closedGame: Game = {
  trivial: false,
  looksAtHeld: true,
  looksAtHistory: true,
  risks: [],
  safetyOf: () => ({ verdict: "deny", looming: [], lost: ["regulation"] }),
};

export function makeGame(watches: readonly Watch[], goals: GoalGame | undefined): Game {
  const firm = new Set(
    watches.flatMap(({ hazard, dangers }) => (hazard.consent === "never" ? dangers.map(riskName) : [])),
  );
  return {
    trivial: watches.length === 0 && goals === undefined,
    looksAtHistory: goals !== undefined || watches.some(({ hazard }) => hazard.kind === "temporal"),
    risks: watches.flatMap(({ dangers }) => dangers.map(riskName)),
    looksAtHeld: goals !== undefined || watches.some((watch) => watch.looksAtHeld),
    safetyOf: (q, at, held) => {
      const high: Look = { q, end: "hi", at, held };
      const low: Look = { q, end: "lo", at, held };
      const accepted = acceptedIn(q, at);
      const found = loomingAt(watches, { high, low }, accepted);
      const lost = goals?.lost(high, accepted) ?? [];
      const sure = sureOf(accepted, firm);
      const surelyLost = lost.length > 0 || sure !== accepted ? (goals?.lost(low, sure) ?? []) : [];
      const missed = lost.length > 0 ? lost : surelyLost;
      if (found.length === 0 && missed.length === 0) return fine;
      const denied =
        found.some(({ danger, certain }) => certain && danger.hazard.consent === "never") ||
        (missed.some(isFirm) && surelyLost.some(isFirm));
      return {
        verdict: denied ? "deny" : "confirm",
        looming: found.map(({ danger }) => danger),
        lost: missed.flatMap(({ names }) => names),
      };
    },
  };
}

function isFirm({ consentable }: Lost): boolean {
  return !consentable;
}

/**
 * An approver who accepts the risk of a hazard with `consent: never` vouches for the uncertain facts of that time: a
 * move that surely leads there later stays refused, or one answer about a doubtful value would switch the hazard off.
 */
function sureOf(accepted: ReadonlySet<string>, firm: ReadonlySet<string>): ReadonlySet<string> {
  const kept = [...accepted].filter((risk) => !firm.has(risk));
  return kept.length === accepted.size ? accepted : new Set(kept);
}

type Ends = { readonly high: Look; readonly low: Look };

type Looming = { readonly danger: Danger; readonly certain: boolean };

function loomingAt(watches: readonly Watch[], { high, low }: Ends, accepted: ReadonlySet<string>): readonly Looming[] {
  const found: Looming[] = [];
  for (const { hazard, lookup, dangers } of watches) {
    for (const danger of dangers) {
      if (lookup(danger.winning, high)) continue;
      const certain = !lookup(danger.winning, low);
      const excused = accepted.has(riskName(danger)) && (hazard.consent === "may" || !certain);
      if (!excused) found.push({ danger, certain });
    }
  }
  return found;
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
