/**
 * Questions of a server inside a result (SEP-2322): the call is not over, the client answers and repeats it. The text
 * of the questions is a release, the answers are sends, and the repeated call is the same call: it was allowed once,
 * and the server says that it has not done it yet. Each question permits exactly one continuation.
 */
import type { JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import type { ResponseMessage } from "../wire/message.ts";
import { mayAnswer } from "./answers.ts";
import type { Call } from "./call.ts";
import { consentInputName, visible } from "./card-text.ts";
import { appendBatch, Batch } from "./journal.ts";
import { eraIdPrefix } from "./legacy-server.ts";
import { openRoundsMax } from "./limits.ts";
import { questionsIn, refusesSecret, withNamedQuestions } from "./questions.ts";
import { refusalMessage, rejectionOf } from "./refusals.ts";
import { releasedAnswer, requestOf } from "./released-answer.ts";
import type { Scene } from "./scene.ts";
import { judgeInterim, keepWrites } from "./deeds.ts";

type Round<Q> = { readonly call: Call<Q>; readonly methods: ReadonlyMap<string, string> };

/** Open rounds over all connections: in the modern era the repeated call comes on another one. */
export class RoundTable<Q> {
  readonly #open = new Map<string, Round<Q>>();

  keep(key: string, round: Round<Q>): void {
    const oldest = this.#open.size >= openRoundsMax ? this.#open.keys().next() : undefined;
    if (oldest?.done === false) this.#open.delete(oldest.value);
    this.#open.set(key, round);
  }

  take(key: string): Round<Q> | undefined {
    const round = this.#open.get(key);
    this.#open.delete(key);
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
    const round = retry === undefined ? undefined : this.#table.take(roundKey(call, retry.state));
    // Below, such a state alone leads to a call that waits: another call with it would get that one's result as its own.
    if (round === undefined && retry?.state.startsWith(eraIdPrefix) === true) return "gone";
    const responses = retry?.responses;
    if (isObject(responses)) {
      for (const name of Object.keys(responses)) {
        // An answer to no question of ours is still data for the server: it is judged as the answer to a form.
        const method = round?.methods.get(name) ?? "elicitation/create";
        const contract = call.live.policy.contractOfMethod(this.#scene.server, method);
        const value = member(responses, name) ?? null;
        if (round === undefined && name === consentInputName && this.#isOurs(call)) continue;
        if (!(await mayAnswer(this.#scene, { live: call.live, contract, method, value }))) {
          if (round !== undefined) this.#end(round.call);
          return "refused";
        }
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
      this.#end(call);
      return call.exchange.respond(rejectionOf(asked, call.id));
    }
    if (sampling && call.live.policy.settings.sampling === "refuse") {
      this.#end(call);
      const sentence = `The server \`${this.#scene.server}\` asked to use the client's model, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    if (refusesSecret(this.#scene, call, questionsIn(message.result))) {
      this.#end(call);
      const sentence = `The server \`${visible(this.#scene.server)}\` asked for a secret, which the policy refuses. The call did not finish.`;
      return call.exchange.respond(refusalMessage(asked, call.id, sentence.slice(0, 240)));
    }
    // A question can carry a whole result: what the call did so far is judged before any of it is shown.
    const { ruling } = await judgeInterim(this.#scene, call, message.result);
    if (ruling.how !== "pass") this.#end(call);
    else this.#table.keep(roundKey(call, stringMember(message.result, "requestState") ?? ""), { call, methods });
    const shown = { ...ruling, value: withNamedQuestions(this.#scene, call.live, ruling.value) };
    const released = { asked, decision: call.id, message, ruling: shown };
    void this.#scene.deliveries.after(ruling.durable, (durable) =>
      call.exchange.respond(releasedAnswer(released, durable)),
    );
  }

  /** Nobody will go on with the call: what it did so far is not known. */
  #end(call: Call<Q>): void {
    if (call.lost) return;
    call.lost = true;
    keepWrites(this.#scene, call);
    const batch = new Batch<Q>();
    const at = this.#scene.services.clock.monotonicMs();
    this.#scene.runs.fold(
      call.live,
      { kind: "unknown", at, call: call.id, cause: "its questions were refused" },
      batch,
    );
    void appendBatch(this.#scene.services.log, batch);
  }
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
