/**
 * Questions of a server on their way to the user (gateway.md 2): shown with the server's name, and refused where a form
 * asks for a secret, since the answer would go to the author of the question. A rule that lets the server's questions
 * pass leaves every byte as it is, as an allow-all policy must; so does observe mode, which only reports its findings.
 */
import type { Decision } from "../../core/decision.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { asksForSecret, withHeading } from "../../wire/elicitation.ts";
import { isObserved, notesOf } from "../decision/call.ts";
import { escapeForDisplay } from "../decision/display-text.ts";
import type { DroppedCounts } from "../upstream/unsolicited-budget.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { denial } from "../decision/ask-loop.ts";
import type { Link } from "../upstream/upstream-link.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Services } from "../ports/services.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { IdSource } from "../ports/ids.ts";

export type QuestionNeeds = RefusalNeeds & { readonly server: string };

/** Needs of a record about a refused message of a server. */
export type RefusalNeeds = {
  readonly services: Services;
  readonly runs: RunRegistry;
  readonly ids: IdSource;
};

/** The run and the contract that a question belongs to. */
type Asking = { readonly live: LiveRun; readonly contract: ToolContract };

/** Characters of a server's name in a heading. */
const nameCharactersMax = 64;

/** The server's own question, or the params of the questions in its result. */
export type Asked = { readonly method: string; readonly params: JsonObject };

/** Whether a question asks for a secret that the policy denies; the refusal is recorded and the operator notified. */
export function refusesSecret(needs: QuestionNeeds, { live, contract }: Asking, asked: readonly Asked[]): boolean {
  const { server, services } = needs;
  if (live.policy.permitsQuestions(server)) return false;
  if (!asked.some(({ method, params }) => method === "elicitation/create" && asksForSecret(params))) return false;
  const observed = isObserved(live, server);
  const outcome = observed ? "would have been refused" : "was refused";
  services.human.notify(`\`${shown(server)}\` asked for a secret in a form (api_key_request), which ${outcome}.`);
  if (observed) return false;
  recordRefused(needs, { live, contract }, denial("SG-API-KEY-REQUEST", { signal: "api_key_request", server }));
  return true;
}

/**
 * Records in each run a question that names no call while several runs have calls open, and that was put to none of
 * them.
 */
export function recordUnplaced(
  needs: RefusalNeeds,
  { server, budget }: Pick<Link, "server" | "budget">,
  { question, runs }: { readonly question: RequestMessage; readonly runs: readonly string[] },
): void {
  const { method } = question;
  for (const key of runs) {
    const live = needs.runs.find(key);
    if (live === undefined || !budget.take(question, live)) continue;
    const contract = live.policy.contractOfMethod(server, method);
    recordRefused(needs, { live, contract }, denial("SG-QUESTION-UNPLACED", { server, method }));
  }
}

/** A server sent too much beside its answers: records the number of dropped messages and reports it to the operator. */
export function recordDropped(needs: RefusalNeeds, server: string, dropped: DroppedCounts): void {
  for (const [live, messages] of dropped) {
    const contract = live.policy.contractOfMethod(server, droppedMethod);
    recordRefused(needs, { live, contract }, denial("SG-CHATTER", { server, messages }));
  }
  const total = [...dropped.values()].reduce((sum, messages) => sum + messages, 0);
  const text = `\`${shown(server)}\` says too much beside its answers: ${total} of its messages were dropped (SG-CHATTER).`;
  needs.services.human.notify(text);
}

/** The method that stands for all dropped messages on record. */
const droppedMethod = "notifications/message";

function recordRefused(needs: RefusalNeeds, { live, contract }: Asking, decision: Decision): void {
  const { runs, services } = needs;
  const { server, tool, output } = contract;
  const batch = new EventBatch();
  const at = services.clock.monotonicMs();
  const codes = decision.reasons.map(({ code }) => code);
  const release = { call: undefined, server, tool, how: "reject", label: output.label, fields: [], codes } as const;
  // A run that has ended meanwhile takes no event, and has the refusal on record all the same.
  if (!runs.fold(live, { kind: "released", at, ...release }, batch).ok) batch.parts.push({ live, events: [] });
  void appendBatch(services.log, batch, { decision, notes: notesOf(needs.ids.next(), decision, false) });
}

/** The questions of an `input_required` result; empty for a result without questions. */
export function questionsIn(result: Json): readonly Asked[] {
  const requests = member(result, "inputRequests");
  return Object.values(isObject(requests) ? requests : {}).flatMap((request) => {
    const params = member(request, "params");
    return [{ method: stringMember(request, "method") ?? "", params: isObject(params) ? params : {} }];
  });
}

/** A question of the server itself as the user sees it. */
export function namedQuestion(needs: QuestionNeeds, live: LiveRun, { method, params }: Asked): JsonObject {
  return method === "elicitation/create" && isNamed(needs, live) ? withHeading(params, heading(needs.server)) : params;
}

/** A result, or the value of an error, with the name of the server at every question in it. */
export function withNamedQuestions(needs: QuestionNeeds, live: LiveRun, value: Json): Json {
  if (!isObject(value) || !isNamed(needs, live)) return value;
  const requests = member(value, "inputRequests");
  if (isObject(requests)) {
    const named = Object.entries(requests).map(([name, request]) => [name, namedRequest(needs.server, request)]);
    return { ...value, inputRequests: Object.fromEntries(named) };
  }
  // Error -32042 of 2025-11-25: the URLs that the user has to visit before the call can be done.
  const data = member(value, "data");
  const listed = member(data, "elicitations");
  if (!isObject(data) || !isArray(listed)) return value;
  const named = listed.map((params) => (isObject(params) ? withHeading(params, heading(needs.server)) : params));
  return { ...value, data: { ...data, elicitations: named } };
}

function namedRequest(server: string, request: Json): Json {
  const params = member(request, "params");
  if (!isObject(request) || member(request, "method") !== "elicitation/create") return request;
  return { ...request, params: withHeading(isObject(params) ? params : {}, heading(server)) };
}

function isNamed({ server }: QuestionNeeds, live: LiveRun): boolean {
  return !live.policy.permitsQuestions(server) && !isObserved(live, server);
}

function heading(server: string): string {
  return `The server \`${shown(server)}\` asks:`;
}

function shown(server: string): string {
  return escapeForDisplay(server).slice(0, nameCharactersMax);
}
