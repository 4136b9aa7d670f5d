/**
 * Runs that are open in the log and that nobody has taken up since the gateway started. They may hold data, so what
 * other runs do to the shared state is tested against them as against any live run (formal.md annex 13), until they
 * are taken up, closed, or were idle for too long.
 */
import type { RunEvent } from "../core/event.ts";
import { begin } from "../core/mechanism.ts";
import { evolve } from "../core/step.ts";
import { dormantRunsMax, resumeMsMax } from "./limits.ts";
import { isSpent, sameLattice } from "./live-run.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import { foldsPerLook, lastRunIn } from "./refold.ts";
import { lineageOf } from "./run-keys.ts";
import type { Services } from "./services-port.ts";
import type { SharedStates } from "./shared-states.ts";
import type { RunRow } from "./store-port.ts";

export type DormantRun = Pick<RunRow, "key" | "principal" | "begunWallMs" | "top" | "resume">;

const nobody: ReadonlySet<string> = new Set();

/** Whom a run shares a conversation with; one whose conversation was cleared keeps to itself. */
function lineageIn(row: RunRow): string | undefined {
  return isSpent(row) ? undefined : lineageOf(row.key, row.principal);
}

type Told<Q> = { readonly images: readonly RunEvent[]; readonly from: LoadedPolicy<Q> };

export class DormantRuns<Q> {
  readonly #services: Services<Q>;
  readonly #shared: SharedStates<Q>;
  readonly #rows = new Map<string, RunRow>();
  /** What is being folded, by policy and principal; undefined once it is. */
  readonly #prepared = new Map<string, Promise<void> | undefined>();
  /** Keys by lineage. */
  readonly #lineages = new Map<string, Set<string>>();
  /** There are more than can be looked at: somebody among them may hold anything. */
  #more = false;
  /** States by policy digest, then by run key. */
  readonly #states = new Map<string, Map<string, Q>>();
  readonly #policies = new Map<string, LoadedPolicy<Q>>();
  /** What runs were told while they were folded, by policy digest and key. */
  readonly #told = new Map<string, Told<Q>[]>();

  constructor(services: Services<Q>, shared: SharedStates<Q>) {
    this.#services = services;
    this.#shared = shared;
  }

  /** Learns from the store which runs are open; called once, before anything is served. */
  async load(): Promise<void> {
    const { log } = this.#services;
    const rows = await log.store.openRuns();
    if (!rows.ok) {
      this.#more = true;
      return;
    }
    for (const row of rows.value) {
      if (this.#rows.size >= dormantRunsMax) {
        this.#more = true;
        return;
      }
      this.note(row);
    }
  }

  /** An open run that nobody has taken up; known from `load`, or found in the store where there are too many. */
  note(row: RunRow): void {
    this.#unlink(row.key);
    this.#rows.set(row.key, row);
    const lineage = lineageIn(row);
    if (lineage === undefined) return;
    const keys = this.#lineages.get(lineage) ?? new Set();
    this.#lineages.set(lineage, keys.add(row.key));
  }

  /** There are open runs that are not among these. */
  get more(): boolean {
    return this.#more;
  }

  ofLineage(lineage: string): ReadonlySet<string> {
    return this.#lineages.get(lineage) ?? nobody;
  }

  /** Whom a run belongs to; further ancestors are found through the first. */
  kin(
    key: string,
  ): { readonly key: string; readonly ancestors: readonly string[]; readonly groups: readonly string[] } | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    const lineage = lineageIn(row);
    return {
      key,
      ancestors: row.parent === undefined ? [] : [row.parent],
      groups: lineage === undefined ? [] : [lineage],
    };
  }

  /** A relative has told it, in its log, what restricts: what was folded of it so far follows. */
  restrict(key: string, images: readonly RunEvent[], from: LoadedPolicy<Q>): void {
    for (const [digest, states] of this.#states) {
      this.#told.get(`${digest} ${key}`)?.push({ images, from });
      const q = states.get(key);
      const policy = this.#policies.get(digest);
      if (q !== undefined && policy !== undefined) states.set(key, restricted(policy, q, { images, from }));
    }
  }

  /** When something last happened in a run, in ms since 1970. */
  async activeWallMs({ key, begunWallMs }: DormantRun): Promise<number> {
    const last = await this.#services.log.tail(1, key);
    const said = last.ok ? Date.parse(last.value.at(-1)?.wallTime ?? "") : Number.NaN;
    return Number.isNaN(said) ? begunWallMs : said;
  }

  /**
   * Folds what a principal's dormant runs hold under a policy, so that the test needs to wait for nothing. Begun with the
   * first message of a run, and waited for by calls that could change what is shared.
   */
  prepare(principal: string, policy: LoadedPolicy<Q>): Promise<void> | undefined {
    const name = `${policy.digest} ${principal}`;
    if (!policy.regulated || this.#rows.size === 0) return undefined;
    if (this.#prepared.has(name)) return this.#prepared.get(name);
    // What could not be folded stays unknown, and so counts as holding everything.
    const preparing = this.#prepare(principal, policy)
      .catch(() => undefined)
      .finally(() => this.#prepared.set(name, undefined));
    this.#prepared.set(name, preparing);
    return preparing;
  }

  async #prepare(principal: string, policy: LoadedPolicy<Q>): Promise<void> {
    let states = this.#states.get(policy.digest);
    if (states === undefined) this.#states.set(policy.digest, (states = new Map()));
    this.#policies.set(policy.digest, policy);
    const { clock } = this.#services;
    const until = clock.monotonicMs() + resumeMsMax;
    for (const row of this.#rows.values()) {
      if (row.principal !== principal || states.has(row.key)) continue;
      // Who folds for too long looks at the rest as at runs that hold everything.
      const late = clock.monotonicMs() > until;
      const told: Told<Q>[] = [];
      this.#told.set(`${policy.digest} ${row.key}`, told);
      const q = row.top || late ? policy.topState() : await this.#folded(row, policy);
      states.set(
        row.key,
        told.reduce((all, one) => restricted(policy, all, one), q),
      );
      this.#told.delete(`${policy.digest} ${row.key}`);
    }
  }

  /** States of the principal's dormant runs under a policy; the worst for what was not prepared. */
  of(principal: string, policy: LoadedPolicy<Q>): readonly { readonly key: string; readonly q: Q }[] {
    const states = this.#states.get(policy.digest);
    const found: { readonly key: string; readonly q: Q }[] = [];
    for (const row of this.#rows.values()) {
      if (row.principal === principal) found.push({ key: row.key, q: states?.get(row.key) ?? policy.topState() });
    }
    return this.#more ? [...found, { key: "", q: policy.topState() }] : found;
  }

  all(): readonly DormantRun[] {
    return [...this.#rows.values()];
  }

  find(key: string): DormantRun | undefined {
    return this.#rows.get(key);
  }

  /** Somebody has taken the run up, or ended it: from now on it speaks for itself. */
  forget(key: string): void {
    this.#unlink(key);
    this.#rows.delete(key);
    for (const states of this.#states.values()) states.delete(key);
  }

  #unlink(key: string): void {
    const row = this.#rows.get(key);
    const lineage = row === undefined ? undefined : lineageIn(row);
    if (lineage === undefined) return;
    const keys = this.#lineages.get(lineage);
    keys?.delete(key);
    if (keys?.size === 0) this.#lineages.delete(lineage);
  }

  async #folded({ key, principal }: RunRow, policy: LoadedPolicy<Q>): Promise<Q> {
    const history = await this.#services.log.replay(key, policy.lattice);
    const shared = await this.#shared.of(principal, policy);
    if (!history.ok || !history.value.complete) return policy.topState();
    const { clock } = this.#services;
    const until = clock.monotonicMs() + resumeMsMax;
    let run = begin(policy.engine, key, shared);
    for (const [index, event] of lastRunIn(history.value.events).entries()) {
      const next = evolve(policy.engine, run, event);
      // Everybody waits while a history is folded.
      const late = index % foldsPerLook === 0 && clock.monotonicMs() > until;
      if (!next.ok || late) return policy.topState();
      run = next.value;
    }
    return run.q;
  }
}

/** The model is pure: what is told leads from any state of a run to the next; the worst where it is no move. */
function restricted<Q>(policy: LoadedPolicy<Q>, q: Q, { images, from }: Told<Q>): Q {
  if (!sameLattice(from, policy)) return policy.topState();
  let state = q;
  for (const image of images) {
    const next = policy.engine.model.next(state, image);
    if (!next.ok) return policy.topState();
    state = next.value;
  }
  return state;
}
