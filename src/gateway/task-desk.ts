/**
 * Tasks (gateway.md 2): decided as the call that made them, bound to its run. State of a task is text of the server;
 * its result is the release of the call. A task of another run does not exist.
 */
import type { RunEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isArray, isObject, member, stringMember } from "../core/json.ts";
import { errorCodes, errorMessage, methodNotFound } from "../wire/errors.ts";
import type { RequestMessage, ResponseMessage } from "../wire/message.ts";
import { mayAnswer } from "./answers.ts";
import { Batch } from "./journal.ts";
import type { LiveRun } from "./live-run.ts";
import type { Exchange } from "./ports.ts";
import { questionsIn, refusesSecret, withNamedQuestions } from "./questions.ts";
import { refusalMessage } from "./refusals.ts";
import { errorValue, releasedAnswer } from "./released-answer.ts";
import { judgeRelease } from "./releases.ts";
import type { Answered, Relayed, Scene } from "./scene.ts";
import { isModern } from "./scene.ts";
import type { TaskEntry } from "./task-table.ts";
import { closeWindow, concludeWrites, evidenceOf, revokeTrust } from "./windows.ts";

export class TaskDesk<Q> {
  readonly #scene: Scene<Q>;

  constructor(scene: Scene<Q>) {
    this.#scene = scene;
  }

  /** Answers a request about tasks; `relay` forwards it, with other params if given, and gives the server's answer. */
  async answer(
    exchange: Exchange,
    live: LiveRun<Q>,
    relay: (params?: JsonObject) => Promise<Relayed>,
  ): Promise<Answered> {
    const { request } = exchange;
    if (request.method === "tasks/list") {
      const listed = await relay();
      return listed.kind === "lost" ? listed.answer : this.#list(live, listed);
    }
    const entry = this.#scene.tasks.find(live.key, this.#scene.server, stringMember(request.params, "taskId") ?? "");
    if (entry === undefined) return this.#notFound(request, relay);
    const responses = member(request.params, "inputResponses");
    if (responses !== undefined) {
      const contract = live.policy.contractOfMethod(this.#scene.server, "elicitation/create");
      const query = { live, contract, method: "elicitation/create", value: responses };
      if (!(await mayAnswer(this.#scene, query))) {
        return refusalMessage(
          this.#asked(exchange),
          entry.call,
          "The policy does not permit this answer to the server.",
        );
      }
    }
    const answer = await relay();
    // The state of the task was lost on its way, not the task: it can be asked for again.
    return answer.kind === "lost" ? answer.answer : this.#release(exchange, { live, entry }, answer);
  }

  /**
   * A server without tasks says so itself, which is all that may be learned of an id that is not the run's own: the
   * server is asked about one that nobody has, so that a foreign task is neither shown nor touched.
   */
  async #notFound(request: RequestMessage, relay: (params: JsonObject) => Promise<Relayed>): Promise<Answered> {
    const meta = member(request.params, "_meta");
    const taskId = this.#scene.services.secrets.token();
    const answer = await relay({ taskId, ...(meta === undefined ? {} : { _meta: meta }) });
    const absent = answer.kind === "error" && answer.error.code === errorCodes.methodNotFound;
    return absent
      ? methodNotFound(request.id, request.method)
      : errorMessage(request.id, errorCodes.invalidParams, "Task not found");
  }

  async #release(
    exchange: Exchange,
    { live, entry }: { live: LiveRun<Q>; entry: TaskEntry },
    answer: Answered,
  ): Promise<Answered> {
    const { method } = exchange.request;
    const final = method === "tasks/result" || isFinal(answer);
    const failed = hasFailed(answer);
    const done = { id: entry.call, live, contract: entry.contract, scope: entry.scope };
    const asked = this.#asked(exchange, entry.method);
    const questions = final || answer.kind === "error" ? [] : questionsIn(answer.result);
    if (refusesSecret(this.#scene, done, questions)) return refusalMessage(asked, entry.call, secretText);
    const first = final && !entry.settled;
    if (first) {
      entry.settled = true;
      this.#scene.working.delete(entry.call);
      closeWindow(this.#scene, done);
      // A result may be fetched again; what its call did is told once, and kept for that.
      entry.known = evidenceOf(this.#scene, done);
    }
    const told = final ? entry.known : entry.settled ? undefined : evidenceOf(this.#scene, done);
    const known = told === undefined ? undefined : await told;
    const batch = new Batch<Q>();
    if (first) {
      const at = this.#scene.services.clock.monotonicMs();
      const event: RunEvent = failed
        ? { kind: "failed", at, call: entry.call, noEffect: false }
        : { kind: "succeeded", at, call: entry.call };
      this.#scene.runs.fold(live, event, batch);
    }
    const ruled = judgeRelease(
      this.#scene,
      {
        live,
        id: entry.call,
        call: final ? entry.call : undefined,
        // Of a task that goes on, what it did so far is judged: its state could carry what it may not give away.
        ...(final || entry.settled ? {} : { during: entry.call }),
        contract: entry.contract,
        option: entry.option,
        outcome: failed ? "failed" : "succeeded",
        value: answer.kind === "response" ? answer.result : errorValue(answer.error),
        known,
      },
      batch,
    );
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    if (entry.scope !== undefined) revokeTrust(this.#scene, done, ruling);
    if (first && entry.scope !== undefined) {
      const concluded = await concludeWrites(this.#scene, done, ruling.how);
      if (concluded.kind === "apart") return refusalMessage(asked, entry.call, concluded.sentence.slice(0, 240));
    }
    const shown = { ...ruling, value: withNamedQuestions(this.#scene, live, ruling.value) };
    return releasedAnswer({ asked, decision: entry.call, message: answer, ruling: shown }, await ruling.durable);
  }

  /** Only the tasks of this run; what is left is text of the server, also where it is no list. */
  async #list(live: LiveRun<Q>, answer: Answered): Promise<Answered> {
    if (answer.kind === "error" || answer.id === null) return answer;
    const shown = this.#ownOf(live, answer);
    const contract = live.policy.contractOfMethod(this.#scene.server, "tasks/list");
    const id = this.#scene.nextId();
    const query = {
      live,
      id,
      call: undefined,
      contract,
      option: undefined,
      outcome: "succeeded",
      value: shown.result,
    } as const;
    const ruled = judgeRelease(this.#scene, query);
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const asked = { id: answer.id, method: "tasks/list", modern: isModern(this.#scene) };
    return releasedAnswer({ asked, decision: id, message: shown, ruling }, await ruling.durable);
  }

  /** The answer itself where it names no task but the run's own. */
  #ownOf(live: LiveRun<Q>, answer: ResponseMessage): ResponseMessage {
    const listed = member(answer.result, "tasks");
    if (!isArray(listed) || !isObject(answer.result)) return answer;
    const own = listed.filter((task) => this.#owns(live, task));
    if (own.length === listed.length) return answer;
    return { kind: "response", id: answer.id, result: { ...answer.result, tasks: own } };
  }

  #owns(live: LiveRun<Q>, task: Json): boolean {
    const id = stringMember(task, "taskId");
    return id !== undefined && this.#scene.tasks.find(live.key, this.#scene.server, id) !== undefined;
  }

  #asked(exchange: Exchange, method: string = exchange.request.method) {
    // The result of a task has the shape of the result of its call, and so has its refusal.
    const shape = exchange.request.method === "tasks/result" ? method : exchange.request.method;
    return { id: exchange.request.id, method: shape, modern: isModern(this.#scene) };
  }
}

const secretText = "The task asks for a secret, which the policy refuses. Cancel it, or go on without its result.";

/** A call fails as its task does: with an error, or with a result that says so. Both may lie inside of the task's state. */
function hasFailed(answer: Answered): boolean {
  if (answer.kind === "error") return true;
  const { result } = answer;
  return [result, member(result, "result")].some((one) => member(one, "isError") === true) || endedBadly(result);
}

function endedBadly(state: Json): boolean {
  const status = member(state, "status");
  return member(state, "error") !== undefined || status === "failed" || status === "cancelled";
}

/** In the modern era `tasks/get` itself brings the result once the task is over. */
function isFinal(answer: Answered): boolean {
  return (
    answer.kind === "response" && (member(answer.result, "result") ?? member(answer.result, "error")) !== undefined
  );
}
