/**
 * A legacy server behind a modern client: the gateway holds the session. Questions of the server end the client's
 * request with `input_required`; the repeated request brings the answers, and takes the place of the first one, whose
 * call stays open at the server.
 */
import { BoundedMap } from "../../core/bounded-map.ts";
import { type JsonObject, isObject, member } from "../../core/json.ts";
import { canAnswer } from "../../wire/client-abilities.ts";
import { errorCodes, errorMessage, methodNotFound, refusalError } from "../../wire/errors.ts";
import type {
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  Revision,
} from "../../wire/message.ts";
import {
  type InputRequest,
  type SubscriptionFilter,
  inputRequiredResult,
  readInputResponses,
  readRequestMeta,
} from "../../wire/modern.ts";
import { discoverFromInitialize } from "../../wire/translate/handshake.ts";
import { answerToLegacy, questionToModern } from "../../wire/translate/input.ts";
import {
  acknowledged,
  filterAdmits,
  notificationToModern,
  withSubscription,
} from "../../wire/translate/notification.ts";
import { requestToLegacy } from "../../wire/translate/request.ts";
import { createdTaskToModern, taskToModern } from "../../wire/translate/task.ts";
import { errorToModern, resultToModern, urlQuestions } from "../../wire/translate/result.ts";
import { handshakeWaitMsMax, openRoundsMax, subscriptionsMax } from "../ports/limits.ts";
import { eraIdPrefix, isReservedId, notOpenText } from "../ports/ids.ts";
import type { Translator, TranslatorPorts } from "./translator.ts";

/** A request that the server works on; the client's id changes when it repeats the request with answers. */
type Open = {
  readonly request: RequestMessage;
  /** Key of the run that it is sent for; undefined for a list that the gateway asks for, which serves no run alone. */
  readonly run: string | undefined;
  /** The capabilities declared with this very request; other clients on the session have their own. */
  capabilities: JsonObject;
  /** Id the client waits on now; undefined while it holds an `input_required` and has not come back. */
  client: RequestId | undefined;
  /** Questions not yet shown, and those that the client holds, by key. */
  readonly queued: Question[];
  readonly shown: Map<string, RequestId>;
  state: string;
};

type Question = { readonly id: RequestId; readonly input: InputRequest };

/** Tells a number from its text, which are two ids. */
function keyOf(id: RequestId): string {
  return `question-${JSON.stringify(id)}`;
}

/** Stands for the run of a client's request whose run is unknown: it counts as one more. */
const unknownRun = "";

const unplacedText =
  "Nobody was asked: several conversations have calls open here, and the question names none of them. Ask on the stream of its call, or end that call with an error.";

export class LegacyServer implements Translator {
  readonly #ports: TranslatorPorts;
  readonly #initialized: JsonObject;
  readonly #revision: Revision;
  /** By the id under which the server knows the request. */
  readonly #open = new Map<RequestId, Open>();
  /** Calls that wait for clients, which may never come back: of too many the oldest is given up. */
  readonly #byState = new BoundedMap<string, RequestId>(openRoundsMax, (server) => this.#giveUp(server));
  readonly #listening = new Map<RequestId, SubscriptionFilter>();
  #logLevel: string | undefined;

  constructor(ports: TranslatorPorts, initialized: JsonObject, revision: Revision) {
    this.#ports = ports;
    this.#initialized = initialized;
    this.#revision = revision;
  }

  fromClient(message: Message): void {
    if (message.kind === "request") return this.#request(message);
    if (message.kind !== "notification") return; // a modern client answers within its requests
    if (message.method !== "notifications/cancelled") return;
    const id = member(message.params, "requestId");
    if (typeof id === "string" || typeof id === "number") this.#cancelled(id);
  }

  fromServer(message: Message, relatedTo: RequestId | undefined): void {
    switch (message.kind) {
      case "request":
        return this.#question(message, relatedTo);
      case "notification":
        return this.#notification(message, relatedTo);
      case "response":
      case "error":
        return this.#answer(message);
    }
  }

  abandoned(id: RequestId): void {
    this.#cancelled(id);
  }

  lost(id: RequestId): RequestId | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    this.#open.delete(id);
    this.#byState.delete(open.state);
    return open.client;
  }

  #request(message: RequestMessage): void {
    const state = member(message.params, "requestState");
    const continued = typeof state === "string" ? this.#byState.get(state) : undefined;
    if (continued !== undefined) return this.#continue(message, continued);
    // The call waits on another connection, or ended with its server: sent here it would be done a second time.
    if (typeof state === "string" && state.startsWith(eraIdPrefix)) {
      return this.#ports.toClient(errorMessage(message.id, errorCodes.invalidRequest, notOpenText));
    }
    const translated = requestToLegacy(message, this.#revision);
    const { id } = message;
    switch (translated.kind) {
      case "send":
        this.#setLevel(translated.logLevel);
        this.#open.set(id, opened(translated.message, message, this.#runOf(id)));
        return this.#ports.toServer(translated.message);
      case "local":
        return this.#respond(id, discoverFromInitialize(this.#initialized));
      case "listen":
        return this.#listen(id, translated.filter);
      case "log-level":
      case "subscribe":
      case "unsubscribe":
      case "absent":
        return this.#ports.toClient(methodNotFound(id, message.method));
      case "malformed":
        return this.#ports.toClient(errorMessage(id, errorCodes.invalidParams, "The params do not fit the method."));
    }
  }

  /** The client repeats its request with answers: they go to the server, and the open call goes on. */
  #continue(message: RequestMessage, server: RequestId): void {
    const open = this.#open.get(server);
    if (open === undefined) return;
    this.#byState.delete(open.state);
    open.client = message.id;
    open.capabilities = capabilitiesOf(message);
    const answers = readInputResponses(message.params) ?? new Map<string, JsonObject>();
    for (const [key, id] of open.shown) {
      const answer = answers.get(key);
      if (answer !== undefined) this.#ports.toServer(answerToLegacy(id, answer));
      else this.#unanswered(id);
    }
    open.shown.clear();
    this.#showQuestions(open, server);
  }

  #question(message: RequestMessage, relatedTo: RequestId | undefined): void {
    if (message.method === "ping") return this.#ports.toServer({ kind: "response", id: message.id, result: {} });
    // On stdio nothing says which request a question belongs to; the gateway's own requests have no user to answer.
    const server =
      relatedTo ??
      [...this.#open].findLast(([id, one]) => !isReservedId(id) && canAnswer(one.capabilities, message))?.[0];
    const open = server === undefined ? undefined : this.#open.get(server);
    const input = questionToModern(message, keyOf(message.id));
    const may = open !== undefined && canAnswer(open.capabilities, message);
    if (!may || server === undefined || input === undefined) {
      return this.#ports.toServer(methodNotFound(message.id, message.method));
    }
    const runs = relatedTo === undefined ? this.#runs() : [];
    if (runs.length > 1) {
      // A question of one conversation's call must neither be read in another nor be labelled as that one's.
      this.#ports.unplaced(message, runs);
      const refusal = { decision: "SG-QUESTION-UNPLACED", sentence: unplacedText, way: "" };
      return this.#ports.toServer(refusalError(message.id, refusal));
    }
    if (open.shown.has(input.key) || open.queued.some(({ id }) => id === message.id)) {
      return this.#ports.toServer(
        errorMessage(message.id, errorCodes.invalidRequest, "A question has this id already."),
      );
    }
    if (open.queued.length >= openRoundsMax) {
      return this.#ports.toServer(errorMessage(message.id, errorCodes.internalError, "Too many questions are open."));
    }
    open.queued.push({ id: message.id, input });
    this.#showQuestions(open, server);
  }

  /** Runs that have anything open: calls that wait for answers to their questions are worked on as well. */
  #runs(): readonly string[] {
    return [...new Set([...this.#open.values()].flatMap(({ run }) => run ?? []))];
  }

  #runOf(id: RequestId): string | undefined {
    return this.#ports.runOf(id) ?? (isReservedId(id) ? undefined : unknownRun);
  }

  /** Ends the request that the client waits on with what the server asks. */
  #showQuestions(open: Open, server: RequestId): void {
    if (open.client === undefined || open.queued.length === 0) return;
    const requests = open.queued.map(({ input }) => input);
    for (const { id, input } of open.queued.splice(0)) open.shown.set(input.key, id);
    open.state = this.#ports.nextId();
    this.#byState.set(open.state, server);
    const id = open.client;
    open.client = undefined;
    this.#respond(id, inputRequiredResult({ requests, requestState: open.state }));
  }

  /** Ends a call at the server: each of its questions gets an error, then the call is cancelled. */
  #giveUp(server: RequestId): void {
    const open = this.#open.get(server);
    if (open === undefined) return;
    this.#open.delete(server);
    this.#byState.delete(open.state);
    for (const id of [...open.shown.values(), ...open.queued.map((question) => question.id)]) this.#unanswered(id);
    this.#cancel(server);
  }

  #unanswered(id: RequestId): void {
    this.#ports.toServer(errorMessage(id, errorCodes.invalidRequest, "The client gave no answer."));
  }

  #cancel(server: RequestId): void {
    const params = { requestId: server };
    this.#ports.toServer({ kind: "notification", method: "notifications/cancelled", params });
    this.#ports.abandon(server);
  }

  #answer(message: ResponseMessage | ErrorMessage): void {
    const open = message.id === null ? undefined : this.#open.get(message.id);
    if (open === undefined || message.id === null) return;
    this.#open.delete(message.id);
    this.#byState.delete(open.state);
    // The call ended although its questions are open: a client that repeats it gets an error.
    if (open.client === undefined) return;
    const id = open.client;
    if (message.kind === "error") {
      const urls = urlQuestions(message);
      if (urls?.every((url) => canAnswer(open.capabilities, url)) === true)
        return this.#respond(id, inputRequiredResult({ requests: urls, requestState: undefined }));
      return this.#ports.toClient(errorToModern({ ...withoutRaw(message), id }));
    }
    const result = isObject(message.result) ? message.result : {};
    this.#respond(
      id,
      createdTaskToModern(result) ?? resultToModern(open.request.method, taskState(open.request.method, result)),
    );
  }

  #notification(message: NotificationMessage, relatedTo: RequestId | undefined): void {
    const modern = notificationToModern(message);
    if (modern === undefined) return;
    for (const [id, filter] of this.#listening) {
      if (filterAdmits(filter, modern)) this.#ports.toClient(withSubscription(modern, id), id);
    }
    if (subscribed.has(modern.method)) return;
    const open = relatedTo === undefined ? undefined : this.#open.get(relatedTo);
    this.#ports.toClient(modern, open?.client);
  }

  #listen(id: RequestId, filter: SubscriptionFilter): void {
    this.#listening.set(id, filter);
    for (const uri of filter.resourceSubscriptions.slice(0, subscriptionsMax)) {
      void this.#ports.ask("resources/subscribe", { uri }, handshakeWaitMsMax);
    }
    this.#ports.toClient(acknowledged(id, filter), id);
  }

  #cancelled(id: RequestId): void {
    const filter = this.#listening.get(id);
    if (filter !== undefined) {
      this.#listening.delete(id);
      const kept = new Set([...this.#listening.values()].flatMap((other) => [...other.resourceSubscriptions]));
      for (const uri of filter.resourceSubscriptions) {
        if (!kept.has(uri)) void this.#ports.ask("resources/unsubscribe", { uri }, handshakeWaitMsMax);
      }
      return;
    }
    for (const [server, open] of this.#open) {
      if (open.client !== id) continue;
      this.#open.delete(server);
      this.#cancel(server);
    }
  }

  #setLevel(level: string | undefined): void {
    if (level === undefined || level === this.#logLevel) return;
    this.#logLevel = level;
    if (member(member(this.#initialized, "capabilities"), "logging") === undefined) return;
    void this.#ports.ask("logging/setLevel", { level }, handshakeWaitMsMax);
  }

  #respond(id: RequestId, result: JsonObject): void {
    this.#ports.toClient({ kind: "response", id, result });
  }
}

/** Notifications that a modern client only gets on a stream that it opened for them. */
const subscribed = new Set([
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/tasks",
]);

function opened(sent: RequestMessage, asked: RequestMessage, run: string | undefined): Open {
  const capabilities = capabilitiesOf(asked);
  return { request: sent, run, capabilities, client: asked.id, queued: [], shown: new Map(), state: "" };
}

function capabilitiesOf({ params }: RequestMessage): JsonObject {
  return readRequestMeta(params).clientCapabilities ?? {};
}

function taskState(method: string, result: JsonObject): JsonObject {
  return method.startsWith("tasks/") ? taskToModern(result) : result;
}

function withoutRaw({ raw: _raw, ...message }: ErrorMessage): ErrorMessage {
  return message;
}
