/**
 * The shared part of the state by owner: labels and audiences of stores outlive runs (gateway.md 4). Within memory it
 * is spread over the live runs of the owner whenever one of them changes it.
 */
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import type { SharedRow, Store } from "./store-port.ts";

export class SharedStates<Q> {
  readonly #store: Store;
  /** The newest row of each owner that this process wrote or read. */
  readonly #rows = new Map<string, SharedRow>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** A state whose shared part is the owner's; undefined when nothing is shared yet, the worst when it is lost. */
  async of(owner: string, policy: LoadedPolicy<Q>): Promise<Q | undefined> {
    const known = this.#rows.get(owner);
    if (known !== undefined) return stateOf(known, policy);
    const stored = await this.#store.shared(owner);
    // Somebody may have changed it while we waited: what is in memory is at least as new.
    const newer = this.#rows.get(owner);
    if (newer !== undefined) return stateOf(newer, policy);
    if (!stored.ok) return policy.topState();
    if (stored.value === undefined) return undefined;
    this.#rows.set(owner, stored.value);
    return stateOf(stored.value, policy);
  }

  /** A state's shared part as another policy sees it; its worst where it cannot be read. */
  seenBy(from: LoadedPolicy<Q>, q: Q, to: LoadedPolicy<Q>): Q {
    return to.digest === from.digest ? q : stateOf(rowIn(from, q, ""), to);
  }

  /** Gives the shared part of one run to the owner's other live runs; the row is to be stored with the event. */
  spread(from: LiveRun<Q>, all: Iterable<LiveRun<Q>>): SharedRow {
    const { policy, state, principal } = from;
    const row = rowIn(policy, state.q, principal);
    this.#rows.set(principal, row);
    for (const other of all) {
      if (other === from || other.principal !== principal) continue;
      const shared = other.policy.digest === policy.digest ? state.q : stateOf(row, other.policy);
      other.state = { ...other.state, q: other.policy.withShared(other.state.q, shared) };
    }
    return row;
  }
}

/** A row as it is stored or handed on, for another policy to read. */
function rowIn<Q>(policy: LoadedPolicy<Q>, q: Q, owner: string): SharedRow {
  return { owner, policyDigest: policy.digest, top: false, value: policy.exportShared(q) };
}

function stateOf<Q>(row: SharedRow, policy: LoadedPolicy<Q>): Q {
  return (row.top ? undefined : policy.importShared(row.value)) ?? policy.topState();
}
