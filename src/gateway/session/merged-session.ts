/**
 * The merged endpoint (gateway.md 7): one client connection, a session with every server behind it. Requests are routed
 * by name or URI, lists are joined, ids of server questions are ours. Each server has its own router, so the decided
 * messages are those that this server sends and receives; a server that fails leaves the lists and nothing else.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { errorCodes, errorMessage, methodNotFound } from "../../wire/errors.ts";
import type { NotificationMessage, RequestId, RequestMessage } from "../../wire/message.ts";
import { metaKeys } from "../../wire/meta.ts";
import { type ListMethod, entriesMember, entriesOf, isListMethod } from "../upstream/listed-tools.ts";
import { handshakeWaitMsMax, listAgainMs, listPagesMax, listQuietMs, listTriesMax } from "../ports/limits.ts";
import { type MergedDirectory, unknownName } from "./merged-directory.ts";
import { mergedIdentity } from "./merged-identity.ts";
import { type MergedNames, type NamedBy, shownEntry, shownResult, unwrapUri, wrapUri } from "./merged-names.ts";
import { OpenQuestions } from "./open-questions.ts";
import type { ClientConnection, ClientHandler, Exchange } from "../ports/transport.ts";
import type { Clock } from "../ports/services.ts";
import type { Answered } from "../ports/conversation.ts";

export type MergedSetup = {
  readonly connection: ClientConnection;
  readonly servers: readonly string[];
  /** Opens the session with the server that the connection's facts name. */
  readonly open: (connection: ClientConnection) => ClientHandler;
  /** Names of everything that a server lists, shown to this run or not; undefined while its list is not known. */
  readonly names: (server: string, method: ListMethod) => readonly string[] | undefined;
  readonly directory: MergedDirectory;
  readonly hash: (text: string) => string;
  readonly clock: Clock;
  readonly version: string;
};

export class MergedSession implements ClientHandler {
  readonly #setup: MergedSetup;
  readonly #sessions = new Map<string, ClientHandler>();
  readonly #failed = new Set<string>();
  /** Changes of lists whose notification is about to be sent. */
  readonly #changing = new Set<string>();
  /** Where requests of the client went, for cancellation. */
  readonly #routed = new Map<RequestId, string>();
  /** Requests of the client that wait until the servers that could have their name have listed. */
  readonly #resolving = new Set<RequestId>();
  readonly #questions: OpenQuestions;

  constructor(setup: MergedSetup) {
    this.#setup = setup;
    this.#questions = new OpenQuestions(setup.servers.length);
    for (const server of setup.servers) this.#sessions.set(server, setup.open(this.#connectionOf(server)));
  }

  request(exchange: Exchange): void {
    this.#serve(exchange).catch(() => {
      const text = "The gateway failed while it decided this request; nothing was forwarded. Please report it.";
      exchange.respond(errorMessage(exchange.request.id, errorCodes.internalError, text));
    });
  }

  message(message: NotificationMessage | Answered): void {
    if (message.kind === "notification") return this.#notification(message);
    const question = this.#questions.take(message.id);
    if (question === undefined) return;
    const { raw: _raw, ...rest } = message;
    this.#sessions.get(question.server)?.message({ ...rest, id: question.id });
  }

  closed(reason: string, over = false): void {
    for (const session of this.#sessions.values()) session.closed(reason, over);
  }

  async #serve(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const { method, id } = request;
    if (isListMethod(method)) return exchange.respond(await this.#list(request, method, exchange));
    switch (method) {
      case "initialize":
      case "server/discover":
        return exchange.respond(await this.#identity(request));
      case "ping":
        return exchange.respond({ kind: "response", id, result: {} });
      case "logging/setLevel":
        await this.#everybody(request, exchange);
        return exchange.respond({ kind: "response", id, result: {} });
      case "tools/call":
      case "prompts/get":
        return this.#byName(exchange, method === "tools/call" ? "tools/list" : "prompts/list");
      case "resources/read":
      case "resources/subscribe":
      case "resources/unsubscribe":
        return this.#byUri(exchange);
      case "completion/complete":
        return this.#completion(exchange);
      case "subscriptions/listen":
        return this.#listen(exchange);
      default:
        return exchange.respond(methodNotFound(id, method));
    }
  }

  async #identity(request: RequestMessage): Promise<Answered> {
    const said = new Map<string, JsonObject>();
    for (const [server, answer] of await this.#everybody(request)) {
      if (answer?.kind === "response" && isObject(answer.result)) said.set(server, answer.result);
      else this.#left(server);
    }
    const missing = this.#setup.servers.filter((server) => !said.has(server));
    const result = mergedIdentity(request, { said, missing }, this.#setup.version);
    return { kind: "response", id: request.id, result };
  }

  /** One joined list in one page; the servers' own pages are drained. */
  async #list(request: RequestMessage, method: ListMethod, exchange?: Exchange): Promise<Answered> {
    return this.#joined(request, method, await this.#everybody(withoutCursor(request), exchange));
  }

  async #joined(
    request: RequestMessage,
    method: ListMethod,
    answers: ReadonlyMap<string, Answered | undefined>,
  ): Promise<Answered> {
    const lists = new Map<string, readonly Json[]>();
    let last: JsonObject = {};
    for (const [server, answer] of answers) {
      if (answer?.kind === "response" && isObject(answer.result)) {
        lists.set(server, await this.#allPages(server, withoutCursor(request), method, answer.result));
        last = answer.result;
      } else if (answer?.kind === "error" && answer.error.code === errorCodes.methodNotFound) {
        // A server without such a list: that is all that it will ever say.
        lists.set(server, []);
      } else if (answer === undefined) this.#left(server);
    }
    const names = this.#named(method, lists);
    const entries = [...lists].flatMap(([server, list]) =>
      list.map((entry) => shownEntry(method, server, entry, names)),
    );
    const modern = member(last, "resultType") !== undefined;
    const extra = modern ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {};
    return { kind: "response", id: request.id, result: { ...extra, [entriesMember[method]]: entries } };
  }

  async #allPages(
    server: string,
    request: RequestMessage,
    method: ListMethod,
    first: JsonObject,
  ): Promise<readonly Json[]> {
    const entries = [...entriesOf(method, first)];
    let cursor = stringMember(first, "nextCursor");
    for (let page = 1; cursor !== undefined && page < listPagesMax; page += 1) {
      const answer = await this.#ask(server, { ...request, params: { ...request.params, cursor } });
      if (answer?.kind !== "response" || !isObject(answer.result)) break;
      for (const entry of entriesOf(method, answer.result)) entries.push(entry);
      cursor = stringMember(answer.result, "nextCursor");
    }
    return entries;
  }

  #named(method: ListMethod, lists: ReadonlyMap<string, readonly Json[]>): MergedNames {
    const { directory, hash, names } = this.#setup;
    // Everything that a server lists counts, hidden entries as well.
    const now = (server: string): readonly string[] | undefined =>
      names(server, method) ?? lists.get(server)?.flatMap((one) => stringMember(one, "name") ?? []);
    return directory.learn(method, this.#sessions.keys(), now, hash);
  }

  /**
   * The server behind a name. A client may call from a list that an earlier connection fetched, or without any: servers
   * that have not listed are asked first, and one that fails is asked again a few times. `gone`: the client gave its
   * request up meanwhile.
   */
  async #resolved(exchange: Exchange, method: ListMethod, shown: string): Promise<NamedBy | "gone" | undefined> {
    const { clock, directory } = this.#setup;
    const { id, params } = exchange.request;
    const found = directory.resolve(method, shown);
    if (found !== undefined) return found;
    this.#resolving.add(id);
    exchange.onAbandoned(() => this.#resolving.delete(id));
    const request = { ...exchange.request, method, params: metaOnly(params) };
    const silent = new Set<string>();
    for (let tries = 0; tries < listTriesMax; tries += 1) {
      const unlisted = directory.unlisted(method, this.#sessions.keys()).filter((server) => !silent.has(server));
      if (directory.resolve(method, shown) !== undefined || unlisted.length === 0) break;
      if (tries > 0) await new Promise<void>((resolve) => void clock.after(listAgainMs, resolve));
      const answers = await this.#everybody(request, undefined, unlisted);
      for (const [server, answer] of answers) if (answer === undefined) silent.add(server);
      await this.#joined(request, method, answers);
    }
    return this.#resolving.delete(id) ? directory.resolve(method, shown) : "gone";
  }

  async #byName(exchange: Exchange, list: "tools/list" | "prompts/list"): Promise<void> {
    const { params } = exchange.request;
    const shown = stringMember(params, "name") ?? "";
    const origin = await this.#resolved(exchange, list, shown);
    if (origin === "gone") return;
    if (origin === undefined) return exchange.respond(this.#unknown(exchange, list, shown));
    this.#route(exchange, origin.server, { ...params, name: origin.name });
  }

  #unknown({ request }: Exchange, list: ListMethod, shown: string): Answered {
    return unknownName(request.id, shown, this.#setup.directory.unlisted(list, this.#sessions.keys()));
  }

  #byUri(exchange: Exchange): void {
    const { request } = exchange;
    const origin = unwrapUri(stringMember(request.params, "uri") ?? "");
    if (origin === undefined) return this.#unknownResource(exchange);
    this.#route(exchange, origin.server, { ...request.params, uri: origin.uri });
  }

  async #completion(exchange: Exchange): Promise<void> {
    const { params } = exchange.request;
    const ref = member(params, "ref");
    if (!isObject(ref)) return this.#unknownResource(exchange);
    const uri = stringMember(ref, "uri");
    if (uri !== undefined) {
      const origin = unwrapUri(uri);
      if (origin === undefined) return this.#unknownResource(exchange);
      return this.#route(exchange, origin.server, { ...params, ref: { ...ref, uri: origin.uri } });
    }
    const shown = stringMember(ref, "name") ?? "";
    const origin = await this.#resolved(exchange, "prompts/list", shown);
    if (origin === "gone") return;
    if (origin === undefined) {
      return exchange.respond(this.#unknown(exchange, "prompts/list", shown));
    }
    this.#route(exchange, origin.server, { ...params, ref: { ...ref, name: origin.name } });
  }

  /** Every server hears which changes are wanted; the acknowledgement is one, in our name. */
  #listen(exchange: Exchange): void {
    const { request } = exchange;
    const wanted = member(request.params, "notifications");
    const uris = member(wanted, "resourceSubscriptions");
    const listed = (isArray(uris) ? uris : []).flatMap((uri) => (typeof uri === "string" ? [unwrapUri(uri)] : []));
    const acknowledged = { notifications: wanted ?? {}, _meta: { [metaKeys.subscriptionId]: request.id } };
    exchange.send({ kind: "notification", method: "notifications/subscriptions/acknowledged", params: acknowledged });
    for (const [server, session] of this.#sessions) {
      const own = listed.flatMap((one) => (one?.server === server ? [one.uri] : []));
      const notifications = isObject(wanted)
        ? { ...wanted, ...(isArray(uris) ? { resourceSubscriptions: own } : {}) }
        : {};
      session.request({
        request: { ...request, params: { ...request.params, notifications } },
        send: (message) => {
          if (message.method !== "notifications/subscriptions/acknowledged") this.#toClient(server, message, exchange);
        },
        // The stream ends with the client; one server that ends its own leaves the others listening.
        respond: () => undefined,
        onAbandoned: (listener) => exchange.onAbandoned(listener),
      });
    }
  }

  #unknownResource(exchange: Exchange): void {
    const text = "No server has this resource. List again and use a listed URI.";
    exchange.respond(errorMessage(exchange.request.id, errorCodes.invalidParams, text));
  }

  #route(exchange: Exchange, server: string, params: JsonObject): void {
    const session = this.#sessions.get(server);
    const { id, method } = exchange.request;
    if (session === undefined) return this.#unknownResource(exchange);
    this.#routed.set(id, server);
    session.request({
      request: { kind: "request", id, method, params },
      send: (message) => this.#toClient(server, message, exchange),
      respond: (answer) => {
        this.#routed.delete(id);
        exchange.respond(answer.kind === "error" ? answer : shownAnswer(server, answer));
      },
      onAbandoned: (listener) => exchange.onAbandoned(listener),
    });
  }

  #notification(message: NotificationMessage): void {
    if (message.method !== "notifications/cancelled") {
      for (const session of this.#sessions.values()) session.message(message);
      return;
    }
    const id = member(message.params, "requestId");
    if (typeof id !== "string" && typeof id !== "number") return;
    this.#resolving.delete(id);
    const server = this.#routed.get(id);
    if (server === undefined) return;
    // Most servers answer nothing that was given up.
    this.#routed.delete(id);
    this.#sessions.get(server)?.message(message);
  }

  #connectionOf(server: string): ClientConnection {
    const { connection } = this.#setup;
    return {
      facts: { ...connection.facts, server },
      send: (message) => this.#toClient(server, message, connection),
      drained: () => connection.drained(),
      // One server that goes leaves the others working.
      close: () => undefined,
    };
  }

  /** Passes on a message that a server sends on its own, with ids and URIs that the client knows. */
  #toClient(server: string, message: RequestMessage | NotificationMessage, way: Pick<Exchange, "send">): void {
    if (message.kind === "notification") {
      if (message.method.endsWith("/list_changed")) return this.#listChanged(message, way);
      if (message.method === "notifications/cancelled") return this.#withdrawn(server, message, way);
      const uri = stringMember(message.params, "uri");
      if (message.method !== "notifications/resources/updated" || uri === undefined) return way.send(message);
      return way.send({
        kind: "notification",
        method: message.method,
        params: { ...message.params, uri: wrapUri(server, uri) },
      });
    }
    const id = this.#questions.open({ server, id: message.id });
    if (id === undefined) {
      const text = "Too many questions of this server are open. Ask again later.";
      this.#sessions.get(server)?.message(errorMessage(message.id, errorCodes.internalError, text));
      return;
    }
    const text = stringMember(message.params, "message");
    // The user must see which of the servers asks.
    const params = text === undefined ? message.params : { ...message.params, message: `[${server}] ${text}` };
    way.send({ kind: "request", id, method: message.method, params });
  }

  /**
   * A question that the client knows by an id of the gateway is withdrawn by that id; the answer, if one comes, goes
   * nowhere.
   */
  #withdrawn(server: string, message: NotificationMessage, way: Pick<Exchange, "send">): void {
    const requestId = this.#questions.idOf(server, member(message.params, "requestId"));
    if (requestId === undefined) return;
    this.#questions.take(requestId);
    way.send({ kind: "notification", method: message.method, params: { ...message.params, requestId } });
  }

  /** The list is one, so several servers that change theirs at once are one change of it. */
  #listChanged(message: NotificationMessage, way: Pick<Exchange, "send">): void {
    const key = JSON.stringify([message.method, message.params ?? {}]);
    if (this.#changing.has(key)) return;
    this.#changing.add(key);
    this.#setup.clock.after(listQuietMs, () => {
      this.#changing.delete(key);
      way.send(message);
    });
  }

  async #everybody(
    request: RequestMessage,
    exchange?: Exchange,
    servers: readonly string[] = [...this.#sessions.keys()],
  ): Promise<ReadonlyMap<string, Answered | undefined>> {
    const answers = await Promise.all(servers.map((server) => this.#ask(server, request, exchange)));
    return new Map(servers.map((server, index) => [server, answers[index]]));
  }

  /** One server's answer to a request; undefined when it takes too long, so that it cannot hold the others. */
  #ask(server: string, request: RequestMessage, exchange?: Exchange): Promise<Answered | undefined> {
    const session = this.#sessions.get(server);
    if (session === undefined) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const stop = this.#setup.clock.after(handshakeWaitMsMax, () => resolve(undefined));
      session.request({
        request,
        send: (message) => this.#toClient(server, message, exchange ?? this.#setup.connection),
        respond: (answer) => {
          stop();
          resolve(answer);
        },
        onAbandoned: () => undefined,
      });
    });
  }

  /** A server left the lists: the client is notified once, and goes on with the others. */
  #left(server: string): void {
    if (this.#failed.has(server)) return;
    this.#failed.add(server);
    const data = `Server \`${server}\` does not answer and is left out of the lists. Check whether it runs.`;
    const params = { level: "warning", logger: "sluicegate", data };
    this.#setup.connection.send({ kind: "notification", method: "notifications/message", params });
  }
}

function shownAnswer(server: string, answer: Exclude<Answered, { kind: "error" }>): Answered {
  const result = shownResult(server, answer.result);
  return result === answer.result ? answer : { kind: "response", id: answer.id, result };
}

/** The servers' own pages are drained, so no cursor of the client concerns them. */
function withoutCursor(request: RequestMessage): RequestMessage {
  const { cursor: _cursor, ...params } = request.params ?? {};
  return { ...request, params: Object.keys(params).length === 0 ? undefined : params };
}

function metaOnly(params: JsonObject | undefined): JsonObject | undefined {
  const meta = member(params, "_meta");
  return isObject(meta) ? { _meta: meta } : undefined;
}
