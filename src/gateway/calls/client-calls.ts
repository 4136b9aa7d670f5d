/**
 * The life of a client's call (gateway.md 3): committed, sent, settled, released; or refused, or asked about and
 * committed again. The log has the dispatch before anything is sent, and outcome and label before anything is released.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { shownName } from "../../core/explain/cause.ts";
import type { Refusal } from "../../core/explain/render.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { ErrorMessage, RequestId, ResponseMessage } from "../../wire/message.ts";
import type { ConsentDesk } from "../consent/consent-desk.ts";
import { denial } from "../decision/ask-loop.ts";
import { type Call, argumentsOf, newCall } from "../decision/call.ts";
import { logFailureText, refusalMessage, refusalOf, requestOf } from "../decision/client-answer.ts";
import { type Hold, commitCall, recordHeld, recordRefusal } from "../decision/commit.ts";
import { consentInputName, escapeForDisplay } from "../decision/display-text.ts";
import { closeTraceWindow, openTraceWindow } from "../decision/effect-window.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import { cardRefusal } from "../lists/card-refusal.ts";
import type { KeptFromCalls } from "../lists/showings.ts";
import type { Exchange } from "../ports/transport.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { RunObligations } from "./run-obligations.ts";
import type { Settlement } from "./settlement.ts";
import { type UnattendedNeeds, performAll } from "./unattended-calls.ts";

type Needs = UnattendedNeeds & { readonly deliveries: Deliveries; readonly runObligations: RunObligations };

export type Ready = {
  readonly live: LiveRun;
  readonly contract: ToolContract;
  readonly manifestDigest: string | undefined;
};

/** Turns that one call may take to obtain what it needs, each a consent or an injected call. */
const turnsMax = 8;

export class Calls {
  readonly #needs: Needs;
  readonly #consent: ConsentDesk;
  readonly #settlement: Settlement;
  readonly #deciding = new Map<RequestId, Call>();

  constructor(needs: Needs, parts: { consent: ConsentDesk; settlement: Settlement }) {
    this.#needs = needs;
    this.#consent = parts.consent;
    this.#settlement = parts.settlement;
  }

  /** Makes the record of a call. */
  make(exchange: Exchange, { live, contract, manifestDigest }: Ready): Call {
    const { method, params } = exchange.request;
    return newCall(this.#needs, {
      live,
      exchange,
      method,
      contract,
      arguments: argumentsOf(method, params),
      isolated: () => this.#needs.link.projection !== undefined,
      manifestDigest,
      retry: retryOf(params),
    });
  }

  /** Commits a call, obtains what it needs for that, and sends it or refuses it. */
  async decide(call: Call): Promise<void> {
    const { request } = call;
    this.#deciding.set(request.id, call);
    call.exchange.onAbandoned(() => this.cancel(request.id));
    try {
      await this.#pursue(call);
    } finally {
      this.#deciding.delete(request.id);
    }
  }

  /** A call of a tool that its server does not list; `known`: its list could be had. */
  refuseUnlisted(call: Call, known: boolean): void {
    recordRefusal(this.#needs, call, { decision: denial("SG-UNLISTED"), answers: new Map() });
    this.#answer(call, unlistedAnswer(call, known));
  }

  /** A call of what its server lists and nothing has admitted. */
  refuseKept(call: Call, { code, decision, approval }: KeptFromCalls): void {
    const { server, tool } = call.contract;
    const withheld = code !== "SG-QUARANTINED";
    const refused = code === "SG-CARD-REFUSED" ? cardRefusal(this.#needs) : undefined;
    const way =
      refused !== undefined
        ? `tell the user: ${refused}`
        : `ask the user to look at decision ${decision}: what \`${shownName(server)}\` says now is not accepted`;
    const denied = denial(code, { server, tool }, withheld && approval === undefined ? way : undefined);
    // A server in quarantine is on record once, with the decision about its manifest.
    if (withheld) recordRefusal(this.#needs, call, { decision: denied, answers: new Map() });
    const refusal: Refusal = approval === undefined ? { kind: "refused" } : { kind: "approvable", approval };
    this.#answer(call, refusalOf(requestOf(this.#needs, call), denied, decision, refusal));
  }

  /** Sends the continuation of a call that was committed before and whose questions have been answered. */
  async resend(call: Call): Promise<void> {
    await this.#send(call, true);
  }

  /** The client gave up on a request: one that is being decided is never sent. */
  cancel(id: RequestId): void {
    const deciding = this.#deciding.get(id);
    if (deciding !== undefined) deciding.cancelled = true;
    else this.#settlement.cancel(id);
  }

  async #pursue(call: Call): Promise<void> {
    // Each turn of the loop obtains consent or an injected call. Both happen at most once per call and rule.
    for (let turn = 0; turn < turnsMax; turn += 1) {
      const committing = commitCall(this.#needs, call, "client");
      const committed = committing instanceof Promise ? await committing : committing;
      switch (committed.kind) {
        case "dropped":
          return;
        case "refused":
          return this.#refuse(call, committed.decision);
        case "held":
          return this.#hold(call, committed.decision, committed.hold);
        case "dispatched":
          return this.#send(call, await committed.durable);
        case "confirm": {
          const sought = await this.#consent.seek(call, committed.decision, "call");
          if (sought.kind === "answered") {
            // The client has its answer and no consent was given. The question is on record too, since audits count it.
            recordRefusal(this.#needs, call, committed);
            return;
          }
          call.consent = sought;
          break;
        }
        case "perform": {
          const missing = await performAll(this.#needs.servers, call, committed.orders);
          if (missing !== undefined) return this.#refuseLate(call, missing.decision, missing.refusal);
          break;
        }
      }
    }
    return this.#refuseLate(call, denial("SG-ROUNDS"));
  }

  #refuse(call: Call, decision: Decision, refusal: Refusal = { kind: "refused" }): void {
    this.#answer(call, refusalOf(requestOf(this.#needs, call), decision, call.id, refusal));
  }

  #refuseLate(call: Call, decision: Decision, refusal?: Refusal): void {
    recordRefusal(this.#needs, call, { decision, answers: new Map() });
    this.#refuse(call, decision, refusal);
  }

  #hold(call: Call, decision: Decision, { since, way }: Hold): void {
    const { id, live, digest, contract } = call;
    const { server, tool, toolDigest } = contract;
    const { deliveries, runObligations } = this.#needs;
    const { arguments: given, settled } = call;
    const held = { id, since, live, server, tool, arguments: given, digest, toolDigest, settled };
    if (!runObligations.hold(held)) return this.#refuseLate(call, denial("SG-OUTBOX-FULL"));
    const asked = requestOf(this.#needs, call);
    const how = { kind: "held", ...(way === undefined ? {} : { way }) } as const;
    // A call that is not on record as waiting would be gone with this process.
    void deliveries.after(recordHeld(this.#needs, call, decision, { since }), (durable) => {
      if (!durable) runObligations.unhold(held);
      const answer = durable ? refusalOf(asked, decision, id, how) : refusalMessage(asked, id, logFailureText);
      call.exchange.respond(answer);
    });
  }

  /** Sends a call in its window; only a server that takes one call at a time makes it wait. */
  #send(call: Call, durable: boolean): void | Promise<void> {
    if (!durable || call.cancelled) {
      this.#settlement.neverSent(call);
      if (!durable) this.#answer(call, refusalMessage(requestOf(this.#needs, call), call.id, logFailureText));
      return;
    }
    const opened = openTraceWindow(this.#needs, call);
    return opened instanceof Promise ? opened.then((one) => this.#sendIn(call, one)) : this.#sendIn(call, opened);
  }

  #sendIn(call: Call, opened: Result<void, string>): void {
    if (!opened.ok || call.cancelled) {
      closeTraceWindow(this.#needs, call);
      this.#settlement.neverSent(call);
      if (!opened.ok) this.#answer(call, refusalMessage(requestOf(this.#needs, call), call.id, opened.error));
      return;
    }
    const { request } = call;
    const refused = this.#settlement.expect(call);
    if (refused !== undefined) {
      closeTraceWindow(this.#needs, call);
      this.#settlement.neverSent(call);
      this.#answer(call, errorMessage(request.id, errorCodes.invalidRequest, refused));
      return;
    }
    const params = withoutOwnRetry(request.params);
    this.#needs.link.send(
      params === request.params ? request : { kind: "request", id: request.id, method: request.method, params },
    );
  }

  #answer(call: Call, message: ResponseMessage | ErrorMessage): void {
    this.#needs.deliveries.now(() => call.exchange.respond(message));
  }
}

function retryOf(params: JsonObject | undefined): { state: string; responses: Json | undefined } | undefined {
  const state = stringMember(params, "requestState");
  const responses = member(params, "inputResponses");
  return state === undefined && responses === undefined ? undefined : { state: state ?? "", responses };
}

/** Params without the answer to the gateway's own question; answers to the server's questions stay. */
function withoutOwnRetry(params: JsonObject | undefined): JsonObject | undefined {
  const responses = member(params, "inputResponses");
  if (params === undefined || member(responses, consentInputName) === undefined || !isObject(responses)) return params;
  const { inputResponses: _answers, requestState: _state, ...rest } = params;
  return rest;
}

function unlistedAnswer({ request, contract }: Call, known: boolean): ErrorMessage {
  if (known) {
    // The words of the protocol, which clients know.
    const text = `Unknown tool: ${escapeForDisplay(contract.tool).slice(0, 64)}`;
    return errorMessage(request.id, errorCodes.invalidParams, text);
  }
  const text = `Not sent: \`${contract.server}\` did not list its tools. Try again, or check whether it runs.`;
  return errorMessage(request.id, errorCodes.internalError, text);
}

/** Characters of the name of a tool; a longer one is refused, since rules would judge another name than is called. */
const toolNameCharactersMax = 1_024;

/**
 * Refuses malformed params of `tools/call`: rules could not inspect arguments that are not an object, or a name that is
 * not text. Returns the sentence for the refusal; undefined for well-formed params.
 */
export function malformedCall(params: JsonObject | undefined): string | undefined {
  const given = member(params, "arguments");
  if (given !== undefined && !isObject(given)) return "The arguments of a tool are an object. Send one, or none.";
  const name = member(params, "name");
  if (name === undefined || (typeof name === "string" && name.length <= toolNameCharactersMax)) return undefined;
  return `The name of a tool is a text of at most ${toolNameCharactersMax} characters. Use a listed name.`;
}

/** Name of the tool of a `tools/call`; a call without one is judged as a tool without a name. */
export function toolName(params: JsonObject | undefined): string {
  return stringMember(params, "name") ?? "";
}
