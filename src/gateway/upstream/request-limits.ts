/**
 * The time that a server has for a request of a client (gateway.md 7). Progress starts it anew, and while the server
 * waits for an answer to a question of its own it does not end; the longest time of all ends every request.
 */
import { type JsonObject, member } from "../../core/json.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { Message, RequestId } from "../../wire/message.ts";
import { requestMsMax, shortSilenceMsMax, silenceMsMax } from "../ports/limits.ts";
import type { Clock } from "../ports/services.ts";
import { asId } from "./request-routes.ts";

/** Requests that run nothing of the server's own: a server that is silent on them is not at work. */
const shortMethods: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "logging/setLevel",
  "completion/complete",
  "tasks/get",
  "tasks/list",
  "tasks/cancel",
]);

/** Requests that wait for something by their nature: the end of a task. They end with the longest time of all. */
const waitingMethods: ReadonlySet<string> = new Set(["tasks/result"]);

type Open = {
  readonly method: string;
  readonly limitMs: number;
  readonly since: number;
  readonly token: RequestId | undefined;
  heardAt: number;
  stop: () => void;
};

/** A request that a server did not answer in time: its method, and the reason as a sentence for its client. */
export type Overdue = { readonly id: RequestId; readonly method: string; readonly reason: string };

export class RequestLimits {
  readonly #clock: Clock;
  readonly #overdue: (request: Overdue) => void;
  readonly #open = new Map<RequestId, Open>();
  readonly #byToken = new Map<RequestId, RequestId>();
  /** Questions of the server that are not answered yet, each with the request that it belongs to, where it says so. */
  readonly #questions = new Map<RequestId, RequestId | undefined>();

  constructor(clock: Clock, overdue: (request: Overdue) => void) {
    this.#clock = clock;
    this.#overdue = overdue;
  }

  /** A message as it is sent to the server. */
  sent(message: Message): void {
    if (message.kind === "request") return this.#begin(message.id, message.method, tokenOf(message.params));
    if (message.kind === "response" || message.kind === "error") {
      if (message.id !== null) this.#settle(message.id);
      return;
    }
    if (message.method !== "notifications/cancelled") return;
    const id = asId(member(message.params, "requestId"));
    if (id !== undefined) this.end(id);
  }

  /** A message of the server. */
  heard(message: Message, relatedTo: RequestId | undefined): void {
    if (message.kind === "request") {
      this.#questions.set(message.id, relatedTo);
      this.#renew(relatedTo);
      return;
    }
    if (message.kind === "response" || message.kind === "error") {
      if (message.id !== null) this.end(message.id);
      return;
    }
    if (message.method === "notifications/cancelled") {
      const question = asId(member(message.params, "requestId"));
      if (question !== undefined) this.#settle(question);
      return;
    }
    if (message.method !== "notifications/progress") return;
    const token = asId(member(message.params, "progressToken"));
    const id = (token === undefined ? undefined : this.#byToken.get(token)) ?? relatedTo;
    if (id !== undefined) this.#renew(id);
  }

  /** The server goes on where it waited for this answer, and has its whole time again. */
  #settle(question: RequestId): void {
    if (!this.#questions.has(question)) return;
    this.#renew(this.#questions.get(question));
    this.#questions.delete(question);
  }

  /** The time of a request starts anew; without an id that of all, since any may be meant. */
  #renew(id: RequestId | undefined): void {
    const heardAt = this.#clock.monotonicMs();
    for (const [key, open] of this.#open) if (id === undefined || key === id) open.heardAt = heardAt;
  }

  /** The request is answered, given up or lost. */
  end(id: RequestId): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.stop();
    this.#open.delete(id);
    if (open.token !== undefined) this.#byToken.delete(open.token);
    for (const [question, of] of this.#questions) if (of === id) this.#questions.delete(question);
  }

  /** The connection is gone. */
  close(): void {
    for (const id of this.#open.keys()) this.end(id);
    this.#questions.clear();
  }

  #begin(id: RequestId, method: string, token: RequestId | undefined): void {
    // A stream of changes is open for as long as its client is.
    if (method === "subscriptions/listen") return;
    this.end(id);
    const limitMs = shortMethods.has(method) ? shortSilenceMsMax : silenceMsMax;
    const now = this.#clock.monotonicMs();
    const waits = waitingMethods.has(method) ? requestMsMax : limitMs;
    const open: Open = { method, limitMs: waits, since: now, token, heardAt: now, stop: () => {} };
    this.#open.set(id, open);
    if (token !== undefined) this.#byToken.set(token, id);
    this.#arm(id, open, waits);
  }

  #arm(id: RequestId, open: Open, ms: number): void {
    open.stop = this.#clock.after(ms, () => {
      const now = this.#clock.monotonicMs();
      const left = open.since + requestMsMax - now;
      // The timer stays where it is while progress comes, so that a server that reports much costs nothing here.
      const asks = [...this.#questions.values()].some((of) => of === undefined || of === id);
      const rest = asks ? open.limitMs : open.heardAt + open.limitMs - now;
      if (left > 0 && rest > 0) return this.#arm(id, open, Math.min(rest, left));
      this.end(id);
      this.#overdue({ id, method: open.method, reason: left > 0 ? silent(open.limitMs) : tooLong });
    });
  }
}

function tokenOf(params: JsonObject | undefined): RequestId | undefined {
  return asId(member(member(params, "_meta"), metaKeys.progressToken));
}

const tooLong = `It took longer than ${requestMsMax / 3_600_000} hours, so the server was notified to stop.`;

function silent(limitMs: number): string {
  const minutes = limitMs / 60_000;
  return `The server was silent for ${minutes} minutes and was notified to stop. Longer work needs progress or a task.`;
}
