/**
 * The test of the other live runs (formal.md 4.5, example 7): a call that changes what runs share, such as opening a
 * channel, must be acceptable to each of them, not only to its own. It runs in the turn of the commit, so no event of
 * another run comes in between; the second of two conflicting calls is refused or needs consent.
 */
import type { ModelState } from "../../core/run.ts";
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import { reasonsMax } from "../../core/limits.ts";
import type { Reason } from "../../core/opinion.ts";
import { riskInRun } from "../../core/explain/regulation-cause.ts";
import { type Verdict, stricter } from "../../core/verdict.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { SharedStates } from "./shared-store-state.ts";

/** The verdict of one other run on a call. */
type OtherVerdict = {
  readonly verdict: Verdict;
  readonly reason: Reason;
};

export type OtherRunsSetup = {
  readonly live: () => Iterable<LiveRun>;
  readonly dormant: DormantRuns;
  readonly shared: SharedStates;
};

/** Keys that a sentence can hold, and that a shell takes for one word: parts of a key are words of clients. */
export const plainKey = /^[\w.:@/+-]{1,60}$/;

function endOther(key: string): string {
  const how = plainKey.test(key) ? `\`sluicegate runs close ${key}\`` : "`sluicegate runs` lists them";
  return `ask the user to end that run (${how}), then repeat`;
}

export class OtherRuns {
  readonly #setup: OtherRunsSetup;

  constructor(setup: OtherRunsSetup) {
    this.#setup = setup;
  }

  /** The other runs of the owner that an event would harm; none where it leaves the shared part as it is. */
  #harmedBy(live: LiveRun, event: RunEvent): readonly OtherVerdict[] {
    const others = [...this.#setup.live()].filter((one) => this.#counts(live, one));
    const dormant = live.policy.regulated ? this.#dormant(live) : [];
    if (others.length === 0 && dormant.length === 0) return [];
    // The model is pure: asking it where the event leads folds nothing.
    const moved = live.policy.engine.model.next(live.state.q, event);
    if (!moved.ok || !live.policy.sharedChanged(live.state.q, moved.value)) return [];
    const found: OtherVerdict[] = [];
    for (const other of others) {
      const { policy, key } = other;
      const shared = policy === live.policy ? moved.value : this.#seen(live.policy, moved.value, other);
      const verdict = policy.sharedVerdict(shared, other.state.q);
      add(found, key, verdict);
    }
    for (const { key, q } of dormant) {
      // It was folded when it was needed first; later changes of the shared part apply to it, too.
      const verdict = live.policy.sharedVerdict(moved.value, live.policy.withShared(q, live.state.q));
      add(found, key, verdict);
    }
    return found;
  }

  /** Stores that only the other run's policy declares are not moved: they are as that run knows them. */
  #seen(from: LoadedPolicy, moved: ModelState, { policy, state }: LiveRun): ModelState {
    return policy.withShared(this.#setup.shared.seenBy(from, moved, policy), state.q);
  }

  /** The decision with the verdicts of the other runs; a deny stays as it is. */
  tested(live: LiveRun, event: RunEvent | undefined, decision: Decision): Decision {
    if (event === undefined || decision.verdict === "deny") return decision;
    const harmed = this.#harmedBy(live, event);
    if (harmed.length === 0) return decision;
    const strictest = harmed.reduce<Verdict>((all, { verdict }) => stricter(all, verdict), decision.verdict);
    const enforcedVerdict = stricter(decision.enforcedVerdict, strictest);
    const deciding = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict === strictest);
    const others = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict !== strictest);
    const all = [...deciding, ...decision.reasons, ...others];
    const reasons = all.slice(0, reasonsMax);
    if (strictest !== "confirm" || all.length <= reasonsMax) {
      return { ...decision, verdict: strictest, enforcedVerdict, reasons };
    }
    // No approver is asked to accept a risk that no card could name.
    const refused = reasons.map((reason): Reason => ({ ...reason, verdict: "deny" }));
    return { ...decision, verdict: "deny", enforcedVerdict: "deny", reasons: refused };
  }

  #counts(live: LiveRun, other: LiveRun): boolean {
    if (other === live || other.ended || other.principal !== live.principal || !other.policy.regulated) return false;
    // A run in observe mode stops nothing, so it stops no other run; between two such runs the verdict is logged.
    return other.policy.settings.mode === "enforce" || live.policy.settings.mode === "observe";
  }

  /** Those that live in memory by now are tested as they are there; one that is being folded counts as it was. */
  #dormant(live: LiveRun): readonly { readonly key: string; readonly q: ModelState }[] {
    return this.#setup.dormant.of(live.principal, live.policy).filter(({ key }) => key !== live.key);
  }
}

type Said = { readonly verdict: Verdict; readonly reason: Reason | undefined };

function add(found: OtherVerdict[], key: string, { verdict, reason }: Said): void {
  if (verdict === "allow") return;
  const plain: Reason = reason ?? { mechanism: "gateway", code: "SG-OTHER-RUN", verdict, facts: {} };
  const { risks } = plain.facts;
  // A consent for one run is none for another that comes up later, so each risk is named with its run.
  const named = Array.isArray(risks) ? { risks: risks.map((risk: string) => riskInRun(risk, key)) } : {};
  const facts = { ...plain.facts, ...named, run: key };
  found.push({ verdict, reason: { ...plain, code: "SG-OTHER-RUN", verdict, facts, way: endOther(key) } });
}
