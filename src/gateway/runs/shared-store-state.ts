/**
 * The shared part of the state by owner: labels and audiences of stores outlive runs (gateway.md 4). Within memory it
 * is spread over the live runs of the owner whenever one of them changes it.
 */
import type { ModelState } from "../../core/run.ts";
import { type Result, ok } from "../../core/result.ts";
import { ownersMax } from "../ports/limits.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { SharedRow, Store, StoreFailure } from "../ports/store.ts";

export class SharedStates {
  readonly #store: Store;
  /** The newest row of each owner that this process wrote or read. */
  readonly #rows = new Map<string, SharedRow>();
  /** Resets on their way into the log: a run begins neither with a row that may go nor with one that may not come. */
  readonly #replacing = new Map<string, Promise<boolean>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** A state whose shared part is the owner's; undefined when nothing is shared yet, the worst when it is lost. */
  async of(owner: string, policy: LoadedPolicy): Promise<ModelState | undefined> {
    const row = await this.row(owner);
    if (!row.ok) return policy.topState();
    return row.value === undefined ? undefined : stateOf(row.value, policy);
  }

  /** The rows came from a log that can no longer be believed: every store may hold everything. */
  distrust(): void {
    for (const row of this.#rows.values()) this.#rows.set(row.owner, { ...row, top: true });
  }

  /** The owner's newest row; undefined when nothing is shared yet. */
  async row(owner: string): Promise<Result<SharedRow | undefined, StoreFailure>> {
    await this.#replacing.get(owner);
    const known = this.#rows.get(owner);
    if (known !== undefined) return ok(known);
    const stored = await this.#store.shared(owner);
    await this.#replacing.get(owner);
    // Another caller may have changed the row during the wait: the one in memory is at least as new.
    const newer = this.#rows.get(owner);
    if (newer !== undefined) return ok(newer);
    if (stored.ok && stored.value !== undefined) this.#rows.set(owner, stored.value);
    return stored;
  }

  /** The row as `row` gives it, without a wait; for callers that must not wait between reading and changing it. */
  known(owner: string): SharedRow | undefined {
    return this.#rows.get(owner);
  }

  /** Newest rows of all owners, by owner. */
  async rows(): Promise<Result<readonly SharedRow[], StoreFailure>> {
    const stored = await this.#store.sharedRows(ownersMax);
    if (!stored.ok) return stored;
    const newest = new Map(stored.value.map((row) => [row.owner, row]));
    for (const [owner, row] of this.#rows) newest.set(owner, row);
    return ok([...newest.values()].toSorted((left, right) => (left.owner < right.owner ? -1 : 1)));
  }

  /** A reset of the owner's row is on its way into the log. */
  replacing(owner: string): boolean {
    return this.#replacing.has(owner);
  }

  /**
   * Puts a row that says less in place of the owner's, once `write` has made it durable: the only way in which labels
   * fall. The caller has checked, in the same turn, that no run of the owner is open.
   */
  replace(row: SharedRow, write: () => Promise<boolean>): Promise<boolean> {
    const replaced = this.#replace(row, write).finally(() => this.#replacing.delete(row.owner));
    this.#replacing.set(row.owner, replaced);
    return replaced;
  }

  async #replace(row: SharedRow, write: () => Promise<boolean>): Promise<boolean> {
    if (!(await write())) return false;
    this.#rows.set(row.owner, row);
    return true;
  }

  /** A state's shared part as another policy sees it; its worst where it cannot be read. */
  seenBy(from: LoadedPolicy, q: ModelState, to: LoadedPolicy): ModelState {
    return to.digest === from.digest ? q : stateOf(rowIn(from, q, undefined), to);
  }

  /** Gives the shared part of one run to the owner's other live runs; the row is to be stored with the event. */
  spread(from: LiveRun, all: Iterable<LiveRun>): SharedRow {
    const { policy, state, principal } = from;
    const row = { ...rowIn(policy, state.q, this.#rows.get(principal)), owner: principal };
    this.#rows.set(principal, row);
    for (const other of all) {
      if (other === from || other.principal !== principal) continue;
      const shared = other.policy.digest === policy.digest ? state.q : stateOf(row, other.policy);
      other.folded = { ...other.folded, q: other.policy.withShared(other.folded.q, shared) };
    }
    return row;
  }
}

/**
 * A row as it is stored or handed on, for another policy to read. A row that was lost before stays lost for every
 * policy.
 */
function rowIn(policy: LoadedPolicy, q: ModelState, former: SharedRow | undefined): SharedRow {
  const lost = former !== undefined && (former.top || policy.importShared(former.value) === undefined);
  return { owner: "", policyDigest: policy.digest, top: lost, value: policy.exportShared(q, former?.value) };
}

function stateOf(row: SharedRow, policy: LoadedPolicy): ModelState {
  return (row.top ? undefined : policy.importShared(row.value)) ?? policy.topState();
}
