/** The sessions of all connected clients: which of them, and so which connections to servers, a run uses. */
import type { NotificationMessage } from "../../wire/message.ts";
import type { Flushed, Held } from "../calls/outbox.ts";
import type { Ordered, RunServers } from "../calls/unattended-calls.ts";
import type { Performed, PerformOrder } from "../ports/conversation.ts";
import type { Projection } from "../ports/projection.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";
import type { Link } from "../upstream/upstream-link.ts";
import type { ClientSession } from "./client-session.ts";
import type { MessageRouter } from "./message-router.ts";

export class ConnectedSessions implements RunServers {
  readonly #sessions = new Set<ClientSession>();

  add(session: ClientSession): void {
    this.#sessions.add(session);
  }

  delete(session: ClientSession): void {
    this.#sessions.delete(session);
  }

  /** The injected call goes over a connection that already serves the run, if there is one. */
  async perform(live: LiveRun, order: PerformOrder, attendance?: Ordered): Promise<Performed> {
    const router = this.#routerFor(live, order.server);
    const absent = { kind: "failed", cause: "its server is not connected" } as const;
    return router === undefined ? absent : router.perform(live, order, attendance);
  }

  async flush(held: Held): Promise<Flushed> {
    const router = this.#routerFor(held.live, held.server);
    return router === undefined ? "unreachable" : router.flush(held);
  }

  /** The catalogues of a run's servers, as listed to its own clients. */
  cataloguesOf(live: LiveRun): readonly Catalogue[] {
    return this.#of(live).flatMap((session) => session.catalogues());
  }

  /** Names of the servers that the clients of a run talk to. */
  serversOf(live: LiveRun): readonly string[] {
    const names = this.#of(live).flatMap(({ connection }) => connection.facts.server ?? []);
    return [...new Set(names)].sort();
  }

  /** Projections of the servers that the clients of a run talk to. */
  projectionsOf(live: LiveRun): ReadonlySet<Projection> {
    return new Set(this.#of(live).flatMap((session) => session.projections()));
  }

  /** Runs whose clients talk to their server over a link. */
  runsOver(link: Link): ReadonlySet<LiveRun> {
    const using = [...this.#sessions].filter((session) => session.uses(link));
    return new Set(using.flatMap((session) => session.current() ?? []));
  }

  /** Tells all clients of a server something about it. */
  tell(server: string, message: NotificationMessage): void {
    for (const session of this.#sessions) session.tell(server, message);
  }

  close(reason: string): void {
    for (const session of this.#sessions) session.closed(reason);
  }

  #of(live: LiveRun): readonly ClientSession[] {
    return [...this.#sessions].filter((session) => session.current() === live);
  }

  #routerFor(live: LiveRun, server: string): MessageRouter | undefined {
    const own = this.#of(live);
    for (const session of own) {
      const found = session.serving(server);
      if (found !== undefined) return found;
    }
    // A shim brings one server: through its session another one cannot be started.
    for (const session of own) {
      const found = session.reachesAll ? session.router(server) : undefined;
      if (found?.ok === true) return found.value;
    }
    return undefined;
  }
}
