/**
 * A server that starts slowly, behind a client that does not want to wait (gateway.md 6). Where the same server said
 * before what it is and lists, the client gets that after a short grace; everything else waits for the real server. Its
 * real answer is compared then: other lists are announced as changed, and a call that was judged by the old list is not
 * sent; another version or other abilities put the connection into quarantine, since the client has got an answer that
 * is not true. At first contact, and with a server that is quick, every message passes as it is.
 */
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { ErrorMessage, Message, RequestId, RequestMessage, ResponseMessage } from "../../wire/message.ts";
import { type ListMethod, isListMethod } from "./listed-tools.ts";
import { listPagesMax, listWaitMsMax, startGraceMsMax, waitingRequestsMax } from "../ports/limits.ts";
import { forwardingHandler, ForwardingUpstream } from "../ports/forwarding.ts";
import type { Connector, ServerTarget, UpstreamConnection, UpstreamHandler } from "../ports/transport.ts";
import { sameJson } from "../runs/same-json.ts";
import type { Clock } from "../ports/services.ts";
import { type KnownPage, type KnownStart, type StartCache, samePromise } from "./start-cache.ts";
import { protocolOnly } from "./client-facts.ts";

type Answered = ResponseMessage | ErrorMessage;

export type SlowStartParts = {
  readonly connector: Connector;
  readonly clock: Clock;
  readonly cache: StartCache;
  readonly server: string;
  /** Tells the operator. */
  readonly tell: (text: string) => void;
};

/** A connector whose connections bridge a slow start; a remote server has been running before any client connects. */
export function slowStartConnector(parts: SlowStartParts): Connector {
  return {
    connect: (target, handler, order) =>
      target.kind === "stdio"
        ? new SlowStart(parts, target, handler, order)
        : parts.connector.connect(target, handler, order),
  };
}

/** `starting`: the handshake is with the server. `cached`: the client has the known answer, the server is not up. */
type Mode = "fresh" | "starting" | "cached" | "verifying" | "passing" | "quarantined";

const initializedMethod = "notifications/initialized";

const changedMethods: Readonly<Record<ListMethod, string>> = {
  "tools/list": "notifications/tools/list_changed",
  "prompts/list": "notifications/prompts/list_changed",
  "resources/list": "notifications/resources/list_changed",
  "resources/templates/list": "notifications/resources/list_changed",
};

class SlowStart extends ForwardingUpstream {
  readonly #parts: SlowStartParts;
  readonly #handler: UpstreamHandler;
  protected readonly inner: UpstreamConnection;
  readonly #held: Message[] = [];
  /** Lists that the client or the gateway got from the cache. */
  readonly #served = new Set<ListMethod>();
  /** Lists asked from the real server, so that the cache learns of them. */
  readonly #asked = new Map<RequestId, { readonly method: ListMethod; readonly cursor: string | undefined }>();
  readonly #own = new Map<RequestId, (answer: Answered | undefined) => void>();
  #mode: Mode = "fresh";
  #handshake: RequestMessage | undefined;
  #lookedUp: Promise<KnownStart | undefined> = Promise.resolve(undefined);
  #known: KnownStart | undefined;
  #stopGrace: () => void = () => undefined;
  /** Version and capabilities that every request of the modern era carries. */
  #perRequest: JsonObject = {};
  #initialized = false;
  #real = false;
  #count = 0;

  constructor(
    parts: SlowStartParts,
    target: ServerTarget,
    handler: UpstreamHandler,
    order: IsolationOrder | undefined,
  ) {
    super();
    this.#parts = parts;
    this.#handler = handler;
    const own = forwardingHandler(handler, {
      message: (message, relatedTo) => this.#received(message, relatedTo),
      lost: (id, reason) => {
        this.#asked.delete(id);
        const own = this.#own.get(id);
        if (own === undefined) handler.lost?.(id, reason);
        else own(undefined);
      },
      closed: (reason) => {
        this.#stopGrace();
        for (const answer of this.#own.values()) answer(undefined);
        handler.closed(reason);
      },
    });
    this.inner = parts.connector.connect(target, own, order);
  }

  override send(message: Message): void {
    // Some clients say so together with the handshake, and never again.
    if (message.kind === "notification" && message.method === initializedMethod) this.#initialized = true;
    switch (this.#mode) {
      case "fresh":
        return this.#first(message);
      case "starting":
      case "passing":
        return this.#pass(message);
      case "cached":
      case "verifying":
        return this.#hold(message);
      case "quarantined":
        if (message.kind === "request") this.#refuse(message.id);
    }
  }

  override abandon(id: RequestId): void {
    this.#asked.delete(id);
    if (!this.#unhold(id)) this.inner.abandon(id);
  }

  override close(): Promise<void> {
    this.#stopGrace();
    return this.inner.close();
  }

  #first(message: Message): void {
    if (message.kind !== "request") return this.inner.send(message);
    if (message.method !== "initialize" && message.method !== "server/discover") {
      this.#mode = "passing";
      return this.#pass(message);
    }
    this.#mode = "starting";
    this.#handshake = message;
    if (message.method === "server/discover") this.#perRequest = protocolOnly(message.params) ?? {};
    this.#lookedUp = this.#parts.cache.lookUp(message).catch(() => undefined);
    const grace = new Promise<void>((resolve) => {
      this.#stopGrace = this.#parts.clock.after(startGraceMsMax, resolve);
    });
    void Promise.all([this.#lookedUp, grace]).then(([known]) => this.#slow(message, known));
    this.inner.send(message);
  }

  /** The grace is over: the client gets what is known, if anything is. */
  #slow(handshake: RequestMessage, known: KnownStart | undefined): void {
    if (this.#mode !== "starting" || known === undefined) return;
    this.#known = known;
    this.#mode = "cached";
    this.#handler.message({ kind: "response", id: handshake.id, result: known.handshake });
  }

  #pass(message: Message): void {
    if (message.kind === "request" && isListMethod(message.method) && this.#asked.size < waitingRequestsMax) {
      this.#asked.set(message.id, { method: message.method, cursor: stringMember(message.params, "cursor") });
    }
    this.inner.send(message);
  }

  /** While the server is not up: requests with a known answer are answered, answers go through, the rest waits. */
  #hold(message: Message): void {
    if (message.kind === "response" || message.kind === "error") return this.inner.send(message);
    if (message.kind === "notification") return this.#holdNotification(message);
    const { id, method, params } = message;
    if (method === "ping") return this.#answer({ kind: "response", id, result: {} });
    if (isListMethod(method) && this.#mode === "cached") {
      const cursor = stringMember(params, "cursor");
      const page = this.#known?.lists[method]?.find((one) => one.cursor === cursor);
      if (page !== undefined) {
        this.#served.add(method);
        return this.#answer({ kind: "response", id, result: page.result });
      }
    }
    if (this.#held.length < waitingRequestsMax) this.#held.push(message);
    else this.#refuse(id);
  }

  #holdNotification(message: Extract<Message, { kind: "notification" }>): void {
    const { method, params } = message;
    const id = member(params, "requestId");
    if (method === "notifications/cancelled" && (typeof id === "string" || typeof id === "number")) {
      if (this.#unhold(id)) return;
    }
    if (this.#held.length < waitingRequestsMax) this.#held.push(message);
    if (method === initializedMethod && this.#real && this.#mode === "cached") void this.#verify();
  }

  #unhold(id: RequestId): boolean {
    const index = this.#held.findIndex((message) => message.kind === "request" && message.id === id);
    if (index >= 0) this.#held.splice(index, 1);
    return index >= 0;
  }

  #received(message: Message, relatedTo: RequestId | undefined): void {
    if (message.kind !== "response" && message.kind !== "error") return this.#handler.message(message, relatedTo);
    if (message.id !== null) {
      const own = this.#own.get(message.id);
      if (own !== undefined) return own(message);
      if (message.id === this.#handshake?.id) {
        this.#handshake = undefined;
        return this.#shaken(message);
      }
      this.#learn(message.id, message);
    }
    this.#handler.message(message, relatedTo);
  }

  /** The real answer to the handshake. */
  #shaken(message: Answered): void {
    this.#stopGrace();
    const result = message.kind === "response" && isObject(message.result) ? message.result : undefined;
    // The key of the cache is known once the look-up is done.
    if (result !== undefined) void this.#lookedUp.then(() => this.#parts.cache.handshake(result));
    if (this.#mode !== "cached") {
      this.#mode = "passing";
      return this.#handler.message(message);
    }
    if (result === undefined || this.#known === undefined || !samePromise(this.#known.handshake, result)) {
      return this.#quarantine();
    }
    this.#real = true;
    // A legacy server may be asked only after the client has said that it is ready.
    if (this.#initialized || member(result, "protocolVersion") === undefined) void this.#verify();
  }

  /** Asks the real server for every list that was shown, before any call that relied on it is sent. */
  async #verify(): Promise<void> {
    this.#mode = "verifying";
    const waiting = this.#held.splice(0);
    for (const message of waiting) if (message.kind === "notification") this.inner.send(message);
    const changed: ListMethod[] = [];
    for (const method of this.#served) {
      const pages = await this.#drain(method);
      if (!sameJson(entries(pages), entries(this.#known?.lists[method]))) changed.push(method);
    }
    this.#mode = "passing";
    for (const method of new Set(changed.map((one) => changedMethods[one]))) {
      this.#handler.message({ kind: "notification", method, params: undefined });
    }
    const stale = changed.includes("tools/list");
    for (const message of [...waiting, ...this.#held.splice(0)]) {
      if (message.kind === "request" && stale && message.method === "tools/call") {
        this.#answer(errorMessage(message.id, errorCodes.internalError, staleText));
      } else if (message.kind === "request" || !waiting.includes(message)) this.send(message);
    }
  }

  async #drain(method: ListMethod): Promise<readonly KnownPage[] | undefined> {
    const pages: KnownPage[] = [];
    let cursor: string | undefined;
    do {
      const params = { ...this.#perRequest, ...(cursor === undefined ? {} : { cursor }) };
      const answer = await this.#ask(method, Object.keys(params).length === 0 ? undefined : params);
      if (answer?.kind !== "response" || !isObject(answer.result) || pages.length >= listPagesMax) return undefined;
      pages.push({ cursor, result: answer.result });
      this.#parts.cache.page(method, cursor, answer.result);
      cursor = stringMember(answer.result, "nextCursor");
    } while (cursor !== undefined);
    return pages;
  }

  #ask(method: string, params: JsonObject | undefined): Promise<Answered | undefined> {
    this.#count += 1;
    const id = `sluicegate-start:${this.#count}`;
    return new Promise((resolve) => {
      const stop = this.#parts.clock.after(listWaitMsMax, () => finish(undefined));
      const finish = (answer: Answered | undefined): void => {
        this.#own.delete(id);
        stop();
        resolve(answer);
      };
      this.#own.set(id, finish);
      this.inner.send({ kind: "request", id, method, params });
    });
  }

  #learn(id: RequestId, message: Answered): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    if (message.kind !== "response" || !isObject(message.result)) return;
    const { result } = message;
    void this.#lookedUp.then(() => this.#parts.cache.page(asked.method, asked.cursor, result));
  }

  #quarantine(): void {
    this.#mode = "quarantined";
    const { server, tell } = this.#parts;
    tell(
      `Server \`${server}\` started with another version or other abilities than it was known by; it is in quarantine until its client reconnects.`.slice(
        0,
        240,
      ),
    );
    for (const message of this.#held.splice(0)) if (message.kind === "request") this.#refuse(message.id);
    // Modern clients share a connection and never reconnect: it ends, and the next request opens another one.
    if (Object.keys(this.#perRequest).length === 0) return;
    queueMicrotask(() => {
      this.#handler.closed("it started as another version than it was known by");
      void this.inner.close();
    });
  }

  #refuse(id: RequestId): void {
    this.#answer(errorMessage(id, errorCodes.internalError, this.#mode === "quarantined" ? quarantineText : fullText));
  }

  /** Later, never within `send`: the sender is not yet ready for the answer. */
  #answer(message: Answered): void {
    queueMicrotask(() => this.#handler.message(message));
  }
}

const staleText =
  "Not executed: the server's tools changed while it started. Ask for the list of tools again, then repeat the call.";
const quarantineText =
  "The server started as another version, or with other abilities, than it was known by. Nothing is sent to it: reconnect to use it.";
const fullText = "Not executed: too many requests wait for the server to start. Try again later.";

/** The listed entries, without cursors and hints of caching, which change from start to start. */
function entries(pages: readonly KnownPage[] | undefined): JsonObject[] | null {
  if (pages === undefined) return null;
  return pages.map(({ result }) => {
    const { nextCursor: _cursor, ttlMs: _ttl, cacheScope: _scope, _meta, ...listed } = result;
    return listed;
  });
}
