/** Projections that run now, by the name of their server: behaviour is looked back at for a server, however many run. */
import type { Projection } from "./projection-port.ts";

export class Projections {
  readonly #byServer = new Map<string, Set<Projection>>();

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

  all(): Iterable<readonly [string, Projection]> {
    return [...this.#byServer].flatMap(([server, set]) => [...set].map((one) => [server, one] as const));
  }
}
