/**
 * A modern server behind a legacy client. The client's declarations at its handshake go with every request; questions
 * inside results become requests of their own, and their answers repeat the call; one stream carries the changes that
 * the client subscribed to.
 */
import { type JsonObject, isObject, member } from "../../core/json.ts";
import { errorCodes, errorMessage, methodNotFound } from "../../wire/errors.ts";
import type {
  ErrorMessage,
  Message,
  RequestId,
  RequestMessage,
  ResponseMessage,
  Revision,
} from "../../wire/message.ts";
import { type InputRequired, filterJson, readInputRequired } from "../../wire/modern.ts";
import { type LegacyClient, perRequestMeta } from "../../wire/translate/handshake.ts";
import { answerToModern, questionToLegacy, retryWith } from "../../wire/translate/input.ts";
import { notificationToLegacy } from "../../wire/translate/notification.ts";
import { requestToModern } from "../../wire/translate/request.ts";
import { errorToLegacy, resultToLegacy } from "../../wire/translate/result.ts";
import { streamRenewalsMax, subscriptionsMax } from "../ports/limits.ts";
import type { Translator, TranslatorPorts } from "./translator.ts";

/** A request of the client; `sent` is the translated one, `server` the id under which the server knows it now. */
type Open = { readonly client: RequestId; readonly sent: RequestMessage };

/** Questions of one result that the client is answering. */
type Round = {
  readonly open: Open;
  readonly state: string | undefined;
  readonly answers: Map<string, JsonObject>;
  missing: number;
  failed: boolean;
};

export type ModernSession = {
  readonly client: LegacyClient;
  readonly revision: Revision;
  readonly discover: JsonObject;
};

export class ModernServer implements Translator {
  readonly #ports: TranslatorPorts;
  readonly #revision: Revision;
  readonly #discover: JsonObject;
  #client: LegacyClient;
  readonly #open = new Map<RequestId, Open>();
  readonly #asked = new Map<RequestId, { readonly round: Round; readonly key: string; readonly method: string }>();
  readonly #uris = new Set<string>();
  #stream: RequestId | undefined;
  /** Streams cut in a row that had brought no change. */
  #renewals = 0;

  constructor(ports: TranslatorPorts, { client, revision, discover }: ModernSession) {
    this.#ports = ports;
    this.#client = client;
    this.#revision = revision;
    this.#discover = discover;
    this.#listen();
  }

  fromClient(message: Message): void {
    switch (message.kind) {
      case "request":
        return this.#request(message);
      case "response":
      case "error":
        return this.#answered(message);
      case "notification": {
        if (message.method !== "notifications/cancelled") return; // the others have no modern form
        const id = member(message.params, "requestId");
        if (typeof id === "string" || typeof id === "number") this.#cancel(id);
      }
    }
  }

  fromServer(message: Message, relatedTo: RequestId | undefined): void {
    switch (message.kind) {
      case "request":
        return this.#ports.toServer(methodNotFound(message.id, message.method)); // modern servers ask within results
      case "notification": {
        const legacy = notificationToLegacy(message, this.#revision);
        const open = relatedTo === undefined ? undefined : this.#open.get(relatedTo);
        if (legacy === undefined) return;
        this.#renewals = 0;
        return this.#ports.toClient(legacy, open?.client);
      }
      case "response":
      case "error":
        return this.#answer(message);
    }
  }

  abandoned(id: RequestId): void {
    this.#cancel(id);
  }

  lost(id: RequestId): RequestId | undefined {
    if (id === this.#stream) {
      // The stream of changes was cut: a new one takes its place, or the client would never hear of a change again.
      this.#stream = undefined;
      this.#renewals += 1;
      if (this.#renewals <= streamRenewalsMax) this.#listen();
      return undefined;
    }
    const open = this.#open.get(id);
    this.#open.delete(id);
    return open?.client;
  }

  #request(message: RequestMessage): void {
    const translated = requestToModern(message, this.#client);
    const { id } = message;
    switch (translated.kind) {
      case "send":
        this.#open.set(id, { client: id, sent: translated.message });
        return this.#ports.toServer(translated.message);
      case "local":
        return this.#respond(id, {});
      case "log-level":
        this.#client = { ...this.#client, logLevel: translated.level };
        return this.#respond(id, {});
      case "subscribe":
        if (this.#uris.size < subscriptionsMax) this.#uris.add(translated.uri);
        this.#listen();
        return this.#respond(id, {});
      case "unsubscribe":
        this.#uris.delete(translated.uri);
        this.#listen();
        return this.#respond(id, {});
      case "listen":
      case "absent":
        return this.#ports.toClient(methodNotFound(id, message.method));
      case "malformed":
        return this.#ports.toClient(errorMessage(id, errorCodes.invalidParams, "The params do not fit the method."));
    }
  }

  #answer(message: ResponseMessage | ErrorMessage): void {
    if (message.id === null || message.id === this.#stream) return;
    const open = this.#open.get(message.id);
    if (open === undefined) return;
    this.#open.delete(message.id);
    if (message.kind === "error") return this.#ports.toClient(errorToLegacy({ ...message, id: open.client }));
    const asked = readInputRequired(message.result);
    if (asked !== undefined) return this.#ask(open, asked);
    const result = isObject(message.result) ? resultToLegacy(open.sent.method, message.result) : undefined;
    if (result !== undefined) return this.#respond(open.client, result);
    const text = "The server answered in a way that this protocol revision cannot express. Use a newer client.";
    this.#ports.toClient(errorMessage(open.client, errorCodes.internalError, text));
  }

  /** Puts the questions of a result to the client; when the last is answered, the call is repeated. */
  #ask(open: Open, { requests, requestState }: InputRequired): void {
    const round: Round = { open, state: requestState, answers: new Map(), missing: requests.length, failed: false };
    for (const question of requests) {
      const request = this.#ports.nextId();
      const legacy = questionToLegacy(question, { request, elicitation: this.#ports.nextId() }, this.#revision);
      if (legacy === undefined) {
        this.#take(
          round,
          question.key,
          answerToModern(question.method, errorMessage(request, errorCodes.methodNotFound, "")),
        );
        continue;
      }
      this.#asked.set(request, { round, key: question.key, method: question.method });
      this.#ports.toClient(legacy, open.client);
    }
    if (requests.length === 0) this.#repeat(round);
  }

  #answered(message: ResponseMessage | ErrorMessage): void {
    const asked = message.id === null ? undefined : this.#asked.get(message.id);
    if (asked === undefined || message.id === null) return;
    this.#asked.delete(message.id);
    this.#take(asked.round, asked.key, answerToModern(asked.method, message));
  }

  #take(round: Round, key: string, answer: JsonObject | undefined): void {
    round.missing -= 1;
    if (answer === undefined) round.failed = true;
    else round.answers.set(key, answer);
    if (round.missing === 0) this.#repeat(round);
  }

  #repeat(round: Round): void {
    const { open } = round;
    if (round.failed) {
      const text = "The server asked something that this client cannot answer, so the call did not finish.";
      return this.#ports.toClient(errorMessage(open.client, errorCodes.internalError, text));
    }
    const id = this.#ports.nextId();
    this.#open.set(id, open);
    this.#ports.toServer(retryWith(open.sent, id, round.answers, round.state));
  }

  #cancel(id: RequestId): void {
    for (const [server, open] of this.#open) {
      if (open.client !== id) continue;
      this.#open.delete(server);
      const params = { requestId: server };
      this.#ports.toServer({ kind: "notification", method: "notifications/cancelled", params });
      this.#ports.abandon(server);
    }
  }

  /** One stream for all changes that a legacy client hears of without asking, and its resource subscriptions. */
  #listen(): void {
    const capabilities = member(this.#discover, "capabilities");
    const announces = (name: string): boolean => member(member(capabilities, name), "listChanged") === true;
    const filter = {
      toolsListChanged: announces("tools"),
      promptsListChanged: announces("prompts"),
      resourcesListChanged: announces("resources"),
      resourceSubscriptions: [...this.#uris],
      taskIds: [],
    };
    const old = this.#stream;
    this.#stream = undefined;
    if (old !== undefined) {
      this.#ports.toServer({ kind: "notification", method: "notifications/cancelled", params: { requestId: old } });
      this.#ports.abandon(old);
    }
    const notifications = filterJson(filter);
    if (Object.keys(notifications).length === 0) return;
    this.#stream = this.#ports.nextId();
    const params = { _meta: perRequestMeta(this.#client), notifications };
    this.#ports.toServer({ kind: "request", id: this.#stream, method: "subscriptions/listen", params });
  }

  #respond(id: RequestId, result: JsonObject): void {
    this.#ports.toClient({ kind: "response", id, result });
  }
}
