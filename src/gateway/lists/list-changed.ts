/**
 * Telling one client that its lists changed with the state of its run: over its connection in the legacy era, over the
 * streams that it opened with `subscriptions/listen` in the modern one. The notifications that the gateway may send are
 * declared to the client even where the server has no such notification, and requested in the gateway's own name.
 */
import { type Json, type JsonObject, isObject, member } from "../../core/json.ts";
import { errorCodes } from "../../wire/errors.ts";
import type {
  ErrorMessage,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../../wire/message.ts";
import { type SubscriptionFilter, filterJson, readFilter } from "../../wire/modern.ts";
import { acknowledged, filterAdmits, withSubscription } from "../../wire/translate/notification.ts";
import type { ListMethod } from "../upstream/listed-tools.ts";
import { streamsMax } from "../ports/limits.ts";
import type { Ear, ListWatch } from "./list-signatures.ts";
import type { CurrentRun, LiveRun } from "../runs/live-run.ts";
import type { ClientConnection, Exchange } from "../ports/transport.ts";
import type { ClientState } from "../ports/conversation.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import type { Showings } from "./showings.ts";

type Needs = {
  readonly server: string;
  readonly client: ClientState;
  readonly connection: ClientConnection;
  readonly deliveries: Deliveries;
  readonly lists: ListWatch;
  readonly session: CurrentRun;
};

/** Lists that change together are one notification. */
const noticeOf: Readonly<Record<ListMethod, { readonly capability: string; readonly method: string }>> = {
  "tools/list": { capability: "tools", method: "notifications/tools/list_changed" },
  "prompts/list": { capability: "prompts", method: "notifications/prompts/list_changed" },
  "resources/list": { capability: "resources", method: "notifications/resources/list_changed" },
  "resources/templates/list": { capability: "resources", method: "notifications/resources/list_changed" },
};

type Stream = { readonly ear: Ear; readonly exchange: Exchange; open: boolean };

export class Announcer {
  readonly #needs: Needs;
  readonly #showings: Showings;
  readonly #streams = new Map<RequestId, Stream>();
  /** The connection itself; made when the first list is shown that depends on the run. */
  #ear: Ear | undefined;
  /** Capabilities whose changes were declared to the client. */
  readonly #declared = new Set<string>();

  constructor(needs: Needs, showings: Showings) {
    this.#needs = needs;
    this.#showings = showings;
  }

  /** The result with the server's capabilities, declaring changes also for lists that depend on the run. */
  declared(live: LiveRun, result: JsonObject): JsonObject {
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
  shown(live: LiveRun, method: ListMethod, signature: string): void {
    if (this.#ear === undefined && live.policy.regulated && this.#needs.client.era === "legacy") {
      this.#ear = this.#earOf(false, (methods) => this.#tell(methods));
      this.#needs.lists.add(this.#ear);
    }
    this.#ear?.told.set(method, signature);
  }

  /** The exchange of a `subscriptions/listen`: it also hears what changes with the run. */
  listening(exchange: Exchange, live: LiveRun): Exchange {
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
    const stream: Stream = { ear, exchange, open: false };
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
    this.#needs.lists.remove(stream.ear);
  }

  closed(): void {
    if (this.#ear !== undefined) this.#needs.lists.remove(this.#ear);
    for (const id of this.#streams.keys()) this.cancelled(id);
  }

  /** The acknowledgement names the changes that the server or the gateway will report; none is reported before it. */
  #opened(
    stream: Stream,
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

  /** A server that knows no subscriptions ends the request; the stream stays open for notifications of the gateway. */
  #responded(stream: Stream, answer: ResponseMessage | ErrorMessage, filter: SubscriptionFilter): void {
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

  #open(stream: Stream): void {
    stream.open = true;
    if (this.#streams.has(stream.exchange.request.id)) this.#needs.lists.add(stream.ear);
  }

  #earOf(stream: boolean, tell: (methods: readonly ListMethod[]) => void): Ear {
    return {
      server: this.#needs.server,
      told: new Map(),
      stream,
      current: () => this.#needs.session.current(),
      signature: (live, method) => this.#showings.signature(live, method),
      tell,
    };
  }

  #tell(methods: readonly ListMethod[]): void {
    const may = methods.filter((method) => this.#declared.has(noticeOf[method].capability));
    for (const message of noticesOf(may)) this.#send(message, this.#needs.connection);
  }

  #send(message: NotificationMessage, way: Pick<Exchange, "send">): void {
    this.#needs.deliveries.offer(() => way.send(message));
  }
}

function noticesOf(methods: readonly ListMethod[]): readonly NotificationMessage[] {
  const names = new Set(methods.map((method) => noticeOf[method].method));
  return [...names].map((method) => ({ kind: "notification", method, params: undefined }));
}
