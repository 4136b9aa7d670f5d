/**
 * Messages that a server sends on its own: progress and log text, questions to user or model, changes. Text joins the
 * call in flight, else the run, and is released before it is forwarded; numbers pass. A question that may not be shown
 * is answered in the client's place, so that the server does not wait.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, isRawNumber, member, stringMember } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import { channelOf } from "../../wire/channels.ts";
import { errorCodes, errorMessage, refusalError } from "../../wire/errors.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { NotificationMessage, RequestId, RequestMessage } from "../../wire/message.ts";
import { type Call, isObserved } from "../decision/call.ts";
import type { Catalogue, ListMethod } from "../upstream/listed-tools.ts";
import type { CurrentRun, LiveRun } from "../runs/live-run.ts";
import type { ClientAnswers } from "./client-data.ts";
import { namedQuestion, questionsIn, refusesSecret, type QuestionNeeds } from "./server-questions.ts";
import { type ReleaseNeeds, type Ruling, judgeRelease } from "../decision/release.ts";
import { type GoingOn, checkInterimEffects } from "../decision/effect-check.ts";
import type { Settlement } from "./settlement.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { cardRefusal } from "../lists/card-refusal.ts";
import { isOwnId } from "../ports/ids.ts";
import type { ClientState } from "../ports/conversation.ts";
import type { ClientConnection } from "../ports/transport.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import type { TaskTable } from "./task-desk.ts";
import type { EffectNeeds } from "../decision/effect-window.ts";
import type { RunObligations } from "./run-obligations.ts";

type Needs = ReleaseNeeds &
  EffectNeeds &
  QuestionNeeds & {
    readonly client: ClientState;
    readonly connection: ClientConnection;
    readonly deliveries: Deliveries;
    readonly tasks: TaskTable;
    readonly session: CurrentRun;
    readonly runObligations: Pick<RunObligations, "look">;
  };

const listOf: Readonly<Record<string, readonly ListMethod[]>> = {
  "notifications/tools/list_changed": ["tools/list"],
  "notifications/prompts/list_changed": ["prompts/list"],
  "notifications/resources/list_changed": ["resources/list", "resources/templates/list"],
};

/** The run, call and contract that a text is joined to. */
type Source = {
  readonly live: LiveRun;
  readonly call: Call | undefined;
  /** Id of the call, also where only its task goes on. */
  readonly of: string | undefined;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  /** The call or task under way while the server sends this; its effects so far are evidence for the release. */
  readonly during: GoingOn | undefined;
};

export class FromServer {
  readonly #needs: Needs;
  readonly #catalogue: Catalogue;
  readonly #settlement: Settlement;
  readonly #answers: ClientAnswers;
  readonly #subscriptions: Subscriptions;

  constructor(
    needs: Needs,
    parts: {
      catalogue: Catalogue;
      settlement: Settlement;
      answers: ClientAnswers;
      subscriptions: Subscriptions;
    },
  ) {
    this.#needs = needs;
    this.#catalogue = parts.catalogue;
    this.#settlement = parts.settlement;
    this.#answers = parts.answers;
    this.#subscriptions = parts.subscriptions;
  }

  notification(message: NotificationMessage, relatedTo: RequestId | undefined): void {
    const row = channelOf({ method: message.method, kind: "notification", direction: "to-client" });
    switch (row.params.treated) {
      case "progress":
        return this.#progress(message, relatedTo);
      case "list-changed":
        return this.#changed(message, relatedTo);
      case "control":
        if (!this.#isPlain(message, controlNames) || !namesById(message)) return this.#release(message, relatedTo);
        if (message.method === "notifications/cancelled" && !this.#mayCancel(message)) return;
        return this.#forward(cleanedControl(message), this.#callOf(message, relatedTo));
      case "log":
      case "task":
      case "unknown":
      case "manifest":
      case "list":
      case "invocation":
      case "completion":
      case "result":
      case "question":
      case "answer":
        this.#release(message, relatedTo);
    }
  }

  /** A request of the server to the client. A throw is a bug of ours: the server must not wait for its answer. */
  request(message: RequestMessage, relatedTo: RequestId | undefined): void {
    this.#asked(message, relatedTo).catch(() => this.#refuse(message.id, "SG-INTERNAL"));
  }

  async #asked(message: RequestMessage, relatedTo: RequestId | undefined): Promise<void> {
    const { id, method } = message;
    const row = channelOf({ method, kind: "request", direction: "to-client" });
    const live = this.#needs.session.current();
    if (live === undefined || isOwnId(id)) return this.#refuse(id, "SG-NO-RUN");
    if (row.params.moment === "pass") {
      if (!this.#answers.expect(message, live)) return this.#refuse(id, "SG-LIMIT");
      // A `ping` carries no data beside its id.
      return this.#forward({ kind: "request", id, method, params: undefined }, this.#callOf(message, relatedTo));
    }
    if (cardRefusal(this.#needs) !== undefined) return this.#refuse(id, "SG-CARD-REFUSED");
    if (method === "sampling/createMessage" && live.policy.settings.sampling === "refuse") {
      return this.#refuse(id, "SG-SAMPLING");
    }
    const source = this.#source(message, relatedTo, live);
    const params = message.params ?? {};
    if (!this.#needs.link.budget.take(message, source.live)) return this.#refuse(id, "SG-CHATTER");
    if (refusesSecret(this.#needs, source, [{ method, params }])) return this.#refuse(id, "SG-API-KEY-REQUEST");
    const ruling = await this.#ruleByDeeds(source, params);
    const durable = await ruling.durable;
    if (ruling.how !== "pass" || !durable) return this.#refuse(id, "SG-QUESTION");
    if (!this.#answers.expect(message, live)) return this.#refuse(id, "SG-LIMIT");
    // the judged value is the params object, redacted at most
    const named = namedQuestion(this.#needs, live, { method, params: ruling.value as JsonObject });
    this.#forward(replaced(message, named), source.call);
  }

  /**
   * A server may cancel its own questions and the calls that it works on, never a question of the gateway or of another
   * server.
   */
  #mayCancel({ params }: NotificationMessage): boolean {
    const id = member(params, "requestId");
    if (typeof id !== "string" && typeof id !== "number") return false;
    return this.#answers.withdraw(id) || this.#settlement.byRequest(id) !== undefined;
  }

  #progress(message: NotificationMessage, relatedTo: RequestId | undefined): void {
    // Anything beside token and numbers is text of the server, under whatever name it comes.
    const numbers = this.#withoutText(message);
    const plain = numbers !== undefined && this.#isPlain(message, progressNames) && this.#isCounted(message);
    if (plain && Object.keys(numbers.params ?? {}).length === Object.keys(message.params ?? {}).length) {
      return this.#forward(message, this.#callOf(message, relatedTo));
    }
    this.#release(message, relatedTo);
  }

  /** The token is one that the client made; any other could say anything. */
  #isCounted(message: NotificationMessage): boolean {
    return this.#settlement.byProgressToken(member(message.params, "progressToken")) !== undefined;
  }

  #changed(message: NotificationMessage, relatedTo: RequestId | undefined): void {
    for (const method of listOf[message.method] ?? []) this.#catalogue.changed(method);
    const uri = member(message.params, "uri");
    // The client's own words come back: the URIs that it subscribed to are not text of the server.
    const known = uri === undefined || (typeof uri === "string" && this.#subscriptions.has(uri));
    if (known && this.#isPlain(message, changeNames) && this.#acknowledgesOwn(message)) {
      return this.#forward(message, this.#callOf(message, relatedTo));
    }
    this.#release(message, relatedTo);
  }

  /** Whether the changes that a server acknowledges are those that the client asked for. */
  #acknowledgesOwn(message: NotificationMessage): boolean {
    const acknowledged = member(message.params, "notifications");
    if (acknowledged === undefined) return true;
    return (
      message.method === "notifications/subscriptions/acknowledged" &&
      Object.entries(isObject(acknowledged) ? acknowledged : { acknowledged }).every(([name, value]) =>
        name === "resourceSubscriptions" && isArray(value)
          ? value.every((uri) => typeof uri === "string" && this.#subscriptions.has(uri))
          : typeof value === "boolean",
      )
    );
  }

  #release(message: NotificationMessage, relatedTo: RequestId | undefined): void {
    // A throw is a bug of ours: the text is dropped, as if it had been withheld.
    this.#released(message, relatedTo).catch(() => undefined);
  }

  /** Text beside an answer: released under the call it belongs to, or dropped. */
  async #released(message: NotificationMessage, relatedTo: RequestId | undefined): Promise<void> {
    const live = this.#callOf(message, relatedTo)?.live ?? this.#needs.session.current();
    if (live === undefined || this.#isOfOtherRun(message, live)) return;
    const source = this.#source(message, relatedTo, live);
    const params = message.params ?? {};
    if (!this.#needs.link.budget.take(message, source.live)) {
      const numbers = this.#isCounted(message) ? this.#withoutText(message) : undefined;
      return numbers === undefined ? undefined : this.#forward(numbers, source.call);
    }
    // The state of a task can hold its result and its questions, whichever way it comes.
    const ofTask = taskOf(message) !== undefined;
    if (ofTask && refusesSecret(this.#needs, source, questionsIn(params))) return;
    const ruled = this.#ruleByDeeds(source, params);
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const withheld = this.#isCounted(message) ? this.#withoutText(message) : undefined;
    const trusted = this.#needs.link.projection === undefined || !this.#needs.admissions.isRevoked(this.#needs.server);
    const isRefused = cardRefusal(this.#needs) !== undefined;
    const passes = !isRefused && ruling.how === "pass" && (trusted || isObserved(live, this.#needs.server));
    if (!passes && withheld === undefined) return;
    void this.#needs.deliveries.after(ruling.durable, (durable) => {
      const shown = durable && passes ? replaced(message, ruling.value) : withheld;
      if (shown !== undefined) this.#emit(shown, source.call);
    });
  }

  /**
   * A text can carry away data that its call has read: it is judged by the effects of the call so far, as the result
   * will be. A text beside all calls is judged after what the server did outside of calls, for the same reason.
   */
  #ruleByDeeds(source: Source, value: Json): Ruling | Promise<Ruling> {
    const { during, live } = source;
    if (during?.scope !== undefined) {
      return checkInterimEffects(this.#needs, during, value).then(({ ruling }) => ruling);
    }
    if (during !== undefined || this.#needs.link.projection === undefined) return this.#rule(source, value);
    const looked = this.#needs.runObligations.look(live, { cause: "periodic", server: this.#needs.server });
    return looked === undefined ? this.#rule(source, value) : looked.then(() => this.#rule(source, value));
  }

  #rule(source: Source, value: Json): Ruling | Promise<Ruling> {
    const { live, contract, option } = source;
    const id = this.#needs.ids.next();
    const query = {
      live,
      id,
      call: undefined,
      beside: source.of,
      contract,
      option,
      outcome: "succeeded",
      value,
    } as const;
    return judgeRelease(this.#needs, query);
  }

  #source(message: NotificationMessage | RequestMessage, relatedTo: RequestId | undefined, live: LiveRun): Source {
    const named = taskOf(message);
    const task = named === undefined ? undefined : this.#needs.tasks.find(live.key, this.#needs.server, named);
    // A message about a task has the label of the task's own result, whichever call is in flight beside it.
    if (task !== undefined) {
      const { call: id, contract, option, scope, settled } = task;
      const during = settled ? undefined : { live, id, contract, option, scope };
      return { live, call: undefined, of: id, contract, option, during };
    }
    const call = named === undefined ? this.#callOf(message, relatedTo) : undefined;
    if (call !== undefined) {
      return { live: call.live, call, of: call.id, contract: call.contract, option: call.option, during: call };
    }
    const contract = this.#catalogue.contractOfMethod(live.policy, message.method);
    return { live, call: undefined, of: undefined, contract, option: undefined, during: undefined };
  }

  /** A task of another run does not exist for this one, nor do messages about it (gateway.md 2). */
  #isOfOtherRun(message: NotificationMessage, live: LiveRun): boolean {
    const named = taskOf(message);
    return named !== undefined && this.#needs.tasks.isForeign(live.key, this.#needs.server, named);
  }

  #callOf(message: NotificationMessage | RequestMessage, relatedTo: RequestId | undefined): Call | undefined {
    const subscription = member(member(message.params, "_meta"), metaKeys.subscriptionId);
    const id =
      relatedTo ?? (typeof subscription === "string" || typeof subscription === "number" ? subscription : undefined);
    const related = id === undefined ? undefined : this.#settlement.byRequest(id);
    return (
      related ??
      this.#settlement.byProgressToken(member(message.params, "progressToken")) ??
      this.#settlement.onlyCall()
    );
  }

  /** Nothing but these members, and in `_meta` nothing but the subscription that it belongs to. */
  #isPlain({ params }: NotificationMessage, names: ReadonlySet<string>): boolean {
    return Object.entries(params ?? {}).every(([name, value]) =>
      name === "_meta" ? this.#namesSubscription(value) : names.has(name),
    );
  }

  /** The id of a request that is open here; anything else under that name is text of the server. */
  #namesSubscription(meta: Json): boolean {
    if (!isObject(meta)) return false;
    return Object.entries(meta).every(
      ([key, id]) =>
        key === metaKeys.subscriptionId &&
        (typeof id === "string" || typeof id === "number") &&
        this.#settlement.byRequest(id) !== undefined,
    );
  }

  /** A notification without its text: progress keeps its numbers; undefined for all others, which are dropped. */
  #withoutText({ method, params = {} }: NotificationMessage): NotificationMessage | undefined {
    if (method !== "notifications/progress") return undefined;
    const kept = Object.entries(params).filter(
      ([name, value]) =>
        name === "progressToken" ||
        (progressNames.has(name) && (typeof value === "number" || isRawNumber(value))) ||
        (name === "_meta" && this.#namesSubscription(value)),
    );
    return { kind: "notification", method, params: Object.fromEntries(kept) };
  }

  #forward(message: NotificationMessage | RequestMessage, call: Call | undefined): void {
    if (this.#needs.deliveries.offer(() => this.#emit(message, call)) || message.kind !== "request") return;
    this.#answers.withdraw(message.id);
    this.#refuse(message.id, "SG-LIMIT");
  }

  /** On the stream of the call it belongs to, where the transport has one for it. */
  #emit(message: NotificationMessage | RequestMessage, call: Call | undefined): void {
    if (call === undefined) this.#needs.connection.send(message);
    else call.exchange.send(message);
  }

  #refuse(id: RequestId, code: string): void {
    const limit = limitTexts[code];
    if (limit !== undefined) return this.#needs.link.send(errorMessage(id, errorCodes.internalError, limit));
    const sentence = "The policy of this client does not permit the request. Go on without it.";
    this.#needs.link.send(refusalError(id, { decision: code, sentence, way: "" }));
  }
}

/** Error texts for a server whose question met a limit, by code. */
const limitTexts: Readonly<Record<string, string>> = {
  "SG-LIMIT": "Too many questions are open. Ask again later.",
  "SG-CHATTER":
    "This server sends too many unsolicited messages, so the user was not asked. Send fewer, and ask again later.",
};

const progressNames = new Set(["progressToken", "progress", "total"]);
const changeNames = new Set(["uri", "notifications"]);
const controlNames = new Set(["requestId", "reason", "elicitationId"]);

/** Whether a notification names a form that was filled in elsewhere by an id alone, without text meant for a reader. */
function namesById({ params }: NotificationMessage): boolean {
  const id = member(params, "elicitationId");
  return id === undefined || (typeof id === "string" && /^[\w.:~+/=-]{1,128}$/.test(id));
}

/** The message itself when nothing was changed in it. */
function replaced<M extends NotificationMessage | RequestMessage>(message: M, value: Json): M {
  if (value === message.params || message.params === undefined) return message;
  const { raw: _raw, ...rest } = message;
  return { ...rest, params: value as JsonObject } as M; // the judged value is the params object, redacted at most
}

/** The task that a message speaks of, by its own word. */
function taskOf({ method, params }: NotificationMessage | RequestMessage): string | undefined {
  const own = method.startsWith("notifications/tasks") ? stringMember(params, "taskId") : undefined;
  return own ?? stringMember(member(member(params, "_meta"), metaKeys.relatedTask), "taskId");
}

/** Free text in protocol mechanics is replaced by a constant. */
function cleanedControl(message: NotificationMessage): NotificationMessage {
  if (member(message.params, "reason") === undefined) return message;
  return { kind: "notification", method: message.method, params: { ...message.params, reason: cancelReason } };
}

/** The reason of a cancellation is free text either side could fill. */
export const cancelReason = "cancelled";
