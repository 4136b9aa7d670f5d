/**
 * Answers of the client to a server's questions. Each is a send to that server, decided as a call; one that may not go
 * is replaced by the protocol's own way of saying no. Roots are operator data, and say what the workspace is.
 */
import type { Json } from "../core/json.ts";
import { isArray, member, stringMember } from "../core/json.ts";
import { errorCodes, errorMessage } from "../wire/errors.ts";
import type { RequestId, RequestMessage } from "../wire/message.ts";
import { mayAnswer } from "./answers.ts";
import type { Catalogue } from "./catalogue.ts";
import { appendBatch, Batch } from "./journal.ts";
import { serverRequestsOpenMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import type { Answered, Scene } from "./scene.ts";

type Question<Q> = { readonly method: string; readonly live: LiveRun<Q> };

export class ClientAnswers<Q> {
  readonly #scene: Scene<Q>;
  readonly #catalogue: Catalogue<Q>;
  readonly #open = new Map<RequestId, Question<Q>>();

  constructor(scene: Scene<Q>, catalogue: Catalogue<Q>) {
    this.#scene = scene;
    this.#catalogue = catalogue;
  }

  /** Notes a question that is about to be shown; false when its id is taken or too many are open. */
  expect(message: RequestMessage, live: LiveRun<Q>): boolean {
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
    if (method === "ping") return this.#scene.toServer(message);
    const value: Json =
      message.kind === "response"
        ? message.result
        : { message: message.error.message, ...(message.error.data === undefined ? {} : { data: message.error.data }) };
    if (method === "roots/list" && message.kind === "response") await this.#learnRoots(live, message.result);
    const contract = this.#catalogue.contractOfMethod(live.policy, method);
    const may = await mayAnswer(this.#scene, { live, contract, method, value });
    this.#scene.toServer(may ? message : refusedAnswer(message.id, method));
  }

  async #learnRoots(live: LiveRun<Q>, result: Json): Promise<void> {
    const listed = member(result, "roots");
    const roots = (isArray(listed) ? listed : []).flatMap((root) => stringMember(root, "uri") ?? []);
    const fresh = roots.filter((root) => !live.workspace.includes(root));
    if (fresh.length === 0) return;
    live.workspace = [...live.workspace, ...fresh];
    const batch = new Batch<Q>();
    const at = this.#scene.services.clock.monotonicMs();
    this.#scene.runs.fold(live, { kind: "registered", at, text: { source: "operator", value: fresh } }, batch);
    await appendBatch(this.#scene.services.log, batch);
  }
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
