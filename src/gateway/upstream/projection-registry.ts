/**
 * Projections that run now. The effects of one between calls are looked at only for runs of the principal that it runs
 * for, and under the order that it runs under: they touch no log and no verdict of another principal.
 */
import type { LiveRun } from "../runs/live-run.ts";
import type { Projection } from "../ports/projection.ts";

/** Runs of which one projection remembers that they know it. */
const runsShownMax = 4_096;

export type ProjectionOwner = { readonly server: string; readonly principal: string; readonly order: string };

export class Projections {
  readonly #owners = new Map<Projection, ProjectionOwner>();
  readonly #shown = new WeakMap<Projection, Set<string>>();

  add(projection: Projection, owner: ProjectionOwner): void {
    this.#owners.set(projection, owner);
  }

  remove(projection: Projection): void {
    this.#owners.delete(projection);
  }

  /** Those of a server that a run may have used. */
  usedBy({ principal, policy }: Pick<LiveRun, "principal" | "policy">, server: string): readonly Projection[] {
    const order = policy.isolation(server)?.digest;
    return [...this.#owners].flatMap(([projection, owner]) =>
      owner.server === server && owner.principal === principal && owner.order === order ? [projection] : [],
    );
  }

  /** True once for each run and projection: how it is isolated is put on record then. */
  firstUse(projection: Projection, run: string): boolean {
    const runs = this.#shown.get(projection) ?? new Set<string>();
    this.#shown.set(projection, runs);
    if (runs.has(run) || runs.size >= runsShownMax) return false;
    runs.add(run);
    return true;
  }

  /** All of them, or all of one server, for reports. */
  all(server?: string): readonly (readonly [string, Projection])[] {
    const entries = [...this.#owners].map(([projection, owner]) => [owner.server, projection] as const);
    return server === undefined ? entries : entries.filter(([name]) => name === server);
  }
}
