/**
 * Runs that are open in the log and were not resumed since the gateway started. They may hold data, so changes of the
 * shared state by other runs are tested against them as against any live run (formal.md annex 13), until they are
 * resumed, closed, or were idle for too long.
 */
import type { ModelState } from "../../core/run.ts";
import type { RunEvent } from "../../core/event.ts";
import { begin } from "../../core/mechanism.ts";
import { evolve } from "../../core/step.ts";
import { dormantRunsMax, resumeMsMax } from "../ports/limits.ts";
import { isLostIn, isSpent, sameLattice } from "./live-run.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import { inheritedFrom } from "./conversation-history.ts";
import type { LineageStreams } from "./streams/lineage-streams.ts";
import { foldsPerLook, lastRunIn } from "./refold.ts";
import { Images } from "./restrictive-images.ts";
import { lineageOf, streamPrefix } from "./run-key.ts";
import type { Services } from "../ports/services.ts";
import type { SharedStates } from "./shared-store-state.ts";
import { UnhurriedWork } from "./unhurried-work.ts";
import type { RunRow } from "../ports/store.ts";

export type DormantRun = Pick<RunRow, "key" | "principal" | "begunWallMs" | "top" | "resume">;

type DormantKin = {
  readonly key: string;
  readonly ancestors: readonly string[];
  readonly groups: readonly string[];
  readonly lineage: string | undefined;
};

const nobody: ReadonlySet<string> = new Set();

/** The lineage of the runs that share a conversation with a run; a run whose conversation was cleared has none. */
function lineageIn(row: RunRow): string | undefined {
  return isSpent(row) ? undefined : lineageOf(row.key, row.principal);
}

type Told = { readonly images: readonly RunEvent[]; readonly from: LoadedPolicy };

export class DormantRuns {
  readonly #services: Services;
  readonly #shared: SharedStates;
  readonly #streams: LineageStreams;
  readonly #rows = new Map<string, RunRow>();
  /** Preparations under way, by policy and principal; undefined once they are done. */
  readonly #prepared = new Map<string, Promise<void> | undefined>();
  /** The work of those that are under way. */
  readonly #work = new Map<string, UnhurriedWork>();
  /** Keys by lineage. */
  readonly #lineages = new Map<string, Set<string>>();
  /** There are more open runs than can be tested: any of the others may hold anything. */
  #more = false;
  /** States by policy digest, then by run key. */
  readonly #states = new Map<string, Map<string, ModelState>>();
  readonly #policies = new Map<string, LoadedPolicy>();
  /** Restrictions that runs received while they were folded, by policy digest and key. */
  readonly #told = new Map<string, Told[]>();

  constructor(services: Services, shared: SharedStates, streams: LineageStreams) {
    this.#services = services;
    this.#shared = shared;
    this.#streams = streams;
  }

  /** Notes the open runs of the log, if they are `known`; called once, before anything is served. */
  load(open: readonly RunRow[], known = true): void {
    this.#more = !known;
    for (const row of open) {
      if (row.key.startsWith(streamPrefix)) continue;
      if (this.#rows.size >= dormantRunsMax) {
        this.#more = true;
        return;
      }
      this.note(row);
    }
  }

  /** What was folded came from records that can no longer be believed: each run counts as holding everything. */
  distrust(): void {
    for (const states of this.#states.values()) states.clear();
    for (const row of this.#rows.values()) this.#rows.set(row.key, { ...row, top: true });
  }

  /** Notes an open run that is not resumed; known from `load`, or found in the store where there are too many. */
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

  /** The relatives of a run; further ancestors are found through the first. */
  kin(key: string): DormantKin | undefined {
    const row = this.#rows.get(key);
    if (row === undefined) return undefined;
    const lineage = lineageIn(row);
    return {
      key,
      ancestors: row.parent === undefined ? [] : [row.parent],
      groups: lineage === undefined ? [] : [lineage],
      lineage,
    };
  }

  /** Another run began it, and hears of what restricts it. */
  isChild(key: string): boolean {
    return this.#rows.get(key)?.parent !== undefined;
  }

  /** The stream of a lineage got restrictions, which its runs fold when they are resumed: as in `restrict`. */
  restrictLineage(lineage: string, images: readonly RunEvent[], from: LoadedPolicy): void {
    if (this.#states.size === 0) return;
    for (const key of this.ofLineage(lineage)) this.restrict(key, images, from);
  }

  /** A relative wrote restrictions into the log of a run: the states folded so far follow them. */
  restrict(key: string, images: readonly RunEvent[], from: LoadedPolicy): void {
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
   * Folds what a principal's dormant runs hold under a policy, so that the test needs to wait for nothing. Begun with
   * the first message of a run, and waited for by calls that could change what is shared.
   */
  prepare(principal: string, policy: LoadedPolicy, urgent = false): Promise<void> | undefined {
    const name = `${policy.digest} ${principal}`;
    if (!policy.regulated || this.#rows.size === 0) return undefined;
    const work = this.#work.get(name) ?? new UnhurriedWork(this.#services.clock, this.#services.log.store);
    work.urgent ||= urgent;
    if (this.#prepared.has(name)) return this.#prepared.get(name);
    this.#work.set(name, work);
    // A run that could not be folded stays unknown, and so counts as holding everything.
    const preparing = this.#prepare(principal, policy, work)
      .catch(() => undefined)
      .finally(() => {
        this.#prepared.set(name, undefined);
        this.#work.delete(name);
      });
    this.#prepared.set(name, preparing);
    return preparing;
  }

  async #prepare(principal: string, policy: LoadedPolicy, work: UnhurriedWork): Promise<void> {
    let states = this.#states.get(policy.digest);
    if (states === undefined) this.#states.set(policy.digest, (states = new Map()));
    this.#policies.set(policy.digest, policy);
    // Of those that are there now: the map changes while others go first.
    const there = [...this.#rows.values()];
    for (const row of there) {
      if (row.principal !== principal || states.has(row.key) || this.#rows.get(row.key) !== row) continue;
      // After too long a time of folding, the remaining runs count as holding everything.
      const late = work.workedMs > resumeMsMax;
      const told: Told[] = [];
      this.#told.set(`${policy.digest} ${row.key}`, told);
      const q = isLostIn(row) || late ? policy.topState() : await this.#folded(row, policy, work);
      this.#told.delete(`${policy.digest} ${row.key}`);
      // Resumed, ended or distrusted meanwhile: what was folded is no longer what it holds.
      if (this.#rows.get(row.key) !== row) continue;
      states.set(
        row.key,
        told.reduce((all, one) => restricted(policy, all, one), q),
      );
    }
  }

  /** States of the principal's dormant runs under a policy; the worst for what was not prepared. */
  of(principal: string, policy: LoadedPolicy): readonly { readonly key: string; readonly q: ModelState }[] {
    const states = this.#states.get(policy.digest);
    const found: { readonly key: string; readonly q: ModelState }[] = [];
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

  /** Forgets a run that was resumed or ended: from now on its live state counts. */
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

  async #folded({ key, principal }: RunRow, policy: LoadedPolicy, work: UnhurriedWork): Promise<ModelState> {
    const pause = (): Promise<void> | undefined => work.pause();
    const { log } = this.#services;
    const history = await log.replay(key, policy.lattice, { pause });
    const shared = await this.#shared.of(principal, policy);
    if (!history.ok || !history.value.complete) return policy.topState();
    const own = lastRunIn(history.value.events);
    const received = await this.#received(key, { principal, policy, member: history.value.member, own });
    if (received === undefined) return policy.topState();
    const until = work.workedMs + resumeMsMax;
    let run = begin(policy.engine, key, shared);
    for (const [index, event] of [...own, ...received].entries()) {
      const looks = index % foldsPerLook === 0;
      const made = looks ? work.pause() : undefined;
      if (made !== undefined) await made;
      const next = evolve(policy.engine, run, event);
      if (!next.ok || (looks && work.workedMs > until)) return policy.topState();
      run = next.value;
    }
    return run.q;
  }

  /** What a run takes over when it is resumed, where it joins the stream of its lineage only then. */
  async #received(key: string, { principal, policy, member, own }: ReadRun): Promise<readonly RunEvent[] | undefined> {
    const lineage = lineageOf(key, principal);
    const stream = lineage === undefined ? undefined : this.#streams.of(lineage);
    if (stream === undefined || stream.key === member) return [];
    const { images, whole } = await inheritedFrom(this.#services.log, [stream.key], policy.lattice);
    if (!whole || stream.lost) return undefined;
    const known = new Images(own);
    return images.filter((image) => !known.has(image));
  }
}

/** A run that is read: of which stream it was a member when its records ended, and what happened in it. */
type ReadRun = Pick<RunRow, "principal"> & {
  readonly policy: LoadedPolicy;
  readonly member: string | undefined;
  readonly own: readonly RunEvent[];
};

/**
 * The model is pure: received images lead from any state of a run to the next; an image that is not a move of the model
 * leads to the worst state.
 */
function restricted(policy: LoadedPolicy, q: ModelState, { images, from }: Told): ModelState {
  if (!sameLattice(from, policy)) return policy.topState();
  let state = q;
  for (const image of images) {
    const next = policy.engine.model.next(state, image);
    if (!next.ok) return policy.topState();
    state = next.value;
  }
  return state;
}
