/**
 * The test of the other live runs (formal.md 4.5, example 7): a call that changes what runs share, such as opening a
 * channel, must be fine for each of them, not only for its own. It runs in the turn of the commit, so nobody can move in
 * between; whoever comes second is refused or asked about.
 */
import type { Decision } from "../core/decision.ts";
import type { RunEvent } from "../core/event.ts";
import { reasonsMax } from "../core/limits.ts";
import type { Reason } from "../core/opinion.ts";
import { riskInRun } from "../core/regulation-cause.ts";
import type { Verdict } from "../core/verdict.ts";
import { stricter } from "../core/verdict.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import type { SharedStates } from "./shared-states.ts";

/** What a call means for one other run. */
type OtherVerdict = {
  readonly verdict: Verdict;
  readonly reason: Reason;
};

export type OtherRunsSetup<Q> = {
  readonly live: () => Iterable<LiveRun<Q>>;
  readonly dormant: DormantRuns<Q>;
  readonly shared: SharedStates<Q>;
};

/** Keys that a sentence can hold, and that a shell takes for one word: parts of a key are words of clients. */
export const plainKey = /^[\w.:@/+-]{1,60}$/;

function endOther(key: string): string {
  const how = plainKey.test(key) ? `\`sluicegate runs close ${key}\`` : "`sluicegate runs` lists them";
  return `ask the user to end that run (${how}), then repeat`;
}

export class OtherRuns<Q> {
  readonly #setup: OtherRunsSetup<Q>;

  constructor(setup: OtherRunsSetup<Q>) {
    this.#setup = setup;
  }

  /** The other runs of the owner that an event would harm; none where it leaves the shared part as it is. */
  #harmedBy(live: LiveRun<Q>, event: RunEvent): readonly OtherVerdict[] {
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
      // It was folded when it was needed first; what has been shared since is shared with it, too.
      const verdict = live.policy.sharedVerdict(moved.value, live.policy.withShared(q, live.state.q));
      add(found, key, verdict);
    }
    return found;
  }

  /** Stores that only the other run's policy declares are not moved: they are as that run knows them. */
  #seen(from: LoadedPolicy<Q>, moved: Q, { policy, state }: LiveRun<Q>): Q {
    return policy.withShared(this.#setup.shared.seenBy(from, moved, policy), state.q);
  }

  /** The decision with what it means for others; a deny stays as it is. */
  tested(live: LiveRun<Q>, event: RunEvent | undefined, decision: Decision): Decision {
    if (event === undefined || decision.verdict === "deny") return decision;
    const harmed = this.#harmedBy(live, event);
    if (harmed.length === 0) return decision;
    const strictest = harmed.reduce<Verdict>((all, { verdict }) => stricter(all, verdict), decision.verdict);
    const unobserved = stricter(decision.unobserved, strictest);
    const deciding = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict === strictest);
    const others = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict !== strictest);
    const all = [...deciding, ...decision.reasons, ...others];
    const reasons = all.slice(0, reasonsMax);
    if (strictest !== "confirm" || all.length <= reasonsMax) {
      return { ...decision, verdict: strictest, unobserved, reasons };
    }
    // Nobody is asked to accept what no card could name.
    const refused = reasons.map((reason): Reason => ({ ...reason, verdict: "deny" }));
    return { ...decision, verdict: "deny", unobserved: "deny", reasons: refused };
  }

  #counts(live: LiveRun<Q>, other: LiveRun<Q>): boolean {
    if (other === live || other.ended || other.principal !== live.principal || !other.policy.regulated) return false;
    // Who is only observed stops nothing, and so nobody else either; one observer logs what it means for another.
    return other.policy.settings.mode === "enforce" || live.policy.settings.mode === "observe";
  }

  /** Those that live in memory by now are tested as they are there; one that is being folded counts as it was. */
  #dormant(live: LiveRun<Q>): readonly { readonly key: string; readonly q: Q }[] {
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
