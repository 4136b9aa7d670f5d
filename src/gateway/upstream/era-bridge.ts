/**
 * A connection that speaks the client's era whatever the server's is. The first request shows the client's era, the
 * server's answer to the handshake or to `server/discover` shows its own; where they agree every message passes as it
 * is. Translation lies below the decisions: the judged messages are those that the client sees and sends.
 */
import { type JsonObject, isObject, member } from "../../core/json.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { ErrorMessage, Message, RequestId, RequestMessage, Revision } from "../../wire/message.ts";
import { readRequestMeta } from "../../wire/modern.ts";
import { isRevision, latestLegacyRevision, modernRevision, legacyRevisions } from "../../wire/revision.ts";
import { negotiateLegacy } from "../../wire/classify.ts";
import {
  initializeFromDiscover,
  initializeParams,
  legacyClient,
  perRequestMeta,
} from "../../wire/translate/handshake.ts";
import { eraProbeWaitMsMax, handshakeWaitMsMax, waitingRequestsMax } from "../ports/limits.ts";
import { LegacyServer } from "./legacy-translator.ts";
import { ModernServer } from "./modern-translator.ts";
import { forwardingHandler, ForwardingUpstream } from "../ports/forwarding.ts";
import type { Connector, ServerTarget, UpstreamConnection, UpstreamHandler } from "../ports/transport.ts";
import type { Clock } from "../ports/services.ts";
import { eraIdPrefix } from "../ports/ids.ts";
import type { Translator, TranslatorPorts } from "./translator.ts";
import type { Answered } from "../ports/conversation.ts";

type Mode =
  | { readonly kind: "unknown" }
  /** The client's own first request is with the server; its answer decides. */
  | { readonly kind: "asked"; readonly request: RequestMessage }
  | { readonly kind: "probing" }
  | { readonly kind: "same" }
  | { readonly kind: "translated"; readonly by: Translator };

/** A connector whose connections translate between the eras where they must. */
export function bridgedConnector(connector: Connector, clock: Clock, nextId = eraIds()): Connector {
  return { connect: (target, handler, order) => new EraBridge({ connector, clock, nextId, target, handler, order }) };
}

/** Ids of the gateway's own on the way between the eras, each given once. */
export function eraIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${eraIdPrefix}${count}`;
  };
}

const waitingText =
  "Not sent: too many requests wait for the server to say which protocol it speaks. Try again when it has started.";

type Setup = {
  readonly connector: Connector;
  readonly clock: Clock;
  readonly nextId: () => string;
  readonly target: ServerTarget;
  readonly handler: UpstreamHandler;
  readonly order: IsolationOrder | undefined;
};

class EraBridge extends ForwardingUpstream {
  protected readonly inner: UpstreamConnection;
  readonly #handler: UpstreamHandler;
  readonly #clock: Clock;
  readonly #own = new Map<string, (answer: Answered | undefined) => void>();
  readonly #waiting: Message[] = [];
  readonly #nextId: () => string;
  #mode: Mode = { kind: "unknown" };

  constructor({ connector, clock, nextId, target, handler, order }: Setup) {
    super();
    this.#clock = clock;
    this.#nextId = nextId;
    this.#handler = handler;
    const own = forwardingHandler(handler, {
      message: (message, relatedTo) => this.#received(message, relatedTo),
      lost: (id, reason) => this.#lost(id, reason),
      // The ids of a translated connection are the translator's, which the client's side does not know.
      runOf: (id) => (this.#mode.kind === "translated" ? undefined : handler.runOf?.(id)),
      closed: (reason) => {
        for (const answer of this.#own.values()) answer(undefined);
        handler.closed(reason);
      },
    });
    this.inner = connector.connect(target, own, order);
  }

  override send(message: Message): void {
    switch (this.#mode.kind) {
      case "same":
        return this.inner.send(message);
      case "translated":
        return this.#mode.by.fromClient(message);
      case "asked":
      case "probing":
        // A server may ask before it has answered; the reply to it does not depend on eras yet.
        if (message.kind === "response" || message.kind === "error") return this.inner.send(message);
        return this.#wait(message);
      case "unknown":
        return this.#first(message);
    }
  }

  override abandon(id: RequestId): void {
    this.#unwait(id);
    if (this.#mode.kind === "translated") this.#mode.by.abandoned(id);
    else this.inner.abandon(id);
  }

  override negotiated(revision: Revision): void {
    if (this.#mode.kind !== "translated") this.inner.negotiated(revision);
  }

  /**
   * A request that waits for the server's era; a request that is cancelled meanwhile, or is one too many, is never
   * sent.
   */
  #wait(message: Message): void {
    const given = message.kind === "notification" ? member(message.params, "requestId") : undefined;
    if (message.kind === "notification" && message.method === "notifications/cancelled" && this.#unwait(given)) return;
    if (this.#waiting.length < waitingRequestsMax) this.#waiting.push(message);
    else if (message.kind === "request") {
      const refused = errorMessage(message.id, errorCodes.internalError, waitingText);
      // Later, never within `send`: the sender is not yet ready for the answer.
      queueMicrotask(() => this.#handler.message(refused));
    }
  }

  #unwait(id: unknown): boolean {
    const index = this.#waiting.findIndex((message) => message.kind === "request" && message.id === id);
    if (index >= 0) this.#waiting.splice(index, 1);
    return index >= 0;
  }

  /** The first message of the client that shows its era; whatever comes before is passed as it is. */
  #first(message: Message): void {
    if (message.kind !== "request") return this.inner.send(message);
    const modern = member(member(message.params, "_meta"), metaKeys.protocolVersion) !== undefined;
    if (message.method === "initialize" || message.method === "server/discover") {
      this.#mode = { kind: "asked", request: message };
      return this.inner.send(message);
    }
    if (!modern) return this.inner.send(message);
    this.#mode = { kind: "probing" };
    this.#waiting.push(message);
    void this.#probe(message);
  }

  #received(message: Message, relatedTo: RequestId | undefined): void {
    if ((message.kind === "response" || message.kind === "error") && typeof message.id === "string") {
      const own = this.#own.get(message.id);
      if (own !== undefined) return own(message);
    }
    const mode = this.#mode;
    if (mode.kind === "translated") return mode.by.fromServer(message, relatedTo);
    if (
      mode.kind === "asked" &&
      (message.kind === "response" || message.kind === "error") &&
      message.id === mode.request.id
    ) {
      return this.#answeredFirst(mode.request, message);
    }
    this.#handler.message(message, relatedTo);
  }

  #lost(id: RequestId, reason: string): void {
    const own = typeof id === "string" ? this.#own.get(id) : undefined;
    if (own !== undefined) return own(undefined);
    // The handshake itself may be repeated: the next first request asks again.
    if (this.#mode.kind === "asked" && this.#mode.request.id === id) this.#settle({ kind: "unknown" });
    const client = this.#mode.kind === "translated" ? this.#mode.by.lost(id) : id;
    if (client !== undefined) this.#handler.lost?.(client, reason);
  }

  #answeredFirst(request: RequestMessage, answer: Answered): void {
    const legacy = request.method === "initialize";
    if (answer.kind === "response") {
      if (!legacy) this.inner.negotiated(modernRevision);
      this.#settle({ kind: "same" });
      return this.#handler.message(answer);
    }
    this.#mode = { kind: "probing" };
    void (legacy ? this.#tryModern(request, answer) : this.#tryLegacy(request, answer));
  }

  /** A modern client's first request is none of the handshake: ask on our own which era the server is from. */
  async #probe(request: RequestMessage): Promise<void> {
    const meta = member(request.params, "_meta");
    const own = isObject(meta)
      ? Object.fromEntries(Object.entries(meta).filter(([name]) => name !== "progressToken"))
      : {};
    const answer = await this.#ask("server/discover", { _meta: own }, eraProbeWaitMsMax);
    if (answer?.kind === "response") {
      this.inner.negotiated(modernRevision);
      return this.#settle({ kind: "same" });
    }
    await this.#tryLegacy(request, undefined);
  }

  /** The server knows no `server/discover`: shake hands with it in the modern client's name. */
  async #tryLegacy(request: RequestMessage, refusal: ErrorMessage | undefined): Promise<void> {
    const wanted = initializeParams(readRequestMeta(request.params), latestLegacyRevision);
    const answer = await this.#ask("initialize", wanted, handshakeWaitMsMax);
    const revision = answer?.kind === "response" ? member(answer.result, "protocolVersion") : undefined;
    if (answer?.kind !== "response" || !isObject(answer.result) || !isRevision(revision)) {
      // Neither era: everything passes, and the client sees the server's own answers.
      this.#settle({ kind: "same" });
      if (refusal !== undefined) this.#handler.message(refusal);
      return;
    }
    this.inner.negotiated(revision);
    this.inner.send({ kind: "notification", method: "notifications/initialized", params: undefined });
    const by = new LegacyServer(this.#ports(), answer.result, revision);
    if (refusal !== undefined) this.#waiting.unshift(request);
    this.#settle({ kind: "translated", by });
  }

  /** The server refuses the legacy handshake: it may be from the modern era. */
  async #tryModern(request: RequestMessage, refusal: ErrorMessage): Promise<void> {
    const client = legacyClient(request.params);
    const answer = await this.#ask("server/discover", { _meta: perRequestMeta(client) }, eraProbeWaitMsMax);
    if (answer?.kind !== "response" || !isObject(answer.result)) {
      this.#settle({ kind: "unknown" });
      return this.#handler.message(refusal);
    }
    this.inner.negotiated(modernRevision);
    const wanted = member(request.params, "protocolVersion");
    const revision = negotiateLegacy(typeof wanted === "string" ? wanted : "", legacyRevisions);
    const by = new ModernServer(this.#ports(), { client, revision, discover: answer.result });
    this.#settle({ kind: "translated", by });
    const result = initializeFromDiscover(answer.result, revision);
    this.#handler.message({ kind: "response", id: request.id, result });
  }

  #settle(mode: Mode): void {
    this.#mode = mode;
    for (const message of this.#waiting.splice(0)) this.send(message);
  }

  #ports(): TranslatorPorts {
    return {
      toServer: (message) => this.inner.send(message),
      toClient: (message, relatedTo) => this.#handler.message(message, relatedTo),
      ask: (method, params, waitMs) => this.#ask(method, params, waitMs),
      abandon: (id) => this.inner.abandon(id),
      nextId: () => this.#nextId(),
      runOf: (id) => this.#handler.runOf?.(id),
      unplaced: (question, runs) => this.#handler.unplaced?.(question, runs),
    };
  }

  #ask(method: string, params: JsonObject | undefined, waitMs: number): Promise<Answered | undefined> {
    const id = this.#nextId();
    return new Promise((resolve) => {
      const stop = this.#clock.after(waitMs, () => finish(undefined));
      const finish = (answer: Answered | undefined): void => {
        this.#own.delete(id);
        stop();
        resolve(answer);
      };
      this.#own.set(id, finish);
      this.inner.send({ kind: "request", id, method, params });
    });
  }
}
