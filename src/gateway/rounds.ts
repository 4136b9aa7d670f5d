/**
 * Questions of a server inside a result (SEP-2322): the call is not over, the client answers and repeats it. The text
 * of the questions is a release, the answers are sends, and the repeated call is the same call: it was allowed once,
 * and the server says that it has not done it yet. Each question permits exactly one continuation.
 */
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import type { ResponseMessage } from "../wire/message.ts";
import { mayAnswer } from "./answers.ts";
import type { Call } from "./call.ts";
import { consentInputName, visible } from "./card-text.ts";
import { appendBatch, Batch } from "./journal.ts";
import { eraIdPrefix } from "./legacy-server.ts";
import { openRoundsAllMax, openRoundsMax } from "./limits.ts";
import { questionsIn, refusesSecret, withNamedQuestions } from "./questions.ts";
import { refusalMessage, rejectionOf } from "./refusals.ts";
import { releasedAnswer, requestOf } from "./released-answer.ts";
import type { Scene } from "./scene.ts";
import { judgeInterim, keepWrites } from "./deeds.ts";

type Round<Q> = {
  readonly call: Call<Q>;
  readonly methods: ReadonlyMap<string, string>;
  /** Called when it makes room for others: nobody will go on with its call. */
  readonly dropped: () => void;
};

/**
 * Open rounds over all connections: in the modern era the repeated call comes on another one. Who has too many loses his
 * own oldest one; where all together have too many, it is one of whoever has most.
 */
export class RoundTable<Q> {
  readonly #byUser = new Map<string, Map<string, Round<Q>>>();
  #size = 0;

  keep(state: string, round: Round<Q>): void {
    const { principal } = round.call.live;
    // The same call with the same state again: the newer one counts.
    this.take(round.call, state)?.dropped();
    if ((this.#byUser.get(principal)?.size ?? 0) >= openRoundsMax) this.#makeRoom(principal);
    else if (this.#size >= openRoundsAllMax) this.#makeRoom(this.#greediest());
    const own = this.#byUser.get(principal) ?? new Map<string, Round<Q>>();
    this.#byUser.set(principal, own.set(roundKey(round.call, state), round));
    this.#size += 1;
  }

  /** The open round of a call and a state; it is not open any more then. */
  take(call: Call<Q>, state: string): Round<Q> | undefined {
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

  #remove(principal: string, key: string): Round<Q> | undefined {
    const own = this.#byUser.get(principal);
    const round = own?.get(key);
    if (own === undefined || round === undefined) return undefined;
    own.delete(key);
    if (own.size === 0) this.#byUser.delete(principal);
    this.#size -= 1;
    return round;
  }
}

export class Rounds<Q> {
  readonly #scene: Scene<Q>;
  readonly #table: RoundTable<Q>;

  constructor(scene: Scene<Q>, table: RoundTable<Q>) {
    this.#scene = scene;
    this.#table = table;
  }

  /** The server asks before it goes on. */
  asked(call: Call<Q>, message: ResponseMessage): void {
    this.#release(call, message).catch(() => {
      const asked = requestOf(this.#scene, call);
      this.#scene.deliveries.now(() => call.exchange.respond(rejectionOf(asked, call.id)));
    });
  }

  /**
   * A repeated call: the call that it continues, once its answers may be sent; `refused` when they may not, `gone` when
   * the question was put in the gateway's own name and is not open for this very call, and undefined when no open question
   * fits, so that it is decided like any new call.
   */
  async continued(call: Call<Q>): Promise<Call<Q> | "refused" | "gone" | undefined> {
    const { retry } = call;
    const round = retry === undefined ? undefined : this.#table.take(call, retry.state);
    // Below, such a state alone leads to a call that waits: another call with it would get that one's result as its own.
    if (round === undefined && retry?.state.startsWith(eraIdPrefix) === true) return "gone";
    for (const { name, value } of answersIn(retry?.responses)) {
      // An answer to no question of ours is still data for the server: it is judged as the answer to a form.
      const method = round?.methods.get(name) ?? "elicitation/create";
      const contract = call.live.policy.contractOfMethod(this.#scene.server, method);
      if (round === undefined && name === consentInputName && this.#isOurs(call)) continue;
      if (!(await mayAnswer(this.#scene, { live: call.live, contract, method, value }))) {
        if (round !== undefined) this.#end(round.call, refusedCause);
        return "refused";
      }
    }
    if (round === undefined) return undefined;
    return { ...round.call, exchange: call.exchange, request: call.request, retry };
  }

  #isOurs(call: Call<Q>): boolean {
    return call.retry !== undefined && this.#scene.services.secrets.unseal(call.retry.state) !== undefined;
  }

  async #release(call: Call<Q>, message: ResponseMessage): Promise<void> {
    const asked = requestOf(this.#scene, call);
    const methods = methodsOf(member(message.result, "inputRequests"));
    const sampling = [...methods.values()].includes("sampling/createMessage");
    // A question of the server under our own name could pass for ours, and its answer would be taken out of the call.
    if (methods.has(consentInputName)) {
      this.#end(call, refusedCause);
      return call.exchange.respond(rejectionOf(asked, call.id));
    }
    if (sampling && call.live.policy.settings.sampling === "refuse") {
      this.#end(call, refusedCause);
      const sentence = `The server \`${this.#scene.server}\` asked to use the client's model, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    if (refusesSecret(this.#scene, call, questionsIn(message.result))) {
      this.#end(call, refusedCause);
      const sentence = `The server \`${visible(this.#scene.server)}\` asked for a secret, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    // A question can carry a whole result: what the call did so far is judged before any of it is shown.
    const { ruling } = await judgeInterim(this.#scene, call, message.result);
    if (ruling.how !== "pass") this.#end(call, refusedCause);
    else this.#keep(call, stringMember(message.result, "requestState") ?? "", methods);
    const shown = { ...ruling, value: withNamedQuestions(this.#scene, call.live, ruling.value) };
    const released = { asked, decision: call.id, message, ruling: shown };
    void this.#scene.deliveries.after(ruling.durable, (durable) =>
      call.exchange.respond(releasedAnswer(released, durable)),
    );
  }

  #keep(call: Call<Q>, state: string, methods: ReadonlyMap<string, string>): void {
    const dropped = (): void => this.#end(call, "its questions made room for others");
    this.#table.keep(state, { call, methods, dropped });
  }

  /** Nobody will go on with the call: what it did so far is not known. */
  #end(call: Call<Q>, cause: string): void {
    if (call.lost) return;
    call.lost = true;
    keepWrites(this.#scene, call);
    const batch = new Batch<Q>();
    const at = this.#scene.services.clock.monotonicMs();
    this.#scene.runs.fold(call.live, { kind: "unknown", at, call: call.id, cause }, batch);
    void appendBatch(this.#scene.services.log, batch);
  }
}

const refusedCause = "its questions were refused";

/** The answers by the names of their questions; what is no object of answers is one without a question. */
function answersIn(responses: Json | undefined): readonly { readonly name: string; readonly value: Json }[] {
  if (responses === undefined) return [];
  if (!isObject(responses)) return [{ name: "", value: responses }];
  return Object.entries(responses).map(([name, value]) => ({ name, value }));
}

function roundKey<Q>(call: Call<Q>, state: string): string {
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
