/**
 * Data that a client sends to a server of its own accord or as an answer to a question: each is committed as a call of
 * its own (gateway.md 2). Nothing comes back for it, so on record it is a dispatch without outcome.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { newCall } from "../decision/call.ts";
import { type CommitNeeds, commitCall } from "../decision/commit.ts";
import type { IdSource } from "../ports/ids.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Projections } from "../upstream/projection-registry.ts";
import { errorCodes, errorMessage } from "../../wire/errors.ts";
import type { RequestId, RequestMessage } from "../../wire/message.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { serverRequestsOpenMax } from "../ports/limits.ts";
import type { Answered } from "../ports/conversation.ts";
import type { LinkSeat } from "../upstream/link-seat.ts";

export type DataNeeds = CommitNeeds & { readonly ids: IdSource; readonly projections: Projections };

export type ClientData = {
  readonly live: LiveRun;
  readonly contract: ToolContract;
  /** Method of the question, or of the notification itself. */
  readonly method: string;
  readonly value: Json;
};

/** True when the data may go to the server: allowed, and on record. No approver can be asked, so confirm refuses. */
export async function maySendToServer(
  needs: DataNeeds,
  { live, contract, method, value }: ClientData,
): Promise<boolean> {
  const given = isObject(value) ? value : { value };
  const isolated = (): boolean => needs.projections.usedBy(live, contract.server).length > 0;
  const call = newCall(needs, { live, contract, method, arguments: given, isolated });
  const committed = await commitCall(needs, call, "client-data");
  return "durable" in committed && (await committed.durable) && committed.kind === "dispatched";
}

// Answers of the client to a server's questions. Each is a send to that server, decided as a call; one that may not
// go is replaced by the protocol's own way of saying no. Roots are operator data, and say what the workspace is.

type Needs = DataNeeds & {
  readonly link: LinkSeat;
};

type Question = { readonly method: string; readonly live: LiveRun };

export class ClientAnswers {
  readonly #needs: Needs;
  readonly #catalogue: Catalogue;
  readonly #open = new Map<RequestId, Question>();

  constructor(needs: Needs, catalogue: Catalogue) {
    this.#needs = needs;
    this.#catalogue = catalogue;
  }

  /** Notes a question that is about to be shown; false when its id is taken or too many are open. */
  expect(message: RequestMessage, live: LiveRun): boolean {
    if (this.#open.has(message.id) || this.#open.size >= serverRequestsOpenMax) return false;
    this.#open.set(message.id, { method: message.method, live });
    return true;
  }

  /** The server takes a question of its own back; false for one that is not open. */
  withdraw(id: RequestId): boolean {
    return this.#open.delete(id);
  }

  /** An answer of the client; one without a question goes nowhere. */
  async answered(message: Answered): Promise<void> {
    const question = message.id === null ? undefined : this.#open.get(message.id);
    if (question === undefined || message.id === null) return;
    this.#open.delete(message.id);
    const { method, live } = question;
    // A ping asks whether the client is there, and nothing else.
    if (method === "ping") return this.#needs.link.send(signOfLife(message.id, message.kind));
    const value: Json =
      message.kind === "response"
        ? message.result
        : { message: message.error.message, ...(message.error.data === undefined ? {} : { data: message.error.data }) };
    if (method === "roots/list" && message.kind === "response") await this.#learnRoots(live, message.result);
    const contract = this.#catalogue.contractOfMethod(live.policy, method);
    const may = await maySendToServer(this.#needs, { live, contract, method, value });
    this.#needs.link.send(may ? writtenAnew(message) : refusedAnswer(message.id, method));
  }

  async #learnRoots(live: LiveRun, result: Json): Promise<void> {
    const listed = member(result, "roots");
    const roots = (isArray(listed) ? listed : []).flatMap((root) => stringMember(root, "uri") ?? []);
    const { isWorkFolder } = this.#needs.services;
    const fresh = roots.filter((root) => !live.workspace.includes(root) && isWorkFolder?.(root) !== false);
    if (fresh.length === 0) return;
    live.workspace = [...live.workspace, ...fresh];
    const batch = new EventBatch();
    const at = this.#needs.services.clock.monotonicMs();
    this.#needs.runs.fold(live, { kind: "registered", at, text: { source: "operator", value: fresh } }, batch);
    await appendBatch(this.#needs.services.log, batch);
  }
}

/** The answer as it was judged: its own bytes could say more between its parts. */
function writtenAnew(message: Answered): Answered {
  const { id } = message;
  return message.kind === "response"
    ? { kind: "response", id: message.id, result: message.result }
    : { kind: "error", id, error: message.error };
}

function signOfLife(id: RequestId, kind: Answered["kind"]): Answered {
  return kind === "response" ? { kind, id, result: {} } : errorMessage(id, errorCodes.internalError, "No ping.");
}

/** How the protocol itself says no to each question. */
function refusedAnswer(id: RequestId, method: string): Answered {
  switch (method) {
    case "elicitation/create":
      return { kind: "response", id, result: { action: "decline" } };
    case "roots/list":
      return { kind: "response", id, result: { roots: [] } };
    default:
      return errorMessage(id, errorCodes.refused, "The policy of this client does not permit the answer.");
  }
}
