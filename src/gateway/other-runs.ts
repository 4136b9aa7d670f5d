/**
 * The test of the other live runs (formal.md 4.5, example 7): a call that changes what runs share, such as opening a
 * channel, must be fine for each of them, not only for its own. It runs in the turn of the commit, so nobody can move in
 * between; whoever comes second is refused or asked about.
 */
import type { Decision } from "../core/decision.ts";
import type { RunEvent } from "../core/event.ts";
import { reasonsMax } from "../core/limits.ts";
import type { Reason } from "../core/opinion.ts";
import { risksIn } from "../core/render.ts";
import type { Verdict } from "../core/verdict.ts";
import { stricter } from "../core/verdict.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import type { SharedStates } from "./shared-states.ts";

/** What a call means for one other run. */
export type OtherVerdict<Q> = {
  readonly key: string;
  /** Undefined for a run that nobody has taken up. */
  readonly live: LiveRun<Q> | undefined;
  readonly verdict: Verdict;
  readonly reason: Reason;
};

export type OtherRunsSetup<Q> = {
  readonly live: () => Iterable<LiveRun<Q>>;
  readonly dormant: DormantRuns<Q>;
  readonly shared: SharedStates<Q>;
};

/** Keys that a sentence can hold, and that can neither turn it nor end its code. */
export const plainKey = /^[!-_a-~]{1,60}$/;

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
  harmedBy(live: LiveRun<Q>, event: RunEvent): readonly OtherVerdict<Q>[] {
    const others = [...this.#setup.live()].filter((one) => this.#counts(live, one));
    const dormant = live.policy.regulated ? this.#dormant(live) : [];
    if (others.length === 0 && dormant.length === 0) return [];
    // The model is pure: asking it where the event leads folds nothing.
    const moved = live.policy.engine.model.next(live.state.q, event);
    if (!moved.ok || !live.policy.sharedChanged(live.state.q, moved.value)) return [];
    const found: OtherVerdict<Q>[] = [];
    for (const other of others) {
      const { policy, key } = other;
      const shared = policy === live.policy ? moved.value : this.#seen(live.policy, moved.value, other);
      const verdict = policy.sharedVerdict(shared, other.state.q);
      add(found, { key, live: other, ...verdict });
    }
    for (const { key, q } of dormant) {
      // It was folded when it was needed first; what has been shared since is shared with it, too.
      const verdict = live.policy.sharedVerdict(moved.value, live.policy.withShared(q, live.state.q));
      add(found, { key, live: undefined, ...verdict });
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
    const harmed = this.harmedBy(live, event);
    if (harmed.length === 0) return decision;
    const strictest = harmed.reduce<Verdict>((all, { verdict }) => stricter(all, verdict), decision.verdict);
    const unobserved = stricter(decision.unobserved, strictest);
    const deciding = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict === strictest);
    const others = harmed.map(({ reason }) => reason).filter(({ verdict }) => verdict !== strictest);
    const reasons = [...deciding, ...decision.reasons, ...others].slice(0, reasonsMax);
    return { ...decision, verdict: strictest, unobserved, reasons };
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

function add<Q>(
  found: OtherVerdict<Q>[],
  one: Omit<OtherVerdict<Q>, "reason"> & { readonly reason: Reason | undefined },
): void {
  const { key, live, verdict, reason } = one;
  if (verdict === "allow") return;
  const plain: Reason = reason ?? { mechanism: "gateway", code: "SG-OTHER-RUN", verdict, facts: {} };
  const said: Reason = {
    ...plain,
    code: "SG-OTHER-RUN",
    verdict,
    facts: { ...plain.facts, run: key },
    way: endOther(key),
  };
  found.push({ key, live, verdict, reason: said });
}

/** Risks that a consent to the decision would have to accept in one other run. */
export function risksFor<Q>({ reason }: OtherVerdict<Q>, decision: Decision): readonly string[] {
  return risksIn({ ...decision, reasons: [reason] });
}
