/**
 * Between one client connection and one server. Every message goes by its row of the channel table (gateway.md 2):
 * lists are admitted and exposed, what reaches the server is a call, what comes back is a release, mechanics pass
 * after cleaning. A method without a row is treated as a call and a release of the worst kind.
 */
import type { JsonObject } from "../core/json.ts";
import { isObject, member } from "../core/json.ts";
import { channelOf } from "../wire/channels.ts";
import type { ChannelRow } from "../wire/channels.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import type {
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../wire/message.ts";
import { without } from "../wire/object.ts";
import { isRevision } from "../wire/revision.ts";
import type { Admission } from "./admissions.ts";
import { admitList } from "./admit.ts";
import { Announcer } from "./announcer.ts";
import { mayAnswer } from "./answers.ts";
import { callUnattended, orderedCall } from "./background.ts";
import { isReservedId } from "./call.ts";
import { Calls, malformedCall, toolName } from "./calls.ts";
import type { Catalogue } from "./catalogue.ts";
import { isListMethod } from "./catalogue.ts";
import { ClientAnswers } from "./client-answers.ts";
import { exchangeWithoutSampling } from "./client-facts.ts";
import { ConsentDesk } from "./consent.ts";
import { cancelReason, FromServer } from "./from-server.ts";
import { denial } from "./judge.ts";
import { notOpenText } from "./legacy-server.ts";
import type { Link, LinkUser } from "./link.ts";
import { Lists } from "./lists.ts";
import type { LiveRun } from "./live-run.ts";
import { cleanParams } from "./meta.ts";
import type { Flushed, Held } from "./outbox.ts";
import type { Exchange } from "./ports.ts";
import { refusalOf } from "./refusals.ts";
import { errorValue, isEmptyAnswer, releasedAnswer, requestOf } from "./released-answer.ts";
import { judgeRelease } from "./releases.ts";
import { Rounds } from "./rounds.ts";
import type { Refusal } from "../core/render.ts";
import type { RoundTable } from "./rounds.ts";
import type { Answered, Performed, PerformOrder, Relayed, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";
import { Settlement } from "./settlement.ts";
import { Subscriptions } from "./subscriptions.ts";
import { TaskDesk } from "./task-desk.ts";
import { digest } from "../wire/canonical.ts";
import { openStored } from "./stored-results.ts";
import { withoutProse } from "./unadmitted.ts";

/** A request of which nothing has been decided yet. */
type Opening = { cancelled: boolean; run?: string; readonly exchange: Exchange };

export class Mediator<Q> implements LinkUser {
  readonly #scene: Scene<Q>;
  readonly #link: Link<Q>;
  readonly #lists: Lists<Q>;
  readonly #announcer: Announcer<Q>;
  readonly #consent: ConsentDesk<Q>;
  readonly #settlement: Settlement<Q>;
  readonly #rounds: Rounds<Q>;
  readonly #calls: Calls<Q>;
  readonly #answers: ClientAnswers<Q>;
  readonly #fromServer: FromServer<Q>;
  readonly #tasks: TaskDesk<Q>;
  readonly #subscriptions = new Subscriptions();
  readonly #opening = new Map<RequestId, Opening>();
  readonly #relayed = new Map<RequestId, (answer: Relayed) => void>();

  constructor(scene: Scene<Q>, link: Link<Q>, rounds: RoundTable<Q>) {
    this.#scene = scene;
    this.#link = link;
    const { catalogue } = link;
    this.#lists = new Lists(scene, catalogue, (...shown) => this.#announcer.shown(...shown));
    this.#announcer = new Announcer(scene, (live, method) => this.#lists.signature(live, method));
    this.#consent = new ConsentDesk(scene);
    this.#rounds = new Rounds(scene, rounds);
    this.#settlement = new Settlement(scene, {
      consent: this.#consent,
      rounds: this.#rounds,
      settled: (live, succeeded) => scene.duties.settled(live, scene.server, succeeded),
      schemaOf: (call) => member(catalogue.tool(call.contract.tool), "outputSchema"),
    });
    this.#calls = new Calls(scene, { consent: this.#consent, settlement: this.#settlement });
    this.#answers = new ClientAnswers(scene, catalogue);
    this.#fromServer = new FromServer(scene, {
      catalogue,
      settlement: this.#settlement,
      answers: this.#answers,
      subscriptions: this.#subscriptions,
    });
    this.#tasks = new TaskDesk(scene);
  }

  runOf(id: RequestId): string | undefined {
    return this.#settlement.byRequest(id)?.live.key ?? this.#opening.get(id)?.run;
  }

  overdue(call: string): boolean {
    return this.#settlement.overdue(call);
  }

  get link(): Link<Q> {
    return this.#link;
  }

  get catalogue(): Catalogue<Q> {
    return this.#link.catalogue;
  }

  // -------------------------------------------------------------------------------------------------------------
  // From the client.

  request(exchange: Exchange): void {
    const { id } = exchange.request;
    const opening: Opening = { cancelled: false, exchange };
    this.#opening.set(id, opening);
    // A call replaces this listener when it is decided.
    exchange.onAbandoned(() => {
      opening.cancelled = true;
    });
    this.#serve(exchange, opening)
      .catch(() => {
        // A throw is a bug of ours: deny, and say nothing of its text.
        exchange.respond(errorMessage(id, errorCodes.internalError, internalText));
      })
      .finally(() => {
        if (this.#opening.get(id) === opening) this.#opening.delete(id);
      });
  }

  notification(message: NotificationMessage): void {
    const row = channelOf({ method: message.method, kind: "notification", direction: "to-server" });
    if (message.method === "notifications/cancelled") return this.#cancelled(message);
    if (row.params.moment === "pass") return this.#scene.toServer(message);
    this.#sendNotification(message).catch(() => undefined); // dropped: what cannot be judged is not sent
  }

  answered(message: ResponseMessage | ErrorMessage): void {
    this.#answers.answered(message).catch(() => undefined); // dropped: what cannot be judged is not sent
  }

  /** The client is gone: nothing is sent for it any more, and what is in flight is unknown. */
  clientClosed(): void {
    this.#settlement.closed("the client went away");
    this.#announcer.closed();
    this.#link.detach(this);
  }

  /** A call from the outbox is judged again, and sent if its rules now permit it. */
  async flush({ id: held, live, tool, arguments: given, digest: heldDigest, toolDigest }: Held<Q>): Promise<Flushed> {
    if ((await this.#keptBack(live)) !== undefined) return "unadmitted";
    const order = { server: this.#scene.server, tool, arguments: given, held };
    const call = orderedCall(this.#scene, this.#link.catalogue, live, order);
    // What was held is what is sent: no other method, and no tool that has since been put under its name.
    if (call.digest !== heldDigest || call.contract.toolDigest !== toolDigest) return "changed";
    const outcome = await callUnattended(this.#scene, call, "inject");
    return outcome === "held" || outcome === "refused" ? outcome : "sent";
  }

  /** The injected call of a must-rule. */
  async perform(live: LiveRun<Q>, order: PerformOrder): Promise<Performed> {
    const kept = await this.#keptBack(live);
    if (kept !== undefined) return { kind: "quarantined", decision: kept.decision, approval: kept.approval?.id };
    const call = orderedCall(this.#scene, this.#link.catalogue, live, order);
    return { kind: (await callUnattended(this.#scene, call, "bare")) === "succeeded" ? "succeeded" : "failed" };
  }

  /** Why no tool of the server may be called now, though nobody asked for its list; undefined where one may. */
  async #keptBack(live: LiveRun<Q>): Promise<Extract<Admission, { kind: "quarantined" }> | undefined> {
    await this.#contractsReady(undefined);
    const list = this.#link.catalogue.known("tools/list");
    const admission = list === undefined ? undefined : await this.#lists.admission(live, list);
    return admission?.kind === "quarantined" ? admission : undefined;
  }

  // -------------------------------------------------------------------------------------------------------------
  // From the server.

  message(message: Message, relatedTo: RequestId | undefined): void {
    const slow = this.#scene.connection.drained();
    if (slow !== undefined) this.#link.slowDown(slow);
    switch (message.kind) {
      case "notification":
        return this.#fromServer.notification(message, relatedTo);
      case "request":
        this.#fromServer.request(message, relatedTo);
        return;
      case "response":
      case "error": {
        const relayed = message.id === null ? undefined : this.#relayed.get(message.id);
        if (relayed !== undefined) return relayed(message);
        this.#settlement.answered(message);
      }
    }
  }

  /** The server will not answer this request; nobody knows what became of it. */
  lost(id: RequestId, reason: string): void {
    if (this.#settlement.lost(id, reason)) return;
    const text = `No answer of \`${this.#scene.server}\` arrived. ${reason}`;
    this.#relayed.get(id)?.({ kind: "lost", answer: errorMessage(id, errorCodes.internalError, text.slice(0, 240)) });
  }

  closed(reason: string): void {
    this.#settlement.closed(reason);
    for (const [id, relayed] of this.#relayed) relayed({ kind: "lost", answer: this.#gone(id) });
    for (const [id, { exchange }] of this.#opening) exchange.respond(this.#gone(id));
    // As without a gateway: when the server goes, the conversation ends, after what is still on its way.
    this.#scene.deliveries.now(() => this.#scene.connection.close(reason));
  }

  // -------------------------------------------------------------------------------------------------------------

  async #serve(asked: Exchange, opening: Opening): Promise<void> {
    const found = this.#scene.liveOf(asked.request.params);
    if (!found.ok) return asked.respond(errorMessage(asked.request.id, errorCodes.internalError, found.error));
    const live = found.value;
    opening.run = live.key;
    const exchange = live.policy.settings.sampling === "allow" ? asked : exchangeWithoutSampling(asked);
    const { request } = exchange;
    if (live.ready !== undefined) await live.ready;
    if (live.ended) return exchange.respond(errorMessage(request.id, errorCodes.invalidRequest, endedText));
    if (isReservedId(request.id)) {
      return exchange.respond(errorMessage(request.id, errorCodes.invalidRequest, "This id is reserved. Use another."));
    }
    if (this.#link.down !== undefined) return exchange.respond(this.#gone(request.id));
    if (this.#link.newTo(live)) {
      const looked = this.#scene.duties.look(live, { cause: "start", server: this.#scene.server });
      if (looked !== undefined) await looked;
    }
    const row = channelOf({ method: request.method, kind: "request", direction: "to-server" });
    // An error is text of the server, whatever it answers.
    const relay = async (): Promise<Answered> => {
      const answer = await this.#forward(request);
      return answer.kind === "response" ? answer : this.#releaseRelayed(row, live, answer);
    };
    if (isListMethod(request.method)) {
      const looked = this.#scene.duties.look(live, { cause: "list", server: this.#scene.server });
      if (looked !== undefined) await looked;
      const answered = this.#scene.lists.answering(live, this.#scene.server, request.method);
      return this.#deliver(exchange, await this.#lists.answer(exchange, live, relay).finally(answered));
    }
    if (row.result?.treated === "manifest") return this.#manifest(exchange, live, row);
    if (request.method.startsWith("tasks/")) {
      const own = request.method === "tasks/list" ? relay : (params?: JsonObject) => this.#forward(request, params);
      return this.#deliver(exchange, await this.#tasks.answer(exchange, live, own));
    }
    if (row.params.moment === "call") return this.#call(this.#announcer.listening(exchange, live), live, opening);
    const answer = await this.#forward(request);
    return this.#deliver(exchange, await this.#releaseRelayed(row, live, answer));
  }

  async #call(exchange: Exchange, live: LiveRun<Q>, opening: Opening): Promise<void> {
    const { request } = exchange;
    const { catalogue } = this.#link;
    const tool = request.method === "tools/call";
    const malformed = tool ? malformedCall(request.params) : undefined;
    if (malformed !== undefined) {
      return this.#deliver(exchange, errorMessage(request.id, errorCodes.invalidParams, malformed));
    }
    if (tool && catalogue.known("tools/list") === undefined) await this.#contractsReady(request.params);
    const { policy } = live;
    const contract = tool
      ? catalogue.contractOfTool(policy, toolName(request.params))
      : catalogue.contractOfMethod(policy, request.method);
    const list = tool ? catalogue.known("tools/list") : undefined;
    const call = this.#calls.make(exchange, { live, contract, manifestDigest: list?.digest });
    const admission = list === undefined ? undefined : this.#lists.admission(live, list);
    const admitted = admission instanceof Promise ? await admission : admission;
    const asked = requestOf(this.#scene, call);
    if (admitted?.kind === "quarantined") {
      const { approval, decision } = admitted;
      const how: Refusal = approval === undefined ? { kind: "refused" } : { kind: "approvable", approval: approval.id };
      return this.#deliver(exchange, refusalOf(asked, denial("SG-QUARANTINED"), decision, how));
    }
    if (call.retry !== undefined) {
      const continued = await this.#rounds.continued(call);
      if (continued === "refused") {
        return this.#deliver(exchange, refusalOf(asked, denial("SG-ANSWER"), call.id, { kind: "refused" }));
      }
      if (continued === "gone") {
        return this.#deliver(exchange, errorMessage(request.id, errorCodes.invalidRequest, notOpenText));
      }
      if (continued !== undefined) return this.#calls.resend(continued);
    }
    const answered = openStored({ scene: this.#scene, consent: this.#consent }, call);
    if (answered !== undefined) return answered;
    // Given up while lists were fetched or a run was read: nothing was decided, and nothing is sent.
    if (opening.cancelled) return;
    this.#subscriptions.note(request.method, request.params);
    await this.#calls.decide(call);
  }

  /** What a server says of itself: identity and capabilities pass, instructions must be admitted. */
  async #manifest(exchange: Exchange, live: LiveRun<Q>, row: ChannelRow): Promise<void> {
    const { request } = exchange;
    const answer = await this.#forward(request);
    if (answer.kind !== "response" || !isObject(answer.result)) {
      return this.#deliver(exchange, await this.#releaseRelayed(row, live, answer));
    }
    const revision = member(answer.result, "protocolVersion");
    if (isRevision(revision)) this.#link.negotiated(revision);
    const said = without(answer.result, ["_meta"]);
    const state = { digest: digest(said, this.#scene.services.secrets.hash) };
    const admission = await admitList(this.#scene, live, { state, contracts: [], what: "instructions" });
    const declared = this.#announcer.declared(live, answer.result);
    if (admission.kind === "connected") {
      return this.#deliver(exchange, declared === answer.result ? answer : answerWith(request.id, declared));
    }
    return this.#deliver(exchange, answerWith(request.id, withoutProse(declared)));
  }

  /** What stands in for an answer that never came is the gateway's own word, and carries nothing of the server. */
  async #releaseRelayed(row: ChannelRow, live: LiveRun<Q>, answer: Relayed): Promise<Answered> {
    if (answer.kind === "lost") return answer.answer;
    const { id } = answer;
    if (id === null || isEmptyAnswer(answer)) return answer;
    const contract = this.#link.catalogue.contractOfMethod(live.policy, row.method);
    const value = answer.kind === "response" ? answer.result : errorValue(answer.error);
    const outcome = answer.kind === "response" ? "succeeded" : "failed";
    const decision = this.#scene.nextId();
    const query = { live, id: decision, call: undefined, contract, option: undefined, outcome, value } as const;
    const ruled = judgeRelease(this.#scene, query);
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const asked = { id, method: row.method, modern: isModern(this.#scene) };
    return releasedAnswer({ asked, decision, message: answer, ruling }, await ruling.durable);
  }

  /** Forwards a request of the client and gives the answer, or what is said in the server's place if none came. */
  #forward(request: RequestMessage, instead = request.params): Promise<Relayed> {
    const { id, method } = request;
    if (this.#relayed.has(id)) {
      const answer = errorMessage(id, errorCodes.invalidRequest, "A request with this id is in flight.");
      return Promise.resolve({ kind: "lost", answer });
    }
    // It may have gone while what it did was looked back at, and would never answer.
    if (this.#link.down !== undefined) return Promise.resolve({ kind: "lost", answer: this.#gone(id) });
    return new Promise((resolve) => {
      this.#relayed.set(id, (answer) => {
        this.#relayed.delete(id);
        resolve(answer);
      });
      const params = cleanParams(instead, this.#scene.services.secrets.mac);
      this.#scene.toServer(params === request.params ? request : { kind: "request", id, method, params });
    });
  }

  async #contractsReady(params: JsonObject | undefined): Promise<void> {
    if (this.#link.catalogue.known("tools/list") === undefined) await this.#lists.drain("tools/list", params);
  }

  #cancelled(message: NotificationMessage): void {
    const id = member(message.params, "requestId");
    if (typeof id !== "string" && typeof id !== "number") return;
    const opening = this.#opening.get(id);
    if (opening !== undefined) opening.cancelled = true;
    if (this.#relayed.has(id)) {
      const { params } = message;
      const cleaned = member(params, "reason") === undefined ? params : { ...params, reason: cancelReason };
      this.#scene.toServer({ kind: "notification", method: message.method, params: cleaned });
      return;
    }
    this.#announcer.cancelled(id);
    this.#calls.cancel(id);
  }

  /** A notification with data of the client (progress of a question, unknown ones) is a send to the server. */
  async #sendNotification(message: NotificationMessage): Promise<void> {
    const live = this.#scene.current();
    if (live === undefined) return;
    const contract = this.#link.catalogue.contractOfMethod(live.policy, message.method);
    const value = message.params ?? {};
    if (await mayAnswer(this.#scene, { live, contract, method: message.method, value })) this.#scene.toServer(message);
  }

  #gone(id: RequestId): ErrorMessage {
    // The reason is a sentence with its own way on.
    const reason = this.#link.down ?? "It was closed. Restart it, or see `sluicegate doctor`.";
    const text = `The server \`${this.#scene.server}\` is not running. ${reason}`;
    return errorMessage(id, errorCodes.internalError, text.slice(0, 240));
  }

  #deliver(exchange: Exchange, answer: Answered): void {
    this.#scene.deliveries.now(() => exchange.respond(answer));
  }
}

const endedText = "The run has ended, and its token with it. Start a new one with `sluicegate runs new`.";
const internalText = "The gateway failed while it decided this request; nothing was forwarded. Please report it.";

function answerWith(id: RequestId, result: JsonObject): ResponseMessage {
  return { kind: "response", id, result };
}
