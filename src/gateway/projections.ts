/** Projections that run now, by the name of their server: behaviour is looked back at for a server, however many run. */
import type { Projection } from "./projection-port.ts";

/** Runs of which one projection remembers that they know it. */
const runsShownMax = 4_096;

export class Projections {
  readonly #byServer = new Map<string, Set<Projection>>();
  readonly #shown = new WeakMap<Projection, Set<string>>();

  add(server: string, projection: Projection): void {
    const known = this.#byServer.get(server);
    if (known === undefined) this.#byServer.set(server, new Set([projection]));
    else known.add(projection);
  }

  remove(server: string, projection: Projection): void {
    const known = this.#byServer.get(server);
    known?.delete(projection);
    if (known?.size === 0) this.#byServer.delete(server);
  }

  of(server: string): readonly Projection[] {
    return [...(this.#byServer.get(server) ?? [])];
  }

  /** True once for each run and projection: how it is isolated is put on record then. */
  firstUse(projection: Projection, run: string): boolean {
    const runs = this.#shown.get(projection) ?? new Set<string>();
    this.#shown.set(projection, runs);
    if (runs.has(run) || runs.size >= runsShownMax) return false;
    runs.add(run);
    return true;
  }

  all(): Iterable<readonly [string, Projection]> {
    return [...this.#byServer].flatMap(([server, set]) => [...set].map((one) => [server, one] as const));
  }
}
