/**
 * One client connection: its runs, and its router to each server that it talks to. This file decides which run and
 * server a message belongs to; the router decides how it is treated.
 */
import type { JsonObject } from "../../core/json.ts";
import { type Result, err } from "../../core/result.ts";
import type { NotificationMessage, RequestMessage } from "../../wire/message.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";
import { learnClient } from "../upstream/client-facts.ts";
import { Deliveries } from "../decision/ordered-output.ts";
import { cancelReason } from "../calls/server-messages.ts";
import { LinkSeat } from "../upstream/link-seat.ts";
import { type Link } from "../upstream/upstream-link.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { MessageRouter } from "./message-router.ts";
import type { ClientConnection, ClientHandler, Exchange } from "../ports/transport.ts";
import type { Projection } from "../ports/projection.ts";
import type { InputRequestTable } from "../calls/input-required.ts";
import type { Conversation, GatewayState } from "./session-context.ts";
import { isOwnId, ownIdPrefix } from "../ports/ids.ts";
import type { Answered, AskVia, AskWait, ClientState } from "../ports/conversation.ts";

/** The services that a session needs of the gateway. */
export interface SessionHost {
  readonly state: GatewayState;
  readonly inputRequests: InputRequestTable;
  /** The link to a server for this session; opened on first use. */
  linkFor(session: ClientSession, server: string): Result<Link, string>;
  /** The run of a message. */
  runOf(session: ClientSession, params: JsonObject | undefined): Result<LiveRun, string>;
  gone(session: ClientSession, over: boolean): void;
}

export class ClientSession implements ClientHandler, Conversation {
  readonly client: ClientState = { era: "legacy", capabilities: {}, name: undefined, requestMeta: undefined };
  readonly connection: ClientConnection;
  readonly #host: SessionHost;
  readonly #routers = new Map<string, MessageRouter>();
  readonly #asked = new Map<string, (answer: Answered | undefined) => void>();
  #count = 0;
  #current: LiveRun | undefined;
  #closed = false;

  constructor(host: SessionHost, connection: ClientConnection) {
    this.#host = host;
    this.connection = connection;
  }

  /** The router to a server that this session talks to already. */
  serving(server: string): MessageRouter | undefined {
    return this.#routers.get(server);
  }

  /** The catalogues of the servers of this session. */
  catalogues(): readonly Catalogue[] {
    return [...this.#routers.values()].map(({ catalogue }) => catalogue);
  }

  /** Projections of the servers that this session talks to. */
  projections(): readonly Projection[] {
    return [...this.#routers.values()].flatMap(({ link }) => link.projection ?? []);
  }

  /** Whether this session talks to its server over a link. */
  uses(link: Link): boolean {
    return this.#routers.get(link.server)?.link === link;
  }

  /** Tells the client something about a server that it talks to. */
  tell(server: string, message: NotificationMessage): void {
    if (this.#routers.has(server)) this.connection.send(message);
  }

  /** Every server of the gateway can be reached for this client, not only the one it came for. */
  get reachesAll(): boolean {
    return this.connection.facts.transport === "http";
  }

  current(): LiveRun | undefined {
    return this.#current;
  }

  request(exchange: Exchange): void {
    learnClient(this.client, exchange.request);
    // Which process of a server it talks to depends on its run; a message without one is refused by the router.
    if (this.reachesAll) this.liveOf(exchange.request.params);
    const router = this.router(this.connection.facts.server ?? "");
    if (router.ok) return router.value.request(exchange);
    exchange.respond(errorMessage(exchange.request.id, errorCodes.internalError, router.error));
  }

  message(message: NotificationMessage | Answered): void {
    if (message.kind !== "notification" && message.id !== null && isOwnId(message.id)) {
      this.#asked.get(String(message.id))?.(message);
      return;
    }
    for (const router of this.#routers.values()) {
      if (message.kind === "notification") router.notification(message);
      else router.answered(message);
    }
  }

  closed(_reason: string, over = false): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const answer of this.#asked.values()) answer(undefined);
    for (const router of this.#routers.values()) router.clientClosed();
    this.#host.gone(this, over);
  }

  /** The router to a server, made on first use. */
  router(server: string): Result<MessageRouter, string> {
    const known = this.#routers.get(server);
    if (known !== undefined) return { ok: true, value: known };
    if (this.#closed) return err("The client connection is closed.");
    const link = this.#host.linkFor(this, server);
    if (!link.ok) return link;
    const { state, inputRequests } = this.#host;
    const seat = new LinkSeat(link.value);
    const { client, connection } = this;
    const context = { ...state, server, connection, client, deliveries: new Deliveries(), session: this, link: seat };
    const router = new MessageRouter(context, link.value, inputRequests);
    this.#routers.set(server, router);
    seat.attach(router);
    return { ok: true, value: router };
  }

  liveOf(params: JsonObject | undefined): Result<LiveRun, string> {
    const live = this.#host.runOf(this, params);
    if (live.ok && live.value !== this.#current) {
      // Another conversation on the same connection: the lists that the client got belong to the one before.
      this.#current = live.value;
      this.#host.state.lists.moved(live.value);
    }
    return live;
  }

  /** A question of the gateway itself to the client. */
  ask(request: Omit<RequestMessage, "id">, { ms, withdrawn }: AskWait, via?: AskVia): Promise<Answered | undefined> {
    this.#count += 1;
    const id = `${ownIdPrefix}ask-${this.#count}`;
    const stream = via ?? this.connection;
    return new Promise((resolve) => {
      const over = (): void => {
        // Without this the form would stay open for the user, who could answer it and believe that the answer counts.
        const params = { requestId: id, reason: cancelReason };
        stream.send({ kind: "notification", method: "notifications/cancelled", params });
        answer(undefined);
      };
      const stop = this.#host.state.services.clock.after(ms, over);
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
