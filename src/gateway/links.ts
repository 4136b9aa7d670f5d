/**
 * Connections to servers: one for each legacy client, one that modern clients of a principal share. A server runs as
 * the policy of the asking client orders, so clients share one only where their policies order the same. A server that
 * is given the client's own credentials takes whoever opened the connection for everybody on it, so clients share one
 * only where they brought the same. A legacy server is told once what its client can be asked, so clients share one only
 * where they can be asked the same.
 */
import type { IsolationOrder } from "../core/scope.ts";
import type { RequestMessage } from "../wire/message.ts";
import type { DroppedCounts } from "./chatter.ts";
import { bridgedConnector, eraIds } from "./era-bridge.ts";
import { linkIdleMsMax } from "./limits.ts";
import { Link } from "./link.ts";
import type { Connector, ServerTarget } from "./ports.ts";
import type { Projections } from "./projections.ts";
import type { Services } from "./services-port.ts";
import { slowStartConnector } from "./slow-start.ts";
import { StartCache } from "./start-cache.ts";

export type Wanted = {
  readonly principal: string;
  readonly server: string;
  readonly target: ServerTarget;
  /** Modern clients over HTTP share a connection. */
  readonly shared: boolean;
  readonly order: IsolationOrder | undefined;
  /** What the client can be asked (`abilitiesOf`). */
  readonly abilities: string;
};

/** What becomes known of a link outside of any conversation. */
export type LinkWatch<Q> = {
  /** A projection saw something outside of calls. */
  readonly background: (link: Link<Q>) => void;
  /** A question that may be meant for any of these runs was put to none. */
  readonly unplaced: (link: Link<Q>, question: RequestMessage, runs: readonly string[]) => void;
  /** The server said too much beside its answers. */
  readonly dropped: (link: Link<Q>, dropped: DroppedCounts<Q>) => void;
};

export class Links<Q> {
  readonly #services: Services<Q>;
  readonly #projections: Projections;
  readonly #shared = new Map<string, { readonly principal: string; readonly link: Link<Q> }>();
  /** Links of single clients, so that closing the gateway can wait for their servers to end. */
  readonly #own = new Set<Link<Q>>();
  /** A state that one bridge gave must mean nothing at another. */
  readonly #eraIds = eraIds();
  readonly #watch: LinkWatch<Q>;

  constructor(services: Services<Q>, projections: Projections, watch: LinkWatch<Q>) {
    this.#services = services;
    this.#projections = projections;
    this.#watch = watch;
  }

  open(wanted: Wanted): Link<Q> {
    const { principal, server, target, shared, order, abilities } = wanted;
    const credentials = target.kind === "http" ? target.credentials : undefined;
    const key = JSON.stringify([principal, server, order?.digest ?? null, credentials ?? null, abilities]);
    const known = shared ? this.#shared.get(key)?.link : undefined;
    if (known !== undefined && known.down === undefined) return known;
    const link = this.#opened(wanted);
    if (shared) this.#shared.set(key, { principal, link });
    else {
      for (const old of this.#own) if (old.down !== undefined) this.#own.delete(old);
      this.#own.add(link);
    }
    return link;
  }

  /** Links that clients of a principal share, to one server or to all. */
  sharedBy(principal: string, server?: string): readonly Link<Q>[] {
    const mine = [...this.#shared.values()].filter((entry) => entry.principal === principal);
    return mine.flatMap(({ link }) => (server === undefined || link.server === server ? [link] : []));
  }

  /** Closes shared links that nobody has used for a while, and those whose server is gone. */
  expire(now: number): void {
    for (const [key, { link }] of this.#shared) {
      if (link.down === undefined && now - (link.unusedSince ?? now) < linkIdleMsMax) continue;
      this.#shared.delete(key);
      void link.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all(
      [...[...this.#shared.values()].map(({ link }) => link), ...this.#own].map((link) => link.close()),
    );
  }

  #opened(wanted: Wanted): Link<Q> {
    const { clock, secrets } = this.#services;
    const { principal, server, target, shared, order } = wanted;
    const link: Link<Q> = new Link<Q>({
      server,
      target,
      connector: this.#connector(wanted),
      clock,
      hash: secrets.hash,
      shared,
      order,
      projections: { all: this.#projections, principal },
      background: () => this.#watch.background(link),
      unplaced: (question, runs) => this.#watch.unplaced(link, question, runs),
      dropped: (dropped) => this.#watch.dropped(link, dropped),
    });
    return link;
  }

  /** Eras are translated below, and a slow start is bridged above: what the client was told is of its own era. */
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
