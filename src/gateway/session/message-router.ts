/**
 * Between one client connection and one server. Every message goes by its row of the channel table (gateway.md 2):
 * lists are admitted and exposed, what reaches the server is a call, what comes back is a release, mechanics pass
 * after cleaning. A method without a row is treated as a call and a release of the worst kind.
 */
import { type JsonObject, isObject, member } from "../../core/json.ts";
import { channelOf } from "../../wire/channels.ts";
import type { ChannelRow } from "../../wire/channel-rows.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type {
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
} from "../../wire/message.ts";
import { without } from "../../wire/object.ts";
import { isRevision } from "../../wire/revision.ts";
import { cardRefusal } from "../lists/card-refusal.ts";
import { admitList, hasNewProse, withoutProse } from "../lists/admission.ts";
import { Announcer } from "../lists/list-changed.ts";
import { ClientAnswers, maySendToServer } from "../calls/client-data.ts";
import { type Ordered, callUnattended, orderedCall, performed } from "../calls/unattended-calls.ts";
import { Calls, malformedCall, toolName } from "../calls/client-calls.ts";
import { type Catalogue, isListMethod } from "../upstream/listed-tools.ts";
import { isModern, protocolOnly } from "../upstream/client-facts.ts";
import { clientWordsJudged } from "../calls/client-words.ts";
import { ConsentDesk } from "../consent/consent-desk.ts";
import { cancelReason, FromServer } from "../calls/server-messages.ts";
import { denial } from "../decision/ask-loop.ts";
import { withUnknownName } from "../decision/call.ts";
import type { Link, LinkUser } from "../upstream/upstream-link.ts";
import { Lists } from "../lists/lists.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Flushed, Held } from "../calls/outbox.ts";
import type { Exchange } from "../ports/transport.ts";
import { errorValue, isEmptyAnswer, refusalOf, releasedAnswer, requestOf } from "../decision/client-answer.ts";
import { judgeRelease } from "../decision/release.ts";
import { InputRequests, type InputRequestTable } from "../calls/input-required.ts";
import { Settlement } from "../calls/settlement.ts";
import { Subscriptions } from "../calls/subscriptions.ts";
import { TaskDesk } from "../calls/task-desk.ts";
import { digest } from "../../wire/canonical.ts";
import { openStored } from "../consent/withheld-opening.ts";
import { isReservedId, notOpenText } from "../ports/ids.ts";
import type { Answered, Performed, PerformOrder, Relayed } from "../ports/conversation.ts";
import type { SessionContext } from "./session-context.ts";
import { type KeptFromCalls, Showings } from "../lists/showings.ts";

/** A request of which nothing has been decided yet. */
type Opening = { cancelled: boolean; run?: string; readonly exchange: Exchange };

export class MessageRouter implements LinkUser {
  readonly #needs: SessionContext;
  readonly #link: Link;
  readonly #showings: Showings;
  readonly #lists: Lists;
  readonly #announcer: Announcer;
  readonly #consent: ConsentDesk;
  readonly #settlement: Settlement;
  readonly #inputRequests: InputRequests;
  readonly #calls: Calls;
  readonly #answers: ClientAnswers;
  readonly #fromServer: FromServer;
  readonly #tasks: TaskDesk;
  readonly #subscriptions = new Subscriptions();
  readonly #opening = new Map<RequestId, Opening>();
  readonly #relayed = new Map<RequestId, (answer: Relayed) => void>();

  constructor(needs: SessionContext, link: Link, inputRequests: InputRequestTable) {
    this.#needs = needs;
    this.#link = link;
    const { catalogue } = link;
    this.#showings = new Showings(needs, catalogue);
    this.#announcer = new Announcer(needs, this.#showings);
    this.#lists = new Lists(needs, catalogue, { showings: this.#showings, announcer: this.#announcer });
    this.#consent = new ConsentDesk(needs);
    this.#inputRequests = new InputRequests(needs, inputRequests);
    this.#settlement = new Settlement(needs, {
      consent: this.#consent,
      inputRequests: this.#inputRequests,
      catalogue,
    });
    this.#calls = new Calls(needs, { consent: this.#consent, settlement: this.#settlement });
    this.#answers = new ClientAnswers(needs, catalogue);
    this.#fromServer = new FromServer(needs, {
      catalogue,
      settlement: this.#settlement,
      answers: this.#answers,
      subscriptions: this.#subscriptions,
    });
    this.#tasks = new TaskDesk(needs);
  }

  runOf(id: RequestId): string | undefined {
    return this.#settlement.byRequest(id)?.live.key ?? this.#opening.get(id)?.run;
  }

  overdue(call: string): boolean {
    return this.#settlement.overdue(call);
  }

  get link(): Link {
    return this.#link;
  }

  get catalogue(): Catalogue {
    return this.#link.catalogue;
  }

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
    if (row.params.moment === "pass") return this.#needs.link.send(message);
    this.#sendNotification(message).catch(() => undefined); // dropped: what cannot be judged is not sent
  }

  answered(message: ResponseMessage | ErrorMessage): void {
    this.#answers.answered(message).catch(() => undefined); // dropped: what cannot be judged is not sent
  }

  /** The client is gone: nothing is sent for it any more, and what is in flight is unknown. */
  clientClosed(): void {
    this.#settlement.closed("the client went away");
    this.#announcer.closed();
    this.#needs.link.detach();
  }

  /** A call from the outbox is judged again, and sent if its rules now permit it. */
  async flush(held: Held): Promise<Flushed> {
    const { id, since, live, digest, toolDigest } = held;
    if ((await this.#keptBack(live, held.tool)) !== undefined) return "unadmitted";
    if (this.#showings.isUnlisted(live, held.tool)) return "changed";
    const call = orderedCall(this.#needs, this.#link.catalogue, live, { ...held, held: { id, since } });
    // The held call itself is sent: no other method, and no tool that has since been put under its name.
    if (call.digest !== digest || call.contract.toolDigest !== toolDigest) return "changed";
    const outcome = await callUnattended(this.#needs, call, "outbox");
    return outcome === "succeeded" || outcome === "failed" ? "sent" : outcome;
  }

  /** A call that a must-rule orders. */
  async perform(live: LiveRun, order: PerformOrder, attendance: Ordered = "injected"): Promise<Performed> {
    const kept = await this.#keptBack(live, order.tool);
    if (kept !== undefined) return { ...kept, kind: kept.code === "SG-QUARANTINED" ? "quarantined" : "changed" };
    // The name of a tool that its server does not list would be text of the policy or of a call.
    if (this.#showings.isUnlisted(live, order.tool)) return { kind: "unlisted" };
    const call = orderedCall(this.#needs, this.#link.catalogue, live, order);
    return performed(await callUnattended(this.#needs, call, attendance));
  }

  /** Why a tool may not be called, also where no client asked for the list; undefined where it may. */
  async #keptBack(live: LiveRun, tool: string): Promise<KeptFromCalls | undefined> {
    await this.#contractsReady(undefined);
    const list = this.#link.catalogue.known("tools/list");
    return list === undefined ? undefined : this.#showings.keptBack(live, list, tool);
  }

  message(message: Message, relatedTo: RequestId | undefined): void {
    const slow = this.#needs.connection.drained();
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

  /** The server will not answer this request; its outcome is unknown. */
  lost(id: RequestId, reason: string): void {
    if (this.#settlement.lost(id, reason)) return;
    const text = `No answer of \`${this.#needs.server}\` arrived. ${reason}`;
    this.#relayed.get(id)?.({ kind: "lost", answer: errorMessage(id, errorCodes.internalError, text.slice(0, 240)) });
  }

  closed(reason: string): void {
    this.#settlement.closed(reason);
    for (const [id, relayed] of this.#relayed) relayed({ kind: "lost", answer: this.#gone(id) });
    for (const [id, { exchange }] of this.#opening) exchange.respond(this.#gone(id));
    // As without a gateway: when the server goes, the conversation ends, after what is still on its way.
    this.#needs.deliveries.now(() => this.#needs.connection.close(reason));
  }

  async #serve(asked: Exchange, opening: Opening): Promise<void> {
    const found = this.#needs.session.liveOf(asked.request.params);
    if (!found.ok) return asked.respond(errorMessage(asked.request.id, errorCodes.internalError, found.error));
    const live = found.value;
    opening.run = live.key;
    if (live.ready !== undefined) await live.ready;
    const said = clientWordsJudged({ needs: this.#needs, catalogue: this.#link.catalogue, live }, asked);
    const exchange = said instanceof Promise ? await said : said;
    const { request } = exchange;
    if (live.ended) return exchange.respond(errorMessage(request.id, errorCodes.invalidRequest, endedText));
    if (isReservedId(request.id)) {
      return exchange.respond(errorMessage(request.id, errorCodes.invalidRequest, "This id is reserved. Use another."));
    }
    if (this.#link.down !== undefined) return exchange.respond(this.#gone(request.id));
    if (this.#link.newTo(live)) {
      const looked = this.#needs.runObligations.look(live, { cause: "start", server: this.#needs.server });
      if (looked !== undefined) await looked;
    }
    const row = channelOf({ method: request.method, kind: "request", direction: "to-server" });
    // An error is text of the server, whatever it answers.
    const relay = async (): Promise<Answered> => {
      const answer = await this.#forward(request);
      return answer.kind === "response" ? answer : this.#releaseRelayed(row, live, answer);
    };
    if (isListMethod(request.method)) {
      const looked = this.#needs.runObligations.look(live, { cause: "list", server: this.#needs.server });
      if (looked !== undefined) await looked;
      const answered = this.#needs.lists.answering(live, this.#needs.server, request.method);
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

  async #call(exchange: Exchange, live: LiveRun, opening: Opening): Promise<void> {
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
    if (cardRefusal(this.#needs) !== undefined)
      return this.#calls.refuseKept(call, { code: "SG-CARD-REFUSED", decision: call.id });
    const from = request.method === "prompts/get" ? catalogue.known("prompts/list") : list;
    const keeping = from === undefined ? undefined : this.#showings.keptBack(live, from, toolName(request.params));
    const kept = keeping instanceof Promise ? await keeping : keeping;
    if (kept !== undefined) return this.#calls.refuseKept(call, kept);
    if (tool && this.#showings.isUnlisted(live, contract.tool)) {
      // Asked as the client's own request, the list says what stands in its way: its login may have run out.
      const asking = { ...request, method: "tools/list", params: protocolOnly(request.params) };
      const row = channelOf({ method: asking.method, kind: "request", direction: "to-server" });
      const answer = list === undefined ? await this.#forward(asking) : undefined;
      if (answer === undefined || answer.kind === "response")
        return this.#calls.refuseUnlisted(call, list !== undefined);
      return this.#deliver(exchange, await this.#releaseRelayed(row, live, answer));
    }
    if (call.retry !== undefined) {
      const continued = await this.#inputRequests.continued(call);
      if (continued === "refused") {
        const asked = requestOf(this.#needs, call);
        return this.#deliver(exchange, refusalOf(asked, denial("SG-ANSWER"), call.id, { kind: "refused" }));
      }
      if (continued === "gone") {
        return this.#deliver(exchange, errorMessage(request.id, errorCodes.invalidRequest, notOpenText));
      }
      if (continued !== undefined) return this.#calls.resend(continued);
    }
    const answered = openStored({ needs: this.#needs, consent: this.#consent }, call);
    if (answered !== undefined) return answered;
    // Given up while lists were fetched or a run was read: nothing was decided, and nothing is sent.
    if (opening.cancelled) return;
    this.#subscriptions.note(request.method, request.params);
    await this.#calls.decide(call);
  }

  /** Answers with a server's description of itself: identity and capabilities pass, instructions must be admitted. */
  async #manifest(exchange: Exchange, live: LiveRun, row: ChannelRow): Promise<void> {
    const { request } = exchange;
    const answer = await this.#forward(request);
    if (answer.kind !== "response" || !isObject(answer.result)) {
      return this.#deliver(exchange, await this.#releaseRelayed(row, live, answer));
    }
    const revision = member(answer.result, "protocolVersion");
    if (isRevision(revision)) this.#link.negotiated(revision);
    const said = without(answer.result, ["_meta"]);
    const state = { digest: digest(said, this.#needs.services.secrets.hash) };
    const admission = await admitList(this.#needs, live, { state, contracts: [], what: "instructions" });
    const declared = this.#announcer.declared(live, answer.result);
    // What a refused server says of itself would be read by the model as if it were accepted.
    const isOpen = admission.kind === "connected" && cardRefusal(this.#needs) === undefined;
    if (isOpen && !(await hasNewProse(this.#needs, live, answer.result))) {
      return this.#deliver(exchange, declared === answer.result ? answer : answerWith(request.id, declared));
    }
    return this.#deliver(exchange, answerWith(request.id, withoutProse(declared)));
  }

  /** An error in place of an answer that never came is the gateway's own text, and carries nothing of the server. */
  async #releaseRelayed(row: ChannelRow, live: LiveRun, answer: Relayed): Promise<Answered> {
    if (answer.kind === "lost") return answer.answer;
    const { id } = answer;
    if (id === null || isEmptyAnswer(answer)) return answer;
    const contract = this.#link.catalogue.contractOfMethod(live.policy, row.method);
    const value = answer.kind === "response" ? answer.result : errorValue(answer.error);
    const outcome = answer.kind === "response" ? "succeeded" : "failed";
    const decision = this.#needs.ids.next();
    const query = { live, id: decision, call: undefined, contract, option: undefined, outcome, value } as const;
    const ruled = judgeRelease(this.#needs, query);
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const asked = { id, method: row.method, modern: isModern(this.#needs) };
    return releasedAnswer({ asked, decision, message: answer, ruling }, await ruling.durable);
  }

  /** Forwards a request of the client and gives the answer, or the gateway's error in its place if none came. */
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
      this.#needs.link.send(instead === request.params ? request : { kind: "request", id, method, params: instead });
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
      this.#needs.link.send({ kind: "notification", method: message.method, params: cleaned });
      return;
    }
    this.#announcer.cancelled(id);
    this.#calls.cancel(id);
  }

  /** A notification with data of the client (progress of a question, unknown ones) is a send to the server. */
  async #sendNotification(message: NotificationMessage): Promise<void> {
    const live = this.#needs.session.current();
    if (live === undefined) return;
    const contract = this.#link.catalogue.contractOfMethod(live.policy, message.method);
    const value = withUnknownName(message, message.params ?? {});
    if (await maySendToServer(this.#needs, { live, contract, method: message.method, value }))
      this.#needs.link.send(message);
  }

  #gone(id: RequestId): ErrorMessage {
    // The reason is a sentence with its own way on.
    const reason = this.#link.down ?? "It was closed. Restart it, or see `sluicegate doctor`.";
    const text = `The server \`${this.#needs.server}\` is not running. ${reason}`;
    return errorMessage(id, errorCodes.internalError, text.slice(0, 240));
  }

  #deliver(exchange: Exchange, answer: Answered): void {
    this.#needs.deliveries.now(() => exchange.respond(answer));
  }
}

const endedText = "The run has ended, and its token with it. Start a new one with `sluicegate runs new`.";
const internalText = "The gateway failed while it decided this request; nothing was forwarded. Please report it.";

function answerWith(id: RequestId, result: JsonObject): ResponseMessage {
  return { kind: "response", id, result };
}
