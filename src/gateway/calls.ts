/**
 * The life of a call (gateway.md 3): requested, refused or allowed, sent, settled, released. The log has `allowed`
 * before anything is sent, and outcome and label before anything is released. Between decision and event there is no
 * waiting, so whatever happens meanwhile is seen by the next decision.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Decision } from "../core/decision.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import type { Answers, Reason } from "../core/opinion.ts";
import type { Refusal } from "../core/render.ts";
import type { Result } from "../core/result.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import type { ErrorMessage, RequestId, ResponseMessage } from "../wire/message.ts";
import { performAll } from "./background.ts";
import type { Call } from "./call.ts";
import { covers, endingDecision, endsRun, forAllRuns, othersReady } from "./commitment.ts";
import { argumentsOf, callDigest, callMoment, harmsTwice, isObserved } from "./call.ts";
import type { Consent, ConsentDesk } from "./consent.ts";
import { consentInputName } from "./card-text.ts";
import type { Dispatched, Ground } from "./dispatch.ts";
import { recordDispatch, recordHeld, recordRefusal } from "./dispatch.ts";
import { denial, judge } from "./judge.ts";
import type { LiveRun } from "./live-run.ts";
import { cleanParams } from "./meta.ts";
import { ordersOf, unmetObligation } from "./obligations.ts";
import { guardingOwn } from "./own-files.ts";
import type { Exchange } from "./ports.ts";
import { gatewayReason, logFailureText, refusalMessage, refusalOf } from "./refusals.ts";
import { requestOf } from "./released-answer.ts";
import type { Settlement } from "./settlement.ts";
import { closeWindow, openWindow } from "./windows.ts";
import type { PerformOrder, Scene } from "./scene.ts";

/** What became of a decision in the turn in which it was made. */
type Committed =
  | Dispatched
  | { readonly kind: "confirm"; readonly decision: Decision; readonly answers: Answers }
  | { readonly kind: "perform"; readonly orders: readonly (PerformOrder & { readonly rule: string })[] }
  | { readonly kind: "held"; readonly decision: Decision; readonly way: string | undefined }
  | { readonly kind: "dropped" };

export type Ready<Q> = {
  readonly live: LiveRun<Q>;
  readonly contract: ToolContract;
  readonly manifestDigest: string | undefined;
};

export class Calls<Q> {
  readonly #scene: Scene<Q>;
  readonly #consent: ConsentDesk<Q>;
  readonly #settlement: Settlement<Q>;
  readonly #deciding = new Map<RequestId, Call<Q>>();

  constructor(scene: Scene<Q>, parts: { consent: ConsentDesk<Q>; settlement: Settlement<Q> }) {
    this.#scene = scene;
    this.#consent = parts.consent;
    this.#settlement = parts.settlement;
  }

  /** Makes the record of a call; `digest` binds consents to exactly this call. */
  make(exchange: Exchange, { live, contract, manifestDigest }: Ready<Q>): Call<Q> {
    const { request } = exchange;
    const given = argumentsOf(request.method, request.params);
    const { hash } = this.#scene.services.secrets;
    return {
      id: this.#scene.nextId(),
      live,
      exchange,
      request,
      method: request.method,
      contract,
      arguments: given,
      digest: callDigest(contract, request.method, given, hash),
      manifestDigest,
      retry: retryOf(request.params),
      cancelled: false,
      lost: false,
      option: undefined,
      performed: undefined,
      scope: undefined,
      windowed: false,
      warnings: [],
    };
  }

  /** Decides a call, obtains what it needs, and sends it or refuses it. */
  async decide(call: Call<Q>, given?: Consent): Promise<void> {
    const { request } = call;
    this.#deciding.set(request.id, call);
    call.exchange.onAbandoned(() => this.cancel(request.id));
    try {
      await this.#pursue(call, given);
    } finally {
      this.#deciding.delete(request.id);
    }
  }

  /** Sends the continuation of a call that was allowed before and whose questions have been answered. */
  async resend(call: Call<Q>): Promise<void> {
    await this.#send(call, true);
  }

  /** The client gave up on a request: one that is being decided is never sent. */
  cancel(id: RequestId): void {
    const deciding = this.#deciding.get(id);
    if (deciding !== undefined) deciding.cancelled = true;
    else this.#settlement.cancel(id);
  }

  async #pursue(call: Call<Q>, given: Consent | undefined): Promise<void> {
    let consent = given;
    const others = othersReady(this.#scene, call.live, call.contract);
    if (others !== undefined) await others;
    // Each turn of the loop obtains one thing: consent, or an injected call. Both happen at most once per call and rule.
    for (let turn = 0; turn < 8; turn += 1) {
      const judged = judge(call.live, this.#scene.services, this.#moment(call), (decision, answers) =>
        this.#commit(call, { decision, answers, consent }),
      );
      const committed = judged instanceof Promise ? await judged : judged;
      switch (committed.kind) {
        case "dropped":
          return;
        case "refused":
          return this.#refuse(call, committed.decision);
        case "held":
          return this.#hold(call, committed.decision, committed.way);
        case "allowed":
          return this.#send(call, await committed.durable);
        case "confirm": {
          const sought = await this.#consent.seek(call, committed.decision, "call");
          if (sought.kind === "answered") {
            // A question that nobody answered is on record too: audits count what was asked, not only what ran.
            recordRefusal(this.#scene, call, committed.decision, committed.answers);
            return;
          }
          consent = sought;
          break;
        }
        case "perform": {
          const missing = await performAll(this.#scene, call, committed.orders);
          if (missing !== undefined) return this.#refuseLate(call, missing.decision, missing.refusal);
          break;
        }
      }
    }
    return this.#refuseLate(call, denial("SG-ROUNDS"));
  }

  #moment(call: Call<Q>): ReturnType<typeof callMoment> {
    return callMoment(call, this.#scene.services.clock.monotonicMs());
  }

  #commit(call: Call<Q>, { decision: judged, answers, consent: given }: Ground): Committed {
    if (call.cancelled) return { kind: "dropped" };
    const decision = forAllRuns(
      this.#scene,
      call,
      this.#withDoubt(call, guardingOwn(this.#scene, call, judged), given),
    );
    const consent = covers(given, decision) ? given : undefined;
    if (!isObserved(call.live, call.contract.server)) {
      if (endsRun(decision)) return recordRefusal(this.#scene, call, endingDecision(decision), answers);
      if (decision.verdict === "deny") return recordRefusal(this.#scene, call, decision, answers);
      if (decision.verdict === "confirm" && consent === undefined) {
        call.option = decision.option;
        return { kind: "confirm", decision, answers };
      }
      const unmet = unmetObligation(decision.obligations, this.#scene.projection() !== undefined);
      if (unmet !== undefined) {
        return recordRefusal(this.#scene, call, denial("SG-OBLIGATION", { kind: unmet }), answers);
      }
      // What is held is not sent now, so nothing is injected for it yet.
      const hold = decision.obligations.find((obligation) => obligation.kind === "hold");
      if (hold !== undefined) return { kind: "held", decision, way: hold.way };
      const orders = ordersOf(decision.obligations, call.performed);
      if (orders.length > 0) return { kind: "perform", orders };
      for (const obligation of decision.obligations) {
        if (obligation.kind === "notify") this.#scene.services.human.notify(obligation.text);
      }
    }
    return recordDispatch(this.#scene, call, { decision, answers, consent });
  }

  /** The same call has happened or may have; who is asked about it for another reason learns that, too. */
  #withDoubt(call: Call<Q>, decision: Decision, consent: Consent | undefined): Decision {
    if (decision.verdict === "deny" || consent !== undefined) return decision;
    const reason = this.#doubtAbout(call);
    if (reason === undefined) return decision;
    const unobserved = decision.unobserved === "deny" ? "deny" : "confirm";
    return { ...decision, verdict: "confirm", unobserved, reasons: [reason, ...decision.reasons] };
  }

  /** Nobody knows it after a crash or a lost connection (gateway.md 9), or it is known and its result is lost. */
  #doubtAbout({ live, digest, contract }: Call<Q>): Reason | undefined {
    const lost = this.#scene.withheld.lost(live.key, digest);
    if (lost !== undefined) {
      const { wallMs } = lost;
      return gatewayReason("SG-RESULT-LOST", wallMs === undefined ? {} : { at: new Date(wallMs).toISOString() });
    }
    const maybeMs = harmsTwice(contract) ? this.#scene.uncertain.get(live.key)?.get(digest) : undefined;
    if (maybeMs === undefined) return undefined;
    return gatewayReason("SG-MAYBE-DONE", { at: new Date(maybeMs).toISOString() });
  }

  #refuse(call: Call<Q>, decision: Decision, refusal: Refusal = { kind: "refused" }): void {
    this.#answer(call, refusalOf(requestOf(this.#scene, call), decision, call.id, refusal));
  }

  #refuseLate(call: Call<Q>, decision: Decision, refusal?: Refusal): void {
    recordRefusal(this.#scene, call, decision, new Map());
    this.#refuse(call, decision, refusal);
  }

  #hold(call: Call<Q>, decision: Decision, way: string | undefined): void {
    const { id, live, digest, contract } = call;
    const { server, tool, toolDigest } = contract;
    const held = { id, live, server, tool, arguments: call.arguments, digest, toolDigest };
    if (!this.#scene.duties.hold(held)) return this.#refuseLate(call, denial("SG-OUTBOX-FULL"));
    const asked = requestOf(this.#scene, call);
    const how = { kind: "held", ...(way === undefined ? {} : { way }) } as const;
    // A call that is not on record as waiting would be gone with this process.
    void this.#scene.deliveries.after(recordHeld(this.#scene, call, decision), (durable) => {
      if (!durable) this.#scene.duties.unhold(held);
      const answer = durable ? refusalOf(asked, decision, id, how) : refusalMessage(asked, id, logFailureText);
      call.exchange.respond(answer);
    });
  }

  /** Sends a call in its window; only a server that takes one call at a time makes it wait. */
  #send(call: Call<Q>, durable: boolean): void | Promise<void> {
    if (!durable || call.cancelled) {
      this.#settlement.neverSent(call);
      if (!durable) this.#answer(call, refusalMessage(requestOf(this.#scene, call), call.id, logFailureText));
      return;
    }
    const opened = openWindow(this.#scene, call);
    return opened instanceof Promise ? opened.then((one) => this.#sendIn(call, one)) : this.#sendIn(call, opened);
  }

  #sendIn(call: Call<Q>, opened: Result<void, string>): void {
    if (!opened.ok || call.cancelled) {
      closeWindow(this.#scene, call);
      this.#settlement.neverSent(call);
      if (!opened.ok) this.#answer(call, refusalMessage(requestOf(this.#scene, call), call.id, opened.error));
      return;
    }
    const { request } = call;
    const params = withoutOwnRetry(cleanParams(request.params, this.#scene.services.secrets.mac));
    const refused = this.#settlement.expect(call);
    if (refused !== undefined) {
      closeWindow(this.#scene, call);
      this.#settlement.neverSent(call);
      this.#answer(call, errorMessage(request.id, errorCodes.invalidRequest, refused));
      return;
    }
    this.#scene.toServer(
      params === request.params ? request : { kind: "request", id: request.id, method: request.method, params },
    );
  }

  #answer(call: Call<Q>, message: ResponseMessage | ErrorMessage): void {
    this.#scene.deliveries.now(() => call.exchange.respond(message));
  }
}

function retryOf(params: JsonObject | undefined): { state: string; responses: Json | undefined } | undefined {
  const state = stringMember(params, "requestState");
  const responses = member(params, "inputResponses");
  return state === undefined && responses === undefined ? undefined : { state: state ?? "", responses };
}

/** Params without the answer to our own question; what the server asked stays. */
function withoutOwnRetry(params: JsonObject | undefined): JsonObject | undefined {
  const responses = member(params, "inputResponses");
  if (params === undefined || member(responses, consentInputName) === undefined || !isObject(responses)) return params;
  const { inputResponses: _answers, requestState: _state, ...rest } = params;
  return rest;
}

/** Characters of the name of a tool; a longer one is refused, since rules would be about another name than is called. */
const toolNameCharactersMax = 1_024;

/**
 * What a `tools/call` says must be what is judged: the server would get a list of arguments, or a name that is no text,
 * of which no rule could see anything. The sentence for the refusal, or undefined.
 */
export function malformedCall(params: JsonObject | undefined): string | undefined {
  const given = member(params, "arguments");
  if (given !== undefined && !isObject(given)) return "The arguments of a tool are an object. Send one, or none.";
  const name = member(params, "name");
  if (name === undefined || (typeof name === "string" && name.length <= toolNameCharactersMax)) return undefined;
  return `The name of a tool is a text of at most ${toolNameCharactersMax} characters. Use a listed name.`;
}

/** Name of the tool of a `tools/call`; a call without one is judged as a tool without a name. */
export function toolName(params: Call<unknown>["request"]["params"]): string {
  return stringMember(params, "name") ?? "";
}
