/**
 * A connection to one server, and its users. A legacy client has one of its own, so its request ids pass unchanged;
 * modern clients share one, and then ids, progress tokens and subscription ids are ours (gateway.md 7). Requests of the
 * gateway itself carry ids that no client may use.
 */
import type { RunningProcess } from "../../core/contract.ts";
import { type JsonObject, isObject, member } from "../../core/json.ts";
import { methodNotFound } from "../../wire/errors.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { Message, RequestId, RequestMessage, Revision } from "../../wire/message.ts";
import { Catalogue } from "./listed-tools.ts";
import { type DroppedCounts, UnsolicitedBudget } from "./unsolicited-budget.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Connector, ServerTarget, UpstreamConnection } from "../ports/transport.ts";
import type { Projection } from "../ports/projection.ts";
import type { Projections } from "./projection-registry.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { Clock, Secrets } from "../ports/services.ts";
import { ownIdPrefix } from "../ports/ids.ts";
import type { Answered, OwnWait } from "../ports/conversation.ts";
import { cleanMessage, isWordy } from "./meta.ts";
import { type Overdue, RequestLimits } from "./request-limits.ts";
import { type ClientNames, asId, readdressed } from "./request-routes.ts";

/** One user of a link. `relatedTo` is an id of this user's request. */
export interface LinkUser {
  message(message: Message, relatedTo: RequestId | undefined): void;
  /** This request of the user's will get no answer; its outcome is unknown. */
  lost(id: RequestId, reason: string): void;
  /** Key of the run that this request of the user's belongs to. */
  runOf?(id: RequestId): string | undefined;
  /** A call is unanswered beyond the time that its scope gives it; its outcome is unknown. False: not this user's. */
  overdue?(call: string): boolean;
  closed(reason: string): void;
}

type Own = { readonly answered: (answer: Answered | undefined) => void; readonly run: string | undefined };

type Route = ClientNames & { readonly user: LinkUser };

export type LinkSetup = {
  readonly server: string;
  readonly target: ServerTarget;
  readonly connector: Connector;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "hash" | "mac">;
  /** Several users with ids of ours, or one whose ids pass unchanged. */
  readonly shared: boolean;
  /** How the server is isolated; undefined where the policy says nothing of it. */
  readonly order?: IsolationOrder | undefined;
  readonly projections?: { readonly all: Projections; readonly principal: string };
  readonly watch?: LinkWatch;
};

/** Learns what becomes known of a link outside of any conversation. */
export interface LinkWatch {
  /** A projection saw something outside of calls. */
  background(link: Link): void;
  /** A question that may be meant for any of these runs was put to none. */
  unplaced(link: Link, question: RequestMessage, runs: readonly string[]): void;
  /** The server said its first word, or ended without one although the gateway had not ended it. */
  started(link: Link): void;
  unstarted(link: Link, reason: string): void;
  /** The server said too much beside its answers. */
  dropped(link: Link, dropped: DroppedCounts): void;
}

/** How long a server is not read that says much at once. */
const hasteRestMs = 1_000;

export class Link {
  readonly server: string;
  readonly catalogue: Catalogue;
  /** The account of the messages that the server sends beside its answers. */
  readonly budget: UnsolicitedBudget;
  /**
   * Ids of the calls that the server works on, of all users and also as tasks, each with whether it still does: text
   * without a reference is of any of them.
   */
  readonly working = new Map<string, () => boolean>();
  readonly #shared: boolean;
  readonly #clock: Clock;
  readonly #secrets: Pick<Secrets, "mac">;
  readonly #connection: UpstreamConnection;
  readonly #projections: Projections | undefined;
  readonly #watch: LinkWatch | undefined;
  readonly #users = new Set<LinkUser>();
  readonly #routes = new Map<RequestId, Route>();
  readonly #own = new Map<string, Own>();
  readonly #limits: RequestLimits;
  readonly #met = new WeakSet<LiveRun>();
  #count = 0;
  /** Reasons for which nothing is read now. */
  #holds = 0;
  #unusedSince: number | undefined;
  #closing: Promise<void> | undefined;
  #down: string | undefined;
  #heard = false;

  constructor({ server, target, connector, clock, secrets, shared, order, projections, watch }: LinkSetup) {
    this.server = server;
    this.catalogue = new Catalogue(server, secrets.hash, () => this.#running(order));
    this.#shared = shared;
    this.#watch = watch;
    this.#clock = clock;
    this.#secrets = secrets;
    this.budget = new UnsolicitedBudget(clock, (dropped) => watch?.dropped(this, dropped));
    this.#limits = new RequestLimits(clock, (request) => this.#overdue(request));
    this.#connection = connector.connect(
      target,
      {
        message: (message, relatedTo) => this.#received(message, relatedTo),
        lost: (id, reason) => this.#lost(id, reason),
        runOf: (id) => this.#runOf(id),
        unplaced: (question, runs) => watch?.unplaced(this, question, runs),
        closed: (reason) => this.#closed(reason),
      },
      order,
    );
    this.#projections = projections?.all;
    const { projection } = this.#connection;
    if (projection === undefined) return;
    projections?.all.add(projection, { server, principal: projections.principal, order: order?.digest ?? "" });
    projection.onBackground(() => watch?.background(this));
    projection.onOverdue?.((call) => {
      if ([...this.#users].some((user) => user.overdue?.(call) === true)) return;
      // Its questions were never answered, or its task never ended: no client waits, and an approver judges its writes.
      projection.end(call);
      void projection.conclude(call, "keep");
    });
  }

  /** The projection that the server runs in. */
  get projection(): Projection | undefined {
    return this.#connection.projection;
  }

  /** How the server runs now: while it starts nothing bounds it yet. */
  #running(order: IsolationOrder | undefined): RunningProcess | undefined {
    const { projection } = this;
    return projection === undefined || order === undefined ? undefined : { tier: projection.tier, order: order.digest };
  }

  /** Why the connection is gone, while it is. */
  get down(): string | undefined {
    return this.#down;
  }

  /** True once for each run: the server has started as far as this run is concerned. */
  newTo(live: LiveRun): boolean {
    if (this.#met.has(live)) return false;
    this.#met.add(live);
    return true;
  }

  attach(user: LinkUser): void {
    this.#unusedSince = undefined;
    this.#users.add(user);
  }

  /** A user goes; its requests in flight are given up. */
  detach(user: LinkUser): void {
    this.#users.delete(user);
    for (const [id, route] of this.#routes) {
      if (route.user !== user) continue;
      this.#routes.delete(id);
      this.#limits.end(id);
      if (this.#down !== undefined) continue;
      // Over HTTP closing the stream is enough; a server on stdio needs a notification.
      this.#connection.send({ kind: "notification", method: "notifications/cancelled", params: { requestId: id } });
      this.#connection.abandon(id);
    }
    this.#unusedSince = this.#users.size === 0 ? this.#clock.monotonicMs() : undefined;
    // A link of one client ends with it: its server must not outlive the conversation.
    if (!this.#shared && this.#users.size === 0) void this.close();
  }

  /** Monotonic ms since which the link has no user; undefined while it has one. */
  get unusedSince(): number | undefined {
    return this.#unusedSince;
  }

  send(user: LinkUser, message: Message): void {
    if (this.#down !== undefined) return;
    // The one way of a client's message to a server, so no server gets what it may not see of `_meta`.
    const cleaned = cleanMessage(message, this.#secrets.mac);
    const outgoing = this.#outgoing(user, cleaned);
    this.#limits.sent(outgoing);
    this.#connection.send(outgoing);
  }

  abandon(user: LinkUser, id: RequestId): void {
    const ours = this.#ourId(user, id) ?? (this.#shared ? undefined : id);
    if (ours === undefined) return;
    this.#limits.end(ours);
    this.#connection.abandon(ours);
  }

  /** A request of the gateway itself, for a run or for none; undefined when the server does not answer in time. */
  ask(method: string, params: JsonObject | undefined, wait: OwnWait): Promise<Answered | undefined> {
    this.#count += 1;
    const id = `${ownIdPrefix}${this.#count}`;
    if (this.#down !== undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const stop = this.#clock.after(wait.ms, () => {
        this.#own.delete(id);
        this.#connection.abandon(id);
        resolve(undefined);
      });
      const answered = (answer: Answered | undefined): void => {
        this.#own.delete(id);
        stop();
        resolve(answer);
      };
      this.#own.set(id, { answered, run: wait.run });
      this.#connection.send(cleanMessage({ kind: "request", id, method, params }, this.#secrets.mac));
    });
  }

  negotiated(revision: Revision): void {
    this.#connection.negotiated(revision);
  }

  /**
   * Back-pressure: a client that reads slowly stops the server, not the gateway's memory. Not where others share the
   * connection: one client that stops reading would stop them all, and its own transport cuts it off at a hard cap.
   */
  slowDown(drained: Promise<void>): void {
    if (!this.#shared) this.#hold(drained);
  }

  #hold(over: Promise<void>): void {
    this.#holds += 1;
    if (this.#holds === 1) this.#connection.pause();
    void over.then(() => {
      this.#holds -= 1;
      if (this.#holds === 0) this.#connection.resume();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#connection.close();
    return this.#closing;
  }

  #received(message: Message, relatedTo: RequestId | undefined): void {
    if (!this.#heard) {
      this.#heard = true;
      this.#watch?.started(this);
    }
    if (message.kind === "response" || message.kind === "error") {
      const waiting = typeof message.id === "string" ? this.#own.get(message.id) : undefined;
      if (waiting !== undefined) return waiting.answered(message);
    }
    this.#limits.heard(message, relatedTo);
    if (this.#shared || this.#isRouted(message, relatedTo)) return this.#incoming(message, relatedTo);
    if (message.kind === "notification" || message.kind === "request") this.#pace(this.#users.size);
    for (const user of this.#users) user.message(message, relatedTo);
  }

  /**
   * Counts the messages that the server sends beside its answers, and their receivers; one that hurries is not read for
   * a while.
   */
  #pace(users: number): void {
    if (this.budget.isHasty(users)) this.#hold(new Promise((resolve) => this.#clock.after(hasteRestMs, resolve)));
  }

  /** A request that the server does not answer in time: it is notified to stop, and the outcome is unknown. */
  #overdue({ id, method, reason }: Overdue): void {
    // The protocol forbids to cancel the handshake.
    if (method !== "initialize") {
      this.#connection.send({ kind: "notification", method: "notifications/cancelled", params: { requestId: id } });
    }
    this.#connection.abandon(id);
    this.#lost(id, reason);
  }

  #lost(id: RequestId, reason: string): void {
    this.#limits.end(id);
    const waiting = typeof id === "string" ? this.#own.get(id) : undefined;
    if (waiting !== undefined) return waiting.answered(undefined);
    const route = this.#routes.get(id);
    if (!this.#shared && route === undefined) {
      for (const user of this.#users) user.lost(id, reason);
      return;
    }
    this.#routes.delete(id);
    route?.user.lost(route.id, reason);
  }

  #runOf(id: RequestId): string | undefined {
    const own = typeof id === "string" ? this.#own.get(id) : undefined;
    if (own !== undefined) return own.run;
    const route = this.#routes.get(id);
    if (this.#shared || route !== undefined) return route?.user.runOf?.(route.id);
    for (const user of this.#users) {
      const run = user.runOf?.(id);
      if (run !== undefined) return run;
    }
    return undefined;
  }

  #closed(reason: string): void {
    if (this.#down !== undefined) return;
    this.#down = reason;
    if (!this.#heard && this.#closing === undefined) this.#watch?.unstarted(this, reason);
    this.#limits.close();
    this.budget.flush();
    const { projection } = this;
    if (projection !== undefined) this.#projections?.remove(projection);
    for (const waiting of this.#own.values()) waiting.answered(undefined);
    for (const user of this.#users) user.closed(reason);
    this.#routes.clear();
  }

  #outgoing(user: LinkUser, message: Message): Message {
    if (message.kind === "request") {
      const meta = member(message.params, "_meta");
      const token = member(meta, metaKeys.progressToken);
      // On its own connection a client's ids go as they are, unless they could say something.
      if (!this.#shared && !isWordy(message.id) && !isWordy(token)) return message;
      this.#count += 1;
      const id = this.#shared ? this.#count : `r${this.#count}`;
      this.#routes.set(id, { user, id: message.id, token });
      const params =
        token === undefined || !isObject(meta)
          ? message.params
          : { ...message.params, _meta: { ...meta, [metaKeys.progressToken]: id } };
      return { kind: "request", id, method: message.method, params };
    }
    if (message.kind !== "notification" || message.method !== "notifications/cancelled") return message;
    const given = member(message.params, "requestId");
    const ours = typeof given === "string" || typeof given === "number" ? this.#ourId(user, given) : undefined;
    return ours === undefined ? message : { ...message, params: { ...message.params, requestId: ours } };
  }

  #incoming(message: Message, relatedTo: RequestId | undefined): void {
    if (message.kind === "response" || message.kind === "error") {
      const route = message.id === null ? undefined : this.#routes.get(message.id);
      if (route === undefined || message.id === null) return;
      this.#routes.delete(message.id);
      const { raw: _raw, ...rest } = message;
      return route.user.message({ ...rest, id: route.id }, undefined);
    }
    const related = this.#routeOf(message.params, relatedTo);
    this.#pace(related === undefined ? this.#users.size : 1);
    // A message of a server on a shared connection names its subject; one that names nothing goes to all users.
    if (related === undefined) {
      // Nor does a server of the modern era ask anything of its own accord, least of all all of them.
      if (message.kind === "request") {
        const refused = methodNotFound(message.id, message.method);
        this.#limits.sent(refused);
        return this.#connection.send(refused);
      }
      for (const user of this.#users) user.message(message, undefined);
      return;
    }
    const mine = message.kind === "notification" ? readdressed(message, related) : message;
    related.user.message(mine, related.id);
  }

  /** On a connection of one client: the message belongs to a request whose id is ours. */
  #isRouted(message: Message, relatedTo: RequestId | undefined): boolean {
    if (this.#routes.size === 0) return false;
    if (message.kind === "response" || message.kind === "error")
      return message.id !== null && this.#routes.has(message.id);
    return this.#routeOf(message.params, relatedTo) !== undefined;
  }

  #routeOf(params: JsonObject | undefined, relatedTo: RequestId | undefined): Route | undefined {
    const named = relatedTo ?? asId(member(params, "progressToken"));
    if (named !== undefined) return this.#routes.get(named);
    const subscription = asId(member(member(params, "_meta"), metaKeys.subscriptionId));
    return subscription === undefined ? undefined : this.#routes.get(subscription);
  }

  #ourId(user: LinkUser, id: RequestId): RequestId | undefined {
    for (const [ours, route] of this.#routes) if (route.user === user && route.id === id) return ours;
    return undefined;
  }
}
