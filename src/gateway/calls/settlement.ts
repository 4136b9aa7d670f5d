/**
 * From the answer of a server to the answer for the client. The outcome goes on record first, then the release is
 * judged, and both are durable before a byte of the result leaves. A call without an answer is `unknown`: it restricts
 * like a success and unlocks nothing.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Json, isObject, member, stringMember } from "../../core/json.ts";
import type { Answers } from "../../core/opinion.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { RequestId, ResponseMessage } from "../../wire/message.ts";
import type { Call } from "../decision/call.ts";
import type { ConsentDesk } from "../consent/consent-desk.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { recordWithheld } from "../consent/withheld-recovery.ts";
import { upstreamCallsMax } from "../ports/limits.ts";
import type { CurrentRun } from "../runs/live-run.ts";
import { withNamedQuestions, type QuestionNeeds } from "./server-questions.ts";
import {
  errorValue,
  refusalMessage,
  refusalOf,
  rejectionOf,
  releasedAnswer,
  requestOf,
} from "../decision/client-answer.ts";
import { type ReleaseNeeds, type Ruling, judgeRelease } from "../decision/release.ts";
import type { InputRequests } from "./input-required.ts";
import { checkInterimEffects, keepWrites } from "../decision/effect-check.ts";
import {
  closeTraceWindow,
  concludeWrites,
  evidenceOf,
  revokeTrust,
  type EffectNeeds,
} from "../decision/effect-window.ts";
import { harmsTwice } from "../../core/contract.ts";
import type { Answered, ClientState } from "../ports/conversation.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import type { TaskTable } from "./task-desk.ts";
import type { WithheldResults } from "../decision/withheld-results.ts";
import type { InDoubt } from "../runs/in-doubt.ts";
import type { RunObligations } from "./run-obligations.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";

type Needs = ReleaseNeeds &
  EffectNeeds &
  QuestionNeeds & {
    readonly client: ClientState;
    readonly deliveries: Deliveries;
    readonly tasks: TaskTable;
    readonly session: CurrentRun;
    readonly withheld: WithheldResults;
    readonly inDoubt: InDoubt;
    readonly runObligations: RunObligations;
  };

const tooManyText = `Not sent: the server has ${upstreamCallsMax} calls to answer. Wait for some of them, then repeat the call.`;

/** The answer to a call, and the evidence of its effects. */
type Outcome = { readonly message: Answered; readonly known: Answers | undefined };

export class Settlement {
  readonly #needs: Needs;
  readonly #consent: ConsentDesk;
  readonly #inputRequests: InputRequests;
  readonly #sent = new Map<RequestId, Call>();
  readonly #byToken = new Map<RequestId, Call>();
  readonly #catalogue: Catalogue;

  constructor(
    needs: Needs,
    parts: {
      consent: ConsentDesk;
      inputRequests: InputRequests;
      catalogue: Catalogue;
    },
  ) {
    this.#needs = needs;
    this.#consent = parts.consent;
    this.#inputRequests = parts.inputRequests;
    this.#catalogue = parts.catalogue;
  }

  /** Waits for the answer of a call that is about to be sent; a sentence where it may not be sent. */
  expect(call: Call): string | undefined {
    const { id, params } = call.request;
    if (this.#sent.has(id)) return "A request with this id is in flight. Use another id.";
    if (this.#sent.size >= upstreamCallsMax && !this.#forgetCancelled()) return tooManyText;
    this.#sent.set(id, call);
    // A stream of changes is open for as long as its client is, and nothing is done for it.
    if (call.method !== "subscriptions/listen") this.#needs.link.working.set(call.id, () => true);
    const token = member(member(params, "_meta"), "progressToken");
    if (typeof token === "string" || typeof token === "number") this.#byToken.set(token, call);
    return undefined;
  }

  byRequest(id: RequestId): Call | undefined {
    return this.#sent.get(id);
  }

  byProgressToken(token: Json | undefined): Call | undefined {
    return typeof token === "string" || typeof token === "number" ? this.#byToken.get(token) : undefined;
  }

  /**
   * The one call that the server works on, if there is exactly one: text without any reference belongs to it. Others
   * may work on the same server, each with a connection of its own, and a task is still worked on.
   */
  onlyCall(): Call | undefined {
    const { working } = this.#needs.link;
    let only: string | undefined;
    for (const [id, goesOn] of working) {
      if (!goesOn()) working.delete(id);
      // Two are enough to know: a server may say very much while very many calls are open.
      else if (only !== undefined) return undefined;
      else only = id;
    }
    if (only === undefined && this.#sent.size > 1) return undefined;
    for (const call of this.#sent.values()) if (only === undefined || call.id === only) return call;
    return undefined;
  }

  /** An answer of the server; false when no call waits for it. */
  answered(message: Answered): boolean {
    const call = message.id === null ? undefined : this.#sent.get(message.id);
    if (call === undefined) return false;
    this.#forget(call);
    if (message.kind === "response" && stringMember(message.result, "resultType") === "input_required") {
      // The call is not over: the server asks before it goes on. Its id is free again, the client sends a new one, and
      // its window stays open, since what the server does meanwhile it does for this call.
      this.#inputRequests.asked(call, message);
      return true;
    }
    // The window of a task stays open until the task is over.
    if (message.kind === "response" && this.#becameTask(call, message)) return true;
    closeTraceWindow(this.#needs, call);
    this.release(call, message).catch(() => this.#failed(call));
    return true;
  }

  /** Puts the outcome on record, judges the release, and delivers what came of it. */
  async release(call: Call, message: Answered): Promise<void> {
    const evidence = evidenceOf(this.#needs, call);
    const known = evidence === undefined ? undefined : await evidence;
    const batch = new EventBatch();
    const failed = message.kind === "error" || member(message.result, "isError") === true;
    if (!call.lost) {
      const at = this.#needs.services.clock.monotonicMs();
      const event: RunEvent = failed
        ? { kind: "failed", at, call: call.id, noEffect: this.#declaredNoEffect(message) }
        : { kind: "succeeded", at, call: call.id };
      this.#needs.runs.fold(call.live, event, batch);
    }
    const ruled = judgeRelease(
      this.#needs,
      {
        live: call.live,
        id: call.id,
        call: call.id,
        contract: call.contract,
        option: call.option,
        outcome: failed ? "failed" : "succeeded",
        value: message.kind === "response" ? message.result : errorValue(message.error),
        written: message.kind === "response" ? message.written : undefined,
        schema: member(this.#catalogue.tool(call.contract.tool), "outputSchema"),
        known,
      },
      batch,
    );
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const concluded = call.scope === undefined ? {} : await this.#concluded(call, ruling);
    if (concluded === "answered") return;
    this.#deliver(call, { message, known }, ruling, concluded.loss);
    this.#settled(call, !failed);
  }

  /** The verdict on what the call wrote; `answered`: its result must not be believed, and the answer says that. */
  async #concluded(call: Call, ruling: Ruling): Promise<"answered" | { readonly loss?: string }> {
    revokeTrust(this.#needs, call, ruling);
    const concluded = await concludeWrites(this.#needs, call, ruling.how);
    if (concluded.kind === "apart") {
      const asked = requestOf(this.#needs, call);
      const answer = refusalMessage(asked, call.id, concluded.sentence.slice(0, 240));
      void this.#needs.deliveries.after(ruling.durable, () => call.exchange.respond(answer));
      this.#settled(call, false);
      return "answered";
    }
    if (concluded.note !== undefined) call.warnings = [...call.warnings, concluded.note];
    return concluded.loss === undefined ? {} : { loss: concluded.loss };
  }

  /** After every outcome: a success may discharge what the outbox waits for. */
  #settled({ live }: Call, succeeded: boolean): void {
    this.#needs.runObligations.settled(live, this.#needs.server, succeeded);
  }

  /** A throw is a bug of ours: the result stays here, and the client learns that the call was made. */
  #failed(call: Call): void {
    const asked = requestOf(this.#needs, call);
    this.#needs.deliveries.now(() => call.exchange.respond(rejectionOf(asked, call.id)));
  }

  /**
   * The client cancelled the call: the server is notified, and the outcome is unknown. A late result is still judged.
   * The client knows of its cancellation, so the same call later raises no question.
   */
  cancel(id: RequestId): void {
    const call = this.#sent.get(id);
    if (call === undefined || call.cancelled) return;
    call.cancelled = true;
    this.#recordUnknown([call], "cancelled", false);
    this.#needs.link.send({ kind: "notification", method: "notifications/cancelled", params: { requestId: id } });
    this.#needs.link.abandon(id);
  }

  /** The connection to the server is gone: every call in flight has an unknown outcome. */
  closed(reason: string): void {
    const calls = [...this.#sent.values()];
    for (const call of calls) keepWrites(this.#needs, call);
    this.#recordUnknown(calls, "connection lost", true);
    for (const call of calls) {
      const text = `The server \`${call.contract.server}\` went away before it answered (${reason}). The call may have happened.`;
      this.#unanswered(call, text);
    }
  }

  /** One request gets no answer although the connection goes on; false when no call waits under this id. */
  lost(id: RequestId, reason: string): boolean {
    const call = this.#sent.get(id);
    if (call === undefined) return false;
    keepWrites(this.#needs, call);
    this.#recordUnknown([call], "answer lost", true);
    this.#unanswered(
      call,
      `No answer of \`${call.contract.server}\` arrived, and the call may have happened. ${reason}`,
    );
    return true;
  }

  /**
   * A call is unanswered beyond the time of its scope: the server is notified to stop, and its outcome is unknown.
   * False where nothing of it is in flight here.
   */
  overdue(id: string): boolean {
    const call = [...this.#sent.values()].find((sent) => sent.id === id);
    if (call === undefined) return false;
    const { id: requestId } = call.request;
    this.#needs.link.send({ kind: "notification", method: "notifications/cancelled", params: { requestId } });
    this.#needs.link.abandon(requestId);
    this.lost(requestId, "It took longer than `callTimeoutMs` of its scope allows.");
    return true;
  }

  #unanswered(call: Call, text: string): void {
    this.#forget(call);
    const error = errorMessage(call.request.id, errorCodes.internalError, text.slice(0, 240));
    this.#needs.deliveries.now(() => call.exchange.respond(error));
  }

  /** It was allowed, and then not sent after all: declared to have had no effect, so counters get it back. */
  neverSent(call: Call): void {
    const batch = new EventBatch();
    const at = this.#needs.services.clock.monotonicMs();
    this.#needs.runs.fold(call.live, { kind: "failed", at, call: call.id, noEffect: true }, batch);
    const { server, tool } = call.contract;
    const label = call.contract.output.label;
    this.#needs.runs.fold(
      call.live,
      { kind: "released", at, call: call.id, server, tool, how: "reject", label, fields: [] },
      batch,
    );
    void appendBatch(this.#needs.services.log, batch);
  }

  #recordUnknown(calls: readonly Call[], cause: string, doubtful: boolean): void {
    const batch = new EventBatch();
    const { clock } = this.#needs.services;
    for (const call of calls) {
      if (call.lost) continue;
      call.lost = true;
      this.#needs.runs.fold(call.live, { kind: "unknown", at: clock.monotonicMs(), call: call.id, cause }, batch);
      if (!doubtful || !harmsTwice(call.contract)) continue;
      this.#needs.inDoubt.note(call.live.key, call.digest, clock.wallMs());
    }
    if (batch.parts.length > 0) void appendBatch(this.#needs.services.log, batch);
  }

  /** A call that its client gave up is on record as unknown, and most servers never answer it: it makes room. */
  #forgetCancelled(): boolean {
    for (const call of this.#sent.values()) {
      if (!call.cancelled) continue;
      this.#forget(call);
      return true;
    }
    return false;
  }

  #forget(call: Call): void {
    this.#sent.delete(call.request.id);
    this.#needs.link.working.delete(call.id);
    const token = member(member(call.request.params, "_meta"), "progressToken");
    if (typeof token === "string" || typeof token === "number") this.#byToken.delete(token);
  }

  /** A claim of no effect is believed only from a server that the operator trusts. */
  #declaredNoEffect(message: Answered): boolean {
    if (message.kind !== "error") return false;
    const { code } = message.error;
    const refusedByProtocol = code === errorCodes.methodNotFound || code === errorCodes.invalidParams;
    const live = this.#needs.session.current();
    return refusedByProtocol && live?.policy.server(this.#needs.server).trusted === true;
  }

  /** A task was made of the call: its state goes to the client, its outcome comes with the task's result. */
  #becameTask(call: Call, message: ResponseMessage): boolean {
    const task = member(message.result, "task");
    const created = stringMember(message.result, "resultType") === "task" ? message.result : undefined;
    const id = stringMember(isObject(task) ? task : created, "taskId");
    if (id === undefined) return false;
    const entry = {
      run: call.live.key,
      server: call.contract.server,
      task: id,
      call: call.id,
      method: call.method,
      contract: call.contract,
      option: call.option,
      scope: call.scope,
      settled: false,
    };
    if (!this.#needs.tasks.add(entry)) {
      // No request could fetch the task's result under this call: the outcome stays unknown and is not a success.
      keepWrites(this.#needs, call);
      this.#recordUnknown([call], "its task could not be identified", true);
      this.#needs.deliveries.now(() => call.exchange.respond(rejectionOf(requestOf(this.#needs, call), call.id)));
      return true;
    }
    // A task whose end no client asked for is forgotten with its run.
    const { live, contract } = call;
    for (const [other, goesOn] of this.#needs.link.working) if (!goesOn()) this.#needs.link.working.delete(other);
    this.#needs.link.working.set(call.id, () => this.#needs.tasks.find(live.key, contract.server, id) !== undefined);
    this.#releaseTaskState(call, message).catch(() => this.#failed(call));
    return true;
  }

  async #releaseTaskState(call: Call, message: ResponseMessage): Promise<void> {
    // A server may call any result a task: the effects of the call so far are judged before a byte passes.
    const { known, ruling } = await checkInterimEffects(this.#needs, call, message.result);
    this.#deliver(call, { message, known }, ruling);
  }

  #deliver(call: Call, { message, known }: Outcome, ruling: Ruling, loss?: string): void {
    if (ruling.how === "withhold") {
      this.#withhold(call, { message, known }, ruling).catch(() => this.#failed(call));
      return;
    }
    const { id: decision, warnings } = call;
    const named =
      message.kind === "error"
        ? { ...ruling, value: withNamedQuestions(this.#needs, call.live, ruling.value) }
        : ruling;
    const released = {
      asked: requestOf(this.#needs, call),
      decision,
      message,
      ruling: named,
      warnings,
      ...(loss === undefined ? {} : { loss }),
    };
    void this.#needs.deliveries.after(ruling.durable, (durable) =>
      call.exchange.respond(releasedAnswer(released, durable)),
    );
  }

  /** Keeps the result behind consent; the same call repeated gets it without being executed again. */
  async #withhold(call: Call, { message, known }: Outcome, ruling: Ruling): Promise<void> {
    const asked = requestOf(this.#needs, call);
    const approval = await this.#consent.open(call, ruling.decision, "release");
    const withheld = {
      call: call.id,
      approval,
      decision: ruling.decision,
      contract: call.contract,
      option: call.option,
      label: ruling.label,
      message,
      known,
      characters: JSON.stringify(ruling.value).length,
    };
    const kept = this.#needs.withheld.keep(call.live.key, call.digest, withheld);
    // A client that is informed of a stored result must find it after a restart, too.
    const recorded = kept ? recordWithheld(this.#needs, call, withheld) : ruling.durable;
    const answer = kept
      ? refusalOf(asked, ruling.decision, call.id, { kind: "withheld", approval })
      : rejectionOf(asked, call.id);
    const durable = Promise.all([ruling.durable, recorded]);
    void this.#needs.deliveries.after(durable, () => call.exchange.respond(answer));
  }
}
