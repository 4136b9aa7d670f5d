/**
 * From the answer of a server to the answer for the client. The outcome goes on record first, then the release is
 * judged, and both are durable before a byte of the result leaves. What nobody answered is `unknown`: it restricts
 * like a success and unlocks nothing.
 */
import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import type { Answers } from "../core/opinion.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import type { RequestId, ResponseMessage } from "../wire/message.ts";
import type { Call } from "./call.ts";
import { harmsTwice } from "./call.ts";
import type { ConsentDesk } from "./consent.ts";
import { appendBatch, Batch } from "./journal.ts";
import { recordWithheld } from "./kept-results.ts";
import { doubtsMax, upstreamCallsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import { withNamedQuestions } from "./questions.ts";
import { refusalMessage, refusalOf, rejectionOf } from "./refusals.ts";
import { errorValue, releasedAnswer, requestOf } from "./released-answer.ts";
import type { Ruling } from "./releases.ts";
import { judgeRelease } from "./releases.ts";
import type { Rounds } from "./rounds.ts";
import type { Answered, Scene } from "./scene.ts";
import { judgeInterim, keepWrites } from "./deeds.ts";
import { closeWindow, concludeWrites, evidenceOf, revokeTrust } from "./windows.ts";

const tooManyText = `Not sent: the server has ${upstreamCallsMax} calls to answer. Wait for some of them, then repeat the call.`;

/** What came back for a call: the message, and what the call did meanwhile. */
type Outcome = { readonly message: Answered; readonly known: Answers | undefined };

export class Settlement<Q> {
  readonly #scene: Scene<Q>;
  readonly #consent: ConsentDesk<Q>;
  readonly #rounds: Rounds<Q>;
  readonly #sent = new Map<RequestId, Call<Q>>();
  readonly #byToken = new Map<RequestId, Call<Q>>();
  /** Called after every outcome: a success may discharge what the outbox waits for. */
  readonly #settled: (live: LiveRun<Q>, succeeded: boolean) => void;
  readonly #schemaOf: (call: Call<Q>) => Json | undefined;

  constructor(
    scene: Scene<Q>,
    parts: {
      consent: ConsentDesk<Q>;
      rounds: Rounds<Q>;
      settled: (live: LiveRun<Q>, succeeded: boolean) => void;
      schemaOf: (call: Call<Q>) => Json | undefined;
    },
  ) {
    this.#scene = scene;
    this.#consent = parts.consent;
    this.#rounds = parts.rounds;
    this.#settled = parts.settled;
    this.#schemaOf = parts.schemaOf;
  }

  /** Waits for the answer of a call that is about to be sent; a sentence where it may not be sent. */
  expect(call: Call<Q>): string | undefined {
    const { id, params } = call.request;
    if (this.#sent.has(id)) return "A request with this id is in flight. Use another id.";
    if (this.#sent.size >= upstreamCallsMax && !this.#forgetCancelled()) return tooManyText;
    this.#sent.set(id, call);
    // A stream of changes is open for as long as its client is, and nothing is done for it.
    if (call.method !== "subscriptions/listen") this.#scene.working.set(call.id, () => true);
    const token = member(member(params, "_meta"), "progressToken");
    if (typeof token === "string" || typeof token === "number") this.#byToken.set(token, call);
    return undefined;
  }

  byRequest(id: RequestId): Call<Q> | undefined {
    return this.#sent.get(id);
  }

  byProgressToken(token: Json | undefined): Call<Q> | undefined {
    return typeof token === "string" || typeof token === "number" ? this.#byToken.get(token) : undefined;
  }

  /**
   * The one call that the server works on, if there is exactly one: text without any reference belongs to it. Others may
   * work on the same server, each with a connection of its own, and a task is still worked on.
   */
  onlyCall(): Call<Q> | undefined {
    const { working } = this.#scene;
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
      this.#rounds.asked(call, message);
      return true;
    }
    // The window of a task stays open until the task is over.
    if (message.kind === "response" && this.#becameTask(call, message)) return true;
    closeWindow(this.#scene, call);
    this.release(call, message).catch(() => this.#failed(call));
    return true;
  }

  /** Puts the outcome on record, judges the release, and delivers what came of it. */
  async release(call: Call<Q>, message: Answered): Promise<void> {
    const evidence = evidenceOf(this.#scene, call);
    const known = evidence === undefined ? undefined : await evidence;
    const batch = new Batch<Q>();
    const failed = message.kind === "error" || member(message.result, "isError") === true;
    if (!call.lost) {
      const at = this.#scene.services.clock.monotonicMs();
      const event: RunEvent = failed
        ? { kind: "failed", at, call: call.id, noEffect: this.#declaredNoEffect(message) }
        : { kind: "succeeded", at, call: call.id };
      this.#scene.runs.fold(call.live, event, batch);
    }
    const ruled = judgeRelease(
      this.#scene,
      {
        live: call.live,
        id: call.id,
        call: call.id,
        contract: call.contract,
        option: call.option,
        outcome: failed ? "failed" : "succeeded",
        value: message.kind === "response" ? message.result : errorValue(message.error),
        written: message.kind === "response" ? message.written : undefined,
        schema: this.#schemaOf(call),
        known,
      },
      batch,
    );
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    if (call.scope !== undefined && (await this.#concluded(call, ruling))) return;
    this.#deliver(call, { message, known }, ruling);
    this.#settled(call.live, !failed);
  }

  /** The verdict on what the call wrote; true when its result must not be believed and was answered by that. */
  async #concluded(call: Call<Q>, ruling: Ruling): Promise<boolean> {
    revokeTrust(this.#scene, call, ruling);
    const concluded = await concludeWrites(this.#scene, call, ruling.how);
    if (concluded.kind === "apart") {
      const asked = requestOf(this.#scene, call);
      const answer = refusalMessage(asked, call.id, concluded.sentence.slice(0, 240));
      void this.#scene.deliveries.after(ruling.durable, () => call.exchange.respond(answer));
      this.#settled(call.live, false);
      return true;
    }
    if (concluded.note !== undefined) call.warnings = [...call.warnings, concluded.note];
    return false;
  }

  /** A throw is a bug of ours: the result stays here, and the client learns that the call was made. */
  #failed(call: Call<Q>): void {
    const asked = requestOf(this.#scene, call);
    this.#scene.deliveries.now(() => call.exchange.respond(rejectionOf(asked, call.id)));
  }

  /**
   * The client gave up: the server is told, and the outcome is unknown. A late result is still judged. Who gave up
   * knows it, so the same call later raises no question.
   */
  cancel(id: RequestId): void {
    const call = this.#sent.get(id);
    if (call === undefined || call.cancelled) return;
    call.cancelled = true;
    this.#recordUnknown([call], "cancelled", false);
    this.#scene.toServer({ kind: "notification", method: "notifications/cancelled", params: { requestId: id } });
    this.#scene.abandon(id);
  }

  /** The connection to the server is gone: every call in flight has an unknown outcome. */
  closed(reason: string): void {
    const calls = [...this.#sent.values()];
    for (const call of calls) keepWrites(this.#scene, call);
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
    keepWrites(this.#scene, call);
    this.#recordUnknown([call], "answer lost", true);
    this.#unanswered(
      call,
      `No answer of \`${call.contract.server}\` arrived, and the call may have happened. ${reason}`,
    );
    return true;
  }

  /**
   * A call is unanswered beyond the time of its scope: the server is told to stop, and its outcome is unknown. False
   * where nothing of it is in flight here.
   */
  overdue(id: string): boolean {
    const call = [...this.#sent.values()].find((sent) => sent.id === id);
    if (call === undefined) return false;
    const { id: requestId } = call.request;
    this.#scene.toServer({ kind: "notification", method: "notifications/cancelled", params: { requestId } });
    this.#scene.abandon(requestId);
    this.lost(requestId, "It took longer than `callTimeoutMs` of its scope allows.");
    return true;
  }

  #unanswered(call: Call<Q>, text: string): void {
    this.#forget(call);
    const error = errorMessage(call.request.id, errorCodes.internalError, text.slice(0, 240));
    this.#scene.deliveries.now(() => call.exchange.respond(error));
  }

  /** It was allowed, and then not sent after all: declared to have had no effect, so counters get it back. */
  neverSent(call: Call<Q>): void {
    const batch = new Batch<Q>();
    const at = this.#scene.services.clock.monotonicMs();
    this.#scene.runs.fold(call.live, { kind: "failed", at, call: call.id, noEffect: true }, batch);
    const { server, tool } = call.contract;
    const label = call.contract.output.label;
    this.#scene.runs.fold(
      call.live,
      { kind: "released", at, call: call.id, server, tool, how: "reject", label, fields: [] },
      batch,
    );
    void appendBatch(this.#scene.services.log, batch);
  }

  #recordUnknown(calls: readonly Call<Q>[], cause: string, doubtful: boolean): void {
    const batch = new Batch<Q>();
    const { clock } = this.#scene.services;
    for (const call of calls) {
      if (call.lost) continue;
      call.lost = true;
      this.#scene.runs.fold(call.live, { kind: "unknown", at: clock.monotonicMs(), call: call.id, cause }, batch);
      if (doubtful && harmsTwice(call.contract)) rememberDoubt(this.#scene.uncertain, call, clock.wallMs());
    }
    if (batch.parts.length > 0) void appendBatch(this.#scene.services.log, batch);
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

  #forget(call: Call<Q>): void {
    this.#sent.delete(call.request.id);
    this.#scene.working.delete(call.id);
    const token = member(member(call.request.params, "_meta"), "progressToken");
    if (typeof token === "string" || typeof token === "number") this.#byToken.delete(token);
  }

  /** Only a server that the operator trusts is believed that nothing happened. */
  #declaredNoEffect(message: Answered): boolean {
    if (message.kind !== "error") return false;
    const { code } = message.error;
    const refusedByProtocol = code === errorCodes.methodNotFound || code === errorCodes.invalidParams;
    const live = this.#scene.current();
    return refusedByProtocol && live?.policy.server(this.#scene.server).trusted === true;
  }

  /** A task was made of the call: its state goes to the client, its outcome comes with the task's result. */
  #becameTask(call: Call<Q>, message: ResponseMessage): boolean {
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
    if (!this.#scene.tasks.add(entry)) {
      // Nobody could ask for its result under this call: what becomes of the call stays unknown, and is no success.
      keepWrites(this.#scene, call);
      this.#recordUnknown([call], "its task could not be told from others", true);
      this.#scene.deliveries.now(() => call.exchange.respond(rejectionOf(requestOf(this.#scene, call), call.id)));
      return true;
    }
    // A task that nobody asked about to its end is forgotten with its run.
    const { live, contract } = call;
    for (const [other, goesOn] of this.#scene.working) if (!goesOn()) this.#scene.working.delete(other);
    this.#scene.working.set(call.id, () => this.#scene.tasks.find(live.key, contract.server, id) !== undefined);
    this.#releaseTaskState(call, message).catch(() => this.#failed(call));
    return true;
  }

  async #releaseTaskState(call: Call<Q>, message: ResponseMessage): Promise<void> {
    // A server may call any result a task: what the call did so far is judged before a byte of it is passed on.
    const { known, ruling } = await judgeInterim(this.#scene, call, message.result);
    this.#deliver(call, { message, known }, ruling);
  }

  #deliver(call: Call<Q>, { message, known }: Outcome, ruling: Ruling): void {
    if (ruling.how === "withhold") {
      this.#withhold(call, { message, known }, ruling).catch(() => this.#failed(call));
      return;
    }
    const { id: decision, warnings } = call;
    const named =
      message.kind === "error"
        ? { ...ruling, value: withNamedQuestions(this.#scene, call.live, ruling.value) }
        : ruling;
    const released = { asked: requestOf(this.#scene, call), decision, message, ruling: named, warnings };
    void this.#scene.deliveries.after(ruling.durable, (durable) =>
      call.exchange.respond(releasedAnswer(released, durable)),
    );
  }

  /** Keeps the result behind consent; the same call repeated gets it without being executed again. */
  async #withhold(call: Call<Q>, { message, known }: Outcome, ruling: Ruling): Promise<void> {
    const asked = requestOf(this.#scene, call);
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
    const kept = this.#scene.withheld.keep(call.live.key, call.digest, withheld);
    // Whoever is told that a result is stored finds it after a restart, too.
    const recorded = kept ? recordWithheld(this.#scene, call, withheld) : ruling.durable;
    const answer = kept
      ? refusalOf(asked, ruling.decision, call.id, { kind: "withheld", approval })
      : rejectionOf(asked, call.id);
    const durable = Promise.all([ruling.durable, recorded]);
    void this.#scene.deliveries.after(durable, () => call.exchange.respond(answer));
  }
}

function rememberDoubt<Q>(uncertain: Map<string, Map<string, number>>, call: Call<Q>, wallMs: number): void {
  let known = uncertain.get(call.live.key);
  if (known === undefined) uncertain.set(call.live.key, (known = new Map()));
  known.delete(call.digest);
  const oldest = known.size >= doubtsMax ? known.keys().next() : undefined;
  if (oldest?.done === false) known.delete(oldest.value);
  known.set(call.digest, wallMs);
}
