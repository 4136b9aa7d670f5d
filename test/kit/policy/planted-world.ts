/**
 * Servers that give away whatever they can, after lifecycle.md 1.6 and nothing else: the oracle of belief that rests on
 * enforcement. It knows secrets, processes and folders, and no label, contract or rule.
 *
 * A process knows every secret that it was given in any run, that it can read in the workspace, and that its home held
 * before. All of it may stand in any result. All of it is in the workspace once it could write there, and with everybody
 * once it could reach any other party.
 */
export type Reach = {
  /** The kernel enforces the order: the tier, and `backend: auto` or `where-possible`. */
  readonly enforced: boolean;
  readonly network: boolean;
  readonly sockets: boolean;
  readonly inPlace: boolean;
  readonly workspace: "overlay" | "kept" | "read" | "none" | "direct";
  readonly readsPath: boolean;
};

export class PlantedWorld {
  readonly #reach: ReadonlyMap<string, Reach>;
  readonly #known = new Map<string, Set<string>>();
  readonly #workspace = new Set<string>();
  /** Secrets that anyone has by now. */
  readonly public = new Set<string>();

  constructor(reach: ReadonlyMap<string, Reach>) {
    this.#reach = reach;
    for (const server of reach.keys()) this.#known.set(server, new Set());
  }

  /** A call reaches a server with these secrets in its arguments; gives the secrets that its result may hold. */
  call(server: string, given: Iterable<string>): ReadonlySet<string> {
    const own = this.#known.get(server) ?? new Set();
    for (const secret of given) own.add(secret);
    this.#spread();
    return new Set(own);
  }

  /** Until nothing is new: processes read, write and send whenever they like. */
  #spread(): void {
    for (let before = -1; before !== this.#size();) {
      before = this.#size();
      for (const [server, reach] of this.#reach) this.#act(this.#known.get(server) ?? new Set(), reach);
    }
  }

  #act(own: Set<string>, reach: Reach): void {
    const free = !reach.enforced;
    if (free || reach.readsPath || reach.workspace !== "none") for (const one of this.#workspace) own.add(one);
    const writes = free || reach.inPlace || reach.workspace === "overlay" || reach.workspace === "direct";
    if (writes) for (const one of own) this.#workspace.add(one);
    if (free || reach.network || reach.sockets) for (const one of own) this.public.add(one);
  }

  #size(): number {
    return [...this.#known.values()].reduce((sum, one) => sum + one.size, this.#workspace.size + this.public.size);
  }
}
