/**
 * Tasks (gateway.md 2): decided as the call that made them, bound to its run. State of a task is text of the server;
 * its result is the release of the call. A task of another run does not exist.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { errorCodes, errorMessage, methodNotFound } from "../../wire/errors.ts";
import type { RequestMessage, ResponseMessage } from "../../wire/message.ts";
import { maySendToServer, type DataNeeds } from "./client-data.ts";
import { EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Exchange } from "../ports/transport.ts";
import { questionsIn, refusesSecret, withNamedQuestions, type QuestionNeeds } from "./server-questions.ts";
import { errorValue, refusalMessage, releasedAnswer } from "../decision/client-answer.ts";
import { judgeRelease } from "../decision/release.ts";
import {
  closeTraceWindow,
  concludeWrites,
  evidenceOf,
  revokeTrust,
  type EffectNeeds,
} from "../decision/effect-window.ts";
import type { Answered, ClientState, Relayed } from "../ports/conversation.ts";
import { isModern } from "../upstream/client-facts.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Answers } from "../../core/opinion.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { listPagesMax, runTasksMax } from "../ports/limits.ts";

type Needs = DataNeeds &
  EffectNeeds &
  QuestionNeeds & {
    readonly client: ClientState;
    readonly tasks: TaskTable;
  };

export class TaskDesk {
  readonly #needs: Needs;
  /** Cursors that the server gave for its list of tasks; of too many the oldest are forgotten. */
  readonly #cursors = new BoundedMap<string, true>(listPagesMax);

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Answers a request about tasks; `relay` forwards it, with other params if given, and gives the server's answer. */
  async answer(exchange: Exchange, live: LiveRun, relay: (params?: JsonObject) => Promise<Relayed>): Promise<Answered> {
    const { request } = exchange;
    if (request.method === "tasks/list") {
      const cursor = stringMember(request.params, "cursor");
      // A cursor that the server did not give is text of the client, and not for the server to read.
      if (cursor !== undefined && !this.#cursors.has(cursor)) {
        return errorMessage(request.id, errorCodes.invalidParams, "Invalid cursor");
      }
      const listed = await relay();
      const next = listed.kind === "response" ? stringMember(listed.result, "nextCursor") : undefined;
      if (next !== undefined) this.#cursors.set(next, true);
      return listed.kind === "lost" ? listed.answer : this.#list(live, listed);
    }
    const entry = this.#needs.tasks.find(live.key, this.#needs.server, stringMember(request.params, "taskId") ?? "");
    if (entry === undefined) return this.#notFound(request, relay);
    const responses = member(request.params, "inputResponses");
    if (responses !== undefined) {
      const contract = live.policy.contractOfMethod(this.#needs.server, "elicitation/create");
      const query = { live, contract, method: "elicitation/create", value: responses };
      if (!(await maySendToServer(this.#needs, query))) {
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
   * A server without tasks reports that itself, and a client learns no more of an id that is not the run's own: the
   * server is asked about a fresh id that no task has, so that a foreign task is neither shown nor touched.
   */
  async #notFound(request: RequestMessage, relay: (params: JsonObject) => Promise<Relayed>): Promise<Answered> {
    const meta = member(request.params, "_meta");
    const taskId = this.#needs.services.secrets.token();
    const answer = await relay({ taskId, ...(meta === undefined ? {} : { _meta: meta }) });
    const absent = answer.kind === "error" && answer.error.code === errorCodes.methodNotFound;
    return absent
      ? methodNotFound(request.id, request.method)
      : errorMessage(request.id, errorCodes.invalidParams, "Task not found");
  }

  async #release(
    exchange: Exchange,
    { live, entry }: { live: LiveRun; entry: TaskEntry },
    answer: Answered,
  ): Promise<Answered> {
    const { method } = exchange.request;
    const final = method === "tasks/result" || isFinal(answer);
    const failed = hasFailed(answer);
    const done = { id: entry.call, live, contract: entry.contract, scope: entry.scope };
    const asked = this.#asked(exchange, entry.method);
    const questions = final || answer.kind === "error" ? [] : questionsIn(answer.result);
    if (refusesSecret(this.#needs, done, questions)) return refusalMessage(asked, entry.call, secretText);
    const first = final && !entry.settled;
    if (first) {
      entry.settled = true;
      this.#needs.link.working.delete(entry.call);
      closeTraceWindow(this.#needs, done);
      // A result may be fetched again; the projection gives the trace of its call only once, so the evidence is kept.
      entry.known = evidenceOf(this.#needs, done);
    }
    const told = final ? entry.known : entry.settled ? undefined : evidenceOf(this.#needs, done);
    const known = told === undefined ? undefined : await told;
    const batch = new EventBatch();
    if (first) {
      const at = this.#needs.services.clock.monotonicMs();
      const event: RunEvent = failed
        ? { kind: "failed", at, call: entry.call, noEffect: false }
        : { kind: "succeeded", at, call: entry.call };
      this.#needs.runs.fold(live, event, batch);
    }
    const ruled = judgeRelease(
      this.#needs,
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
    if (entry.scope !== undefined) revokeTrust(this.#needs, done, ruling);
    let loss: string | undefined;
    if (first && entry.scope !== undefined) {
      const concluded = await concludeWrites(this.#needs, done, ruling.how);
      if (concluded.kind === "apart") return refusalMessage(asked, entry.call, concluded.sentence.slice(0, 240));
      loss = concluded.loss;
    }
    const shown = { ...ruling, value: withNamedQuestions(this.#needs, live, ruling.value) };
    const released = { asked, decision: entry.call, message: answer, ruling: shown };
    return releasedAnswer(loss === undefined ? released : { ...released, loss }, await ruling.durable);
  }

  /** Keeps only the tasks of this run; the rest of the answer is text of the server, also where it is not a list. */
  async #list(live: LiveRun, answer: Answered): Promise<Answered> {
    if (answer.kind === "error" || answer.id === null) return answer;
    const shown = this.#ownOf(live, answer);
    const contract = live.policy.contractOfMethod(this.#needs.server, "tasks/list");
    const id = this.#needs.ids.next();
    const query = {
      live,
      id,
      call: undefined,
      contract,
      option: undefined,
      outcome: "succeeded",
      value: shown.result,
    } as const;
    const ruled = judgeRelease(this.#needs, query);
    const ruling = ruled instanceof Promise ? await ruled : ruled;
    const asked = { id: answer.id, method: "tasks/list", modern: isModern(this.#needs) };
    return releasedAnswer({ asked, decision: id, message: shown, ruling }, await ruling.durable);
  }

  /** The answer itself where it names no task but the run's own. */
  #ownOf(live: LiveRun, answer: ResponseMessage): ResponseMessage {
    const listed = member(answer.result, "tasks");
    if (!isArray(listed) || !isObject(answer.result)) return answer;
    const own = listed.filter((task) => this.#owns(live, task));
    if (own.length === listed.length) return answer;
    return { kind: "response", id: answer.id, result: { ...answer.result, tasks: own } };
  }

  #owns(live: LiveRun, task: Json): boolean {
    const id = stringMember(task, "taskId");
    return id !== undefined && this.#needs.tasks.find(live.key, this.#needs.server, id) !== undefined;
  }

  #asked(exchange: Exchange, method: string = exchange.request.method) {
    // The result of a task has the shape of the result of its call, and so has its refusal.
    const shape = exchange.request.method === "tasks/result" ? method : exchange.request.method;
    return { id: exchange.request.id, method: shape, modern: isModern(this.#needs) };
  }
}

const secretText = "The task asks for a secret, which the policy refuses. Cancel it, or go on without its result.";

/** A call fails as its task does: with an error, or with a result that says so. Both may be inside the task's state. */
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

// Which run and call a task of a server belongs to. A task id is a name the model sees, so it never grants access.

export type TaskEntry = {
  readonly run: string;
  readonly server: string;
  readonly task: string;
  readonly call: string;
  readonly method: string;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  /** Scope of its call, where the call runs in a projection. */
  readonly scope: string | undefined;
  /** Evidence of the call's effects in its projection, once the task is over. */
  known?: Promise<Answers> | undefined;
  /** True once the outcome of the call is on record. */
  settled: boolean;
};

export class TaskTable {
  readonly #byRun = new Map<string, Map<string, TaskEntry>>();
  /** How many runs own a task of each name: a server may name one in every message, and runs are many. */
  readonly #owners = new Map<string, number>();

  /** False when the run owns too many tasks, or this one belongs to another call: its label would be that call's. */
  add(entry: TaskEntry): boolean {
    let own = this.#byRun.get(entry.run);
    if (own === undefined) this.#byRun.set(entry.run, (own = new Map()));
    const key = `${entry.server} ${entry.task}`;
    if (own.has(key) || (own.size >= runTasksMax && !this.#makeRoom(own))) return false;
    own.set(key, entry);
    this.#owners.set(key, (this.#owners.get(key) ?? 0) + 1);
    return true;
  }

  /** The oldest task that is over can be asked for no more. */
  #makeRoom(own: Map<string, TaskEntry>): boolean {
    for (const [key, { settled }] of own) {
      if (!settled) continue;
      own.delete(key);
      this.#disown(key);
      return true;
    }
    return false;
  }

  #disown(key: string): void {
    const left = (this.#owners.get(key) ?? 1) - 1;
    if (left > 0) this.#owners.set(key, left);
    else this.#owners.delete(key);
  }

  /** The task if this run owns it; a foreign one is not found. */
  find(run: string, server: string, task: string): TaskEntry | undefined {
    return this.#byRun.get(run)?.get(`${server} ${task}`);
  }

  /** Whether a run other than this one owns a task of this name, whose text this run must not get. */
  isForeign(run: string, server: string, task: string): boolean {
    if (this.find(run, server, task) !== undefined) return false;
    return this.#owners.has(`${server} ${task}`);
  }

  forget(run: string): void {
    for (const key of this.#byRun.get(run)?.keys() ?? []) this.#disown(key);
    this.#byRun.delete(run);
  }
}
