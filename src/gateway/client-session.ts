/**
 * One client connection: its runs, and its mediator to each server that it talks to. What a message belongs to is
 * decided here (run, server); how it is treated is the mediator's business.
 */
import type { JsonObject } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import { err } from "../core/result.ts";
import type { NotificationMessage, RequestMessage } from "../wire/message.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import { ownIdPrefix, isOwnId } from "./call.ts";
import type { Catalogue } from "./catalogue.ts";
import { learnClient } from "./client-facts.ts";
import { Deliveries } from "./deliveries.ts";
import { cancelReason } from "./from-server.ts";
import type { Link } from "./link.ts";
import type { LiveRun } from "./live-run.ts";
import { Mediator } from "./mediator.ts";
import { cleanMessage } from "./meta.ts";
import type { ClientConnection, ClientHandler, Exchange } from "./ports.ts";
import type { Projection } from "./projection-port.ts";
import type { RoundTable } from "./rounds.ts";
import type { Answered, AskVia, AskWait, ClientState, Scene, Shared } from "./scene.ts";

/** What the gateway gives to a session. */
export type SessionSetup<Q> = {
  readonly shared: Shared<Q>;
  readonly connection: ClientConnection;
  readonly rounds: RoundTable<Q>;
  /** The link to a server for this session; opened on first use. */
  readonly link: (server: string, session: ClientSession<Q>) => Result<Link<Q>, string>;
  /** The run of a message. */
  readonly liveOf: (params: JsonObject | undefined, client: ClientState) => Result<LiveRun<Q>, string>;
  readonly gone: (session: ClientSession<Q>) => void;
};

export class ClientSession<Q> implements ClientHandler {
  readonly client: ClientState = { era: "legacy", capabilities: {}, name: undefined, requestMeta: undefined };
  readonly #setup: SessionSetup<Q>;
  readonly #mediators = new Map<string, Mediator<Q>>();
  readonly #asked = new Map<string, (answer: Answered | undefined) => void>();
  #count = 0;
  #current: LiveRun<Q> | undefined;
  #closed = false;

  constructor(setup: SessionSetup<Q>) {
    this.#setup = setup;
  }

  /** The mediator to a server that this session talks to already. */
  serving(server: string): Mediator<Q> | undefined {
    return this.#mediators.get(server);
  }

  /** What the servers of this session list. */
  catalogues(): readonly Catalogue<Q>[] {
    return [...this.#mediators.values()].map(({ catalogue }) => catalogue);
  }

  /** Projections of the servers that this session talks to. */
  projections(): readonly Projection[] {
    return [...this.#mediators.values()].flatMap(({ link }) => link.projection ?? []);
  }

  /** Whether this session talks to its server over a link. */
  uses(link: Link<Q>): boolean {
    return this.#mediators.get(link.server)?.link === link;
  }

  /** Tells the client something about a server that it talks to. */
  tell(server: string, message: NotificationMessage): void {
    if (this.#mediators.has(server)) this.#setup.connection.send(message);
  }

  /** Every server of the gateway can be reached for this client, not only the one it came for. */
  get reachesAll(): boolean {
    return this.#setup.connection.facts.transport === "http";
  }

  current(): LiveRun<Q> | undefined {
    return this.#current;
  }

  request(exchange: Exchange): void {
    learnClient(this.client, exchange.request);
    const mediator = this.mediator(this.#setup.connection.facts.server ?? "");
    if (mediator.ok) return mediator.value.request(exchange);
    exchange.respond(errorMessage(exchange.request.id, errorCodes.internalError, mediator.error));
  }

  message(message: NotificationMessage | Answered): void {
    if (message.kind !== "notification" && message.id !== null && isOwnId(message.id)) {
      this.#asked.get(String(message.id))?.(message);
      return;
    }
    for (const mediator of this.#mediators.values()) {
      if (message.kind === "notification") mediator.notification(message);
      else mediator.answered(message);
    }
  }

  closed(_reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const answer of this.#asked.values()) answer(undefined);
    for (const mediator of this.#mediators.values()) mediator.clientClosed();
    this.#setup.gone(this);
  }

  /** The mediator to a server, made on first use. */
  mediator(server: string): Result<Mediator<Q>, string> {
    const known = this.#mediators.get(server);
    if (known !== undefined) return { ok: true, value: known };
    if (this.#closed) return err("The client connection is closed.");
    const link = this.#setup.link(server, this);
    if (!link.ok) return link;
    const mediator: Mediator<Q> = new Mediator(
      this.#scene(server, link.value, () => mediator),
      link.value,
      this.#setup.rounds,
    );
    this.#mediators.set(server, mediator);
    link.value.attach(mediator);
    return { ok: true, value: mediator };
  }

  #scene(server: string, link: Link<Q>, user: () => Mediator<Q>): Scene<Q> {
    return {
      ...this.#setup.shared,
      server,
      connection: this.#setup.connection,
      client: this.client,
      deliveries: new Deliveries(),
      liveOf: (params) => {
        const live = this.#setup.liveOf(params, this.client);
        if (live.ok && live.value !== this.#current) {
          // Another conversation on the same connection: what the client was listed belongs to the one before.
          this.#current = live.value;
          this.#setup.shared.lists.moved(live.value);
        }
        return live;
      },
      current: () => this.#current,
      working: link.working,
      chatter: link.chatter,
      projection: () => link.projection,
      toServer: (message) => link.send(user(), cleanMessage(message, this.#setup.shared.services.secrets.mac)),
      abandon: (id) => link.abandon(user(), id),
      askServer: (method, params, wait) => link.ask(method, params, wait),
      askClient: (request, wait, via) => this.#ask(request, wait, via),
    };
  }

  /** A question of the gateway itself to the client. */
  #ask(
    request: Omit<RequestMessage, "id">,
    { ms, withdrawn }: AskWait,
    via: AskVia | undefined,
  ): Promise<Answered | undefined> {
    this.#count += 1;
    const id = `${ownIdPrefix}ask-${this.#count}`;
    const stream = via ?? this.#setup.connection;
    return new Promise((resolve) => {
      const over = (): void => {
        // The form would stay before the person, who answers it and believes that the answer counts.
        const params = { requestId: id, reason: cancelReason };
        stream.send({ kind: "notification", method: "notifications/cancelled", params });
        answer(undefined);
      };
      const stop = this.#setup.shared.services.clock.after(ms, over);
      const answer = (given: Answered | undefined): void => {
        this.#asked.delete(id);
        withdrawn.removeEventListener("abort", over);
        stop();
        resolve(given);
      };
      withdrawn.addEventListener("abort", over);
      this.#asked.set(id, answer);
      stream.send({ ...request, id });
    });
  }
}
