/**
 * Telling one client that its lists changed with the state of its run: over its connection in the legacy era, over the
 * streams that it opened with `subscriptions/listen` in the modern one. What the gateway may send is declared to the
 * client even where the server has no such notification, and asked for in the gateway's own name.
 */
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, member } from "../core/json.ts";
import { errorCodes } from "../wire/errors.ts";
import type { ErrorMessage, NotificationMessage, RequestId, RequestMessage, ResponseMessage } from "../wire/message.ts";
import type { SubscriptionFilter } from "../wire/modern.ts";
import { filterJson, readFilter } from "../wire/modern.ts";
import { acknowledged, filterAdmits, withSubscription } from "../wire/translate-notification.ts";
import type { ListMethod } from "./catalogue.ts";
import { streamsMax } from "./limits.ts";
import type { Ear } from "./list-watch.ts";
import type { LiveRun } from "./live-run.ts";
import type { Exchange } from "./ports.ts";
import type { Scene } from "./scene.ts";

/** Lists that change together are one notification. */
const noticeOf: Readonly<Record<ListMethod, { readonly capability: string; readonly method: string }>> = {
  "tools/list": { capability: "tools", method: "notifications/tools/list_changed" },
  "prompts/list": { capability: "prompts", method: "notifications/prompts/list_changed" },
  "resources/list": { capability: "resources", method: "notifications/resources/list_changed" },
  "resources/templates/list": { capability: "resources", method: "notifications/resources/list_changed" },
};

type Stream<Q> = { readonly ear: Ear<Q>; readonly exchange: Exchange; open: boolean };

/** Gives the signature of a list of a run now. */
export type Signature<Q> = (live: LiveRun<Q>, method: ListMethod) => Promise<string | undefined>;

export class Announcer<Q> {
  readonly #scene: Scene<Q>;
  readonly #signature: Signature<Q>;
  readonly #streams = new Map<RequestId, Stream<Q>>();
  /** The connection itself; made when the first list is shown that depends on the run. */
  #ear: Ear<Q> | undefined;
  /** Capabilities whose changes the client was told to expect. */
  readonly #declared = new Set<string>();

  constructor(scene: Scene<Q>, signature: Signature<Q>) {
    this.#scene = scene;
    this.#signature = signature;
  }

  /** What a server says that it can do, and for lists that depend on the run also that they change. */
  declared(live: LiveRun<Q>, result: JsonObject): JsonObject {
    const capabilities = member(result, "capabilities");
    if (!isObject(capabilities)) return result;
    const changed: Record<string, Json> = { ...capabilities };
    for (const name of ["tools", "prompts", "resources"]) {
      const own = member(capabilities, name);
      if (!isObject(own)) continue;
      if (member(own, "listChanged") === true || live.policy.regulated) this.#declared.add(name);
      if (live.policy.regulated) changed[name] = { ...own, listChanged: true };
    }
    return live.policy.regulated ? { ...result, capabilities: changed } : result;
  }

  /** The client was shown a list. */
  shown(live: LiveRun<Q>, method: ListMethod, signature: string): void {
    if (this.#ear === undefined && live.policy.regulated && this.#scene.client.era === "legacy") {
      this.#ear = this.#earOf(false, (methods) => this.#tell(methods));
      this.#scene.lists.add(this.#ear);
    }
    this.#ear?.told.set(method, signature);
  }

  /** The exchange of a `subscriptions/listen`: it also hears what changes with the run. */
  listening(exchange: Exchange, live: LiveRun<Q>): Exchange {
    const { request } = exchange;
    const filter = request.method === "subscriptions/listen" ? readFilter(request.params) : undefined;
    if (filter === undefined || !live.policy.regulated) return exchange;
    if (!filter.toolsListChanged && !filter.promptsListChanged && !filter.resourcesListChanged) return exchange;
    // An id that is taken is refused later on; the stream that has it must not lose its ear to the newcomer.
    if (this.#streams.has(request.id) || this.#streams.size >= streamsMax) return exchange;
    const ear = this.#earOf(true, (methods) => {
      for (const message of noticesOf(methods)) {
        if (filterAdmits(filter, message)) this.#send(withSubscription(message, request.id), exchange);
      }
    });
    const stream: Stream<Q> = { ear, exchange, open: false };
    this.#streams.set(request.id, stream);
    return {
      request,
      send: (message) => exchange.send(this.#opened(stream, message, filter)),
      respond: (answer) => this.#responded(stream, answer, filter),
      onAbandoned: (listener) =>
        exchange.onAbandoned(() => {
          this.cancelled(request.id);
          listener();
        }),
    };
  }

  /** The client does not listen any more. */
  cancelled(id: RequestId): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    this.#streams.delete(id);
    this.#scene.lists.remove(stream.ear);
  }

  closed(): void {
    if (this.#ear !== undefined) this.#scene.lists.remove(this.#ear);
    for (const id of this.#streams.keys()) this.cancelled(id);
  }

  /** The acknowledgement says what is honoured: by the server, or by us. Nothing is told before it. */
  #opened(
    stream: Stream<Q>,
    message: RequestMessage | NotificationMessage,
    filter: SubscriptionFilter,
  ): RequestMessage | NotificationMessage {
    if (message.kind !== "notification" || message.method !== "notifications/subscriptions/acknowledged")
      return message;
    if (!stream.open) this.#open(stream);
    const honoured = member(message.params, "notifications");
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = filter;
    const ours = { toolsListChanged, promptsListChanged, resourcesListChanged };
    const wanted = filterJson({ ...ours, resourceSubscriptions: [], taskIds: [] });
    const notifications = { ...(isObject(honoured) ? honoured : {}), ...wanted };
    return { kind: "notification", method: message.method, params: { ...message.params, notifications } };
  }

  /** A server that knows no subscriptions ends the request; the stream stays open for what the gateway has to say. */
  #responded(stream: Stream<Q>, answer: ResponseMessage | ErrorMessage, filter: SubscriptionFilter): void {
    const { exchange } = stream;
    if (answer.kind === "error" && answer.error.code === errorCodes.methodNotFound && !stream.open) {
      this.#open(stream);
      const ours = { ...filter, resourceSubscriptions: [], taskIds: [] };
      exchange.send(acknowledged(exchange.request.id, ours));
      return;
    }
    this.cancelled(exchange.request.id);
    exchange.respond(answer);
  }

  #open(stream: Stream<Q>): void {
    stream.open = true;
    if (this.#streams.has(stream.exchange.request.id)) this.#scene.lists.add(stream.ear);
  }

  #earOf(stream: boolean, tell: (methods: readonly ListMethod[]) => void): Ear<Q> {
    return {
      server: this.#scene.server,
      told: new Map(),
      stream,
      current: () => this.#scene.current(),
      signature: this.#signature,
      tell,
    };
  }

  #tell(methods: readonly ListMethod[]): void {
    const may = methods.filter((method) => this.#declared.has(noticeOf[method].capability));
    for (const message of noticesOf(may)) this.#send(message, this.#scene.connection);
  }

  #send(message: NotificationMessage, way: Pick<Exchange, "send">): void {
    this.#scene.deliveries.offer(() => way.send(message));
  }
}

function noticesOf(methods: readonly ListMethod[]): readonly NotificationMessage[] {
  const names = new Set(methods.map((method) => noticeOf[method].method));
  return [...names].map((method) => ({ kind: "notification", method, params: undefined }));
}
