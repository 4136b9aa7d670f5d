/**
 * Questions of a server inside a result (SEP-2322): the call is not over, the client answers and repeats it. The text
 * of the questions is a release, the answers are sends, and the repeated call is the same call: it was allowed once,
 * and the server says that it has not done it yet. Each question permits exactly one continuation.
 */
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import type { ResponseMessage } from "../../wire/message.ts";
import { maySendToServer, type DataNeeds } from "./client-data.ts";
import type { Call } from "../decision/call.ts";
import { consentInputName, escapeForDisplay } from "../decision/display-text.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { openRoundsAllMax, openRoundsMax } from "../ports/limits.ts";
import { questionsIn, refusesSecret, withNamedQuestions, type QuestionNeeds } from "./server-questions.ts";
import { refusalMessage, rejectionOf, releasedAnswer, requestOf } from "../decision/client-answer.ts";
import { checkInterimEffects, keepWrites } from "../decision/effect-check.ts";
import { eraIdPrefix } from "../ports/ids.ts";
import type { ClientState } from "../ports/conversation.ts";
import type { Deliveries } from "../decision/ordered-output.ts";
import type { EffectNeeds } from "../decision/effect-window.ts";

type Needs = DataNeeds &
  EffectNeeds &
  QuestionNeeds & {
    readonly client: ClientState;
    readonly deliveries: Deliveries;
  };

type InputRequest = {
  readonly call: Call;
  readonly methods: ReadonlyMap<string, string>;
  /** Called when the round makes room for others: its call will not be continued. */
  readonly dropped: () => void;
};

/**
 * Open rounds over all connections: in the modern era the repeated call comes on another one. A user with too many open
 * rounds loses the oldest of them; where all users together have too many, the user with the most loses one.
 */
export class InputRequestTable {
  readonly #byUser = new Map<string, Map<string, InputRequest>>();
  #size = 0;

  keep(state: string, round: InputRequest): void {
    const { principal } = round.call.live;
    // The same call with the same state again: the newer one counts.
    this.take(round.call, state)?.dropped();
    if ((this.#byUser.get(principal)?.size ?? 0) >= openRoundsMax) this.#makeRoom(principal);
    else if (this.#size >= openRoundsAllMax) this.#makeRoom(this.#greediest());
    const own = this.#byUser.get(principal) ?? new Map<string, InputRequest>();
    this.#byUser.set(principal, own.set(roundKey(round.call, state), round));
    this.#size += 1;
  }

  /** The open round of a call and a state; it is not open any more then. */
  take(call: Call, state: string): InputRequest | undefined {
    return this.#remove(call.live.principal, roundKey(call, state));
  }

  #makeRoom(principal: string): void {
    const oldest = this.#byUser.get(principal)?.keys().next();
    if (oldest?.done === false) this.#remove(principal, oldest.value)?.dropped();
  }

  #greediest(): string {
    let [most, name] = [0, ""];
    for (const [principal, { size }] of this.#byUser) if (size > most) [most, name] = [size, principal];
    return name;
  }

  #remove(principal: string, key: string): InputRequest | undefined {
    const own = this.#byUser.get(principal);
    const round = own?.get(key);
    if (own === undefined || round === undefined) return undefined;
    own.delete(key);
    if (own.size === 0) this.#byUser.delete(principal);
    this.#size -= 1;
    return round;
  }
}

export class InputRequests {
  readonly #needs: Needs;
  readonly #table: InputRequestTable;

  constructor(needs: Needs, table: InputRequestTable) {
    this.#needs = needs;
    this.#table = table;
  }

  /** The server asks before it goes on. */
  asked(call: Call, message: ResponseMessage): void {
    this.#release(call, message).catch(() => {
      const asked = requestOf(this.#needs, call);
      this.#needs.deliveries.now(() => call.exchange.respond(rejectionOf(asked, call.id)));
    });
  }

  /**
   * A repeated call: the call that it continues, once its answers may be sent; `refused` when they may not, `gone` when
   * the question was put in the gateway's own name and is not open for this very call, and undefined when no open
   * question fits, so that it is decided like any new call.
   */
  async continued(call: Call): Promise<Call | "refused" | "gone" | undefined> {
    const { retry } = call;
    const round = retry === undefined ? undefined : this.#table.take(call, retry.state);
    // Below, such a state alone leads to a call that waits: another call with it would get that call's result.
    if (round === undefined && retry?.state.startsWith(eraIdPrefix) === true) return "gone";
    // A state that no open question has may be a server's from before a restart, or any text: it is data for the server.
    const unknown = round === undefined && !this.#isOurs(call) ? retry?.state : undefined;
    for (const { name, value } of [...answersIn(retry?.responses), ...stateIn(unknown)]) {
      // An answer to no question of ours is still data for the server: it is judged as the answer to a form.
      const method = round?.methods.get(name) ?? "elicitation/create";
      const contract = call.live.policy.contractOfMethod(this.#needs.server, method);
      if (round === undefined && name === consentInputName && this.#isOurs(call)) continue;
      if (!(await maySendToServer(this.#needs, { live: call.live, contract, method, value }))) {
        if (round !== undefined) this.#end(round.call, refusedCause);
        return "refused";
      }
    }
    if (round === undefined) return undefined;
    return { ...round.call, exchange: call.exchange, request: call.request, retry };
  }

  #isOurs(call: Call): boolean {
    return call.retry !== undefined && this.#needs.services.secrets.unseal(call.retry.state) !== undefined;
  }

  async #release(call: Call, message: ResponseMessage): Promise<void> {
    const asked = requestOf(this.#needs, call);
    const methods = methodsOf(member(message.result, "inputRequests"));
    const sampling = [...methods.values()].includes("sampling/createMessage");
    // A question of the server under our own name could pass for ours, and its answer would be taken out of the call.
    if (methods.has(consentInputName)) {
      this.#end(call, refusedCause);
      return call.exchange.respond(rejectionOf(asked, call.id));
    }
    if (sampling && call.live.policy.settings.sampling === "refuse") {
      this.#end(call, refusedCause);
      const sentence = `The server \`${this.#needs.server}\` asked to use the client's model, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    if (refusesSecret(this.#needs, call, questionsIn(message.result))) {
      this.#end(call, refusedCause);
      const sentence = `The server \`${escapeForDisplay(this.#needs.server)}\` asked for a secret, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    // A question can carry a whole result: the effects of the call so far are judged before it is shown.
    const { ruling } = await checkInterimEffects(this.#needs, call, message.result);
    if (ruling.how !== "pass") this.#end(call, refusedCause);
    else this.#keep(call, stringMember(message.result, "requestState") ?? "", methods);
    const shown = { ...ruling, value: withNamedQuestions(this.#needs, call.live, ruling.value) };
    const released = { asked, decision: call.id, message, ruling: shown };
    void this.#needs.deliveries.after(ruling.durable, (durable) =>
      call.exchange.respond(releasedAnswer(released, durable)),
    );
  }

  #keep(call: Call, state: string, methods: ReadonlyMap<string, string>): void {
    const dropped = (): void => this.#end(call, "its questions made room for others");
    this.#table.keep(state, { call, methods, dropped });
  }

  /** The call will not be continued: its outcome is unknown. */
  #end(call: Call, cause: string): void {
    if (call.lost) return;
    call.lost = true;
    keepWrites(this.#needs, call);
    const batch = new EventBatch();
    const at = this.#needs.services.clock.monotonicMs();
    this.#needs.runs.fold(call.live, { kind: "unknown", at, call: call.id, cause }, batch);
    void appendBatch(this.#needs.services.log, batch);
  }
}

const refusedCause = "its questions were refused";

/** The answers by the names of their questions; a value that is not an object is one answer without a question. */
function answersIn(responses: Json | undefined): readonly { readonly name: string; readonly value: Json }[] {
  if (responses === undefined) return [];
  if (!isObject(responses)) return [{ name: "", value: responses }];
  return Object.entries(responses).map(([name, value]) => ({ name, value }));
}

function stateIn(state: string | undefined): readonly { readonly name: string; readonly value: Json }[] {
  return state === undefined || state === "" ? [] : [{ name: "", value: { requestState: state } }];
}

function roundKey(call: Call, state: string): string {
  return `${call.live.key} ${call.digest} ${state}`;
}

function methodsOf(requests: unknown): ReadonlyMap<string, string> {
  const methods = new Map<string, string>();
  if (typeof requests !== "object" || requests === null) return methods;
  for (const [name, request] of Object.entries(requests as JsonObject)) {
    // an object, checked above
    const method = stringMember(request, "method");
    if (method !== undefined) methods.set(name, method);
  }
  return methods;
}
