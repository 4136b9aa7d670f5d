/**
 * Connections to servers: one for each legacy client, one that modern clients of a principal share. A server runs as
 * the policy of the asking client orders, so clients share one only where their policies order the same. A server that
 * is given the client's own credentials attributes all messages on a connection to the client that opened it, so
 * clients share one only where they brought the same credentials. A legacy server learns the capabilities of its client
 * once, so clients share one only where they can be asked the same. The memory of a local server is a store that no label
 * describes, so only clients of one run share its process, and it ends with the run.
 */
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { bridgedConnector, eraIds } from "./era-bridge.ts";
import { linkIdleMsMax } from "../ports/limits.ts";
import { Link, type LinkWatch } from "./upstream-link.ts";
import type { Connector, ServerTarget } from "../ports/transport.ts";
import type { Projections } from "./projection-registry.ts";
import type { Services } from "../ports/services.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { slowStartConnector } from "./slow-start.ts";
import { StartCache } from "./start-cache.ts";

export type Wanted = {
  readonly principal: string;
  readonly server: string;
  readonly target: ServerTarget;
  /** Modern clients over HTTP share a connection. */
  readonly shared: boolean;
  readonly order: IsolationOrder | undefined;
  /** The run that the client's messages belong to. */
  readonly run: LiveRun | undefined;
  /** The abilities of the client: the questions that it can be asked (`abilitiesOf`). */
  readonly abilities: string;
};

type SharedLink = { readonly principal: string; readonly link: Link; readonly run: LiveRun | undefined };

export class Links {
  readonly #services: Services;
  readonly #projections: Projections;
  readonly #shared = new Map<string, SharedLink>();
  /** A number for each run that has a process: its key may come again after its end. */
  readonly #numbers = new WeakMap<LiveRun, number>();
  #numbered = 0;
  /** Links of single clients, so that closing the gateway can wait for their servers to end. */
  readonly #own = new Set<Link>();
  /** A state that one bridge gave must mean nothing at another. */
  readonly #eraIds = eraIds();
  readonly #watch: LinkWatch;

  constructor(services: Services, projections: Projections, watch: LinkWatch) {
    this.#services = services;
    this.#projections = projections;
    this.#watch = watch;
  }

  open(wanted: Wanted): Link {
    const { principal, server, target, shared, order, abilities } = wanted;
    const credentials = target.kind === "http" ? target.credentials : undefined;
    const run = target.kind === "stdio" ? wanted.run : undefined;
    const number = run === undefined ? null : this.#numberOf(run);
    const key = JSON.stringify([principal, server, order?.digest ?? null, credentials ?? null, abilities, number]);
    const known = shared ? this.#shared.get(key)?.link : undefined;
    if (known !== undefined && known.down === undefined) return known;
    const link = this.#opened(wanted);
    if (shared) this.#shared.set(key, { principal, link, run });
    else {
      for (const old of this.#own) if (old.down !== undefined) this.#own.delete(old);
      this.#own.add(link);
    }
    return link;
  }

  /** Links that clients of a principal share, to one server or to all. */
  sharedBy(principal: string, server?: string): readonly Link[] {
    const mine = [...this.#shared.values()].filter((entry) => entry.principal === principal);
    return mine.flatMap(({ link }) => (server === undefined || link.server === server ? [link] : []));
  }

  /** Closes shared links that no client has used for a while, and those whose server is gone or whose run is over. */
  expire(now: number): void {
    for (const [key, { link, run }] of this.#shared) {
      const used = link.down === undefined && now - (link.unusedSince ?? now) < linkIdleMsMax;
      if (used && (run?.ended !== true || link.unusedSince === undefined)) continue;
      this.#shared.delete(key);
      void link.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      [...[...this.#shared.values()].map(({ link }) => link), ...this.#own].map((link) => link.close()),
    );
  }

  #numberOf(run: LiveRun): number {
    const known = this.#numbers.get(run);
    if (known !== undefined) return known;
    this.#numbered += 1;
    this.#numbers.set(run, this.#numbered);
    return this.#numbered;
  }

  #opened(wanted: Wanted): Link {
    const { clock, secrets } = this.#services;
    const { principal, server, target, shared, order } = wanted;
    return new Link({
      server,
      target,
      connector: this.#connector(wanted),
      clock,
      secrets,
      shared,
      order,
      projections: { all: this.#projections, principal },
      watch: this.#watch,
    });
  }

  /** Eras are translated below, and a slow start is bridged above: the client's answers are of its own era. */
  #connector({ principal, server, target }: Wanted): Connector {
    const { clock, connector, human, log, secrets } = this.#services;
    const identity = { principal, server, target };
    return slowStartConnector({
      connector: bridgedConnector(connector, clock, this.#eraIds),
      clock,
      cache: new StartCache({ store: log.store, hash: secrets.hash, wallMs: () => clock.wallMs(), identity }),
      server,
      tell: (text) => human.notify(text),
    });
  }
}
