/**
 * Questions of a server on their way to a person (gateway.md 2): shown with the server's name, and refused where a form
 * wants a secret, whose answer would go to whoever wrote the question. A rule that lets the server's questions pass
 * leaves every byte as it is, as an allow-all policy must; so does observe mode, which only says what it saw.
 */
import type { Decision } from "../core/decision.ts";
import type { ToolContract } from "../core/contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { RequestMessage } from "../wire/message.ts";
import { isArray, isObject, member, stringMember } from "../core/json.ts";
import { asksForSecret, withHeading } from "../wire/elicitation.ts";
import { isObserved, notesOf } from "./call.ts";
import { visible } from "./card-text.ts";
import type { DroppedCounts } from "./chatter.ts";
import { appendBatch, Batch } from "./journal.ts";
import { denial } from "./judge.ts";
import type { Link } from "./link.ts";
import type { LiveRun } from "./live-run.ts";
import type { Scene, Shared } from "./scene.ts";

/** The run and the contract that a question belongs to. */
type Asking<Q> = { readonly live: LiveRun<Q>; readonly contract: ToolContract };

/** Characters of a server's name in a heading. */
const nameCharactersMax = 64;

/** The server's own question, or the params of the questions in its result. */
export type Asked = { readonly method: string; readonly params: JsonObject };

/** Whether a question wants a secret that the policy does not let it have; then it is on record, and people are told. */
export function refusesSecret<Q>(scene: Scene<Q>, { live, contract }: Asking<Q>, asked: readonly Asked[]): boolean {
  const { server, services } = scene;
  if (live.policy.permitsQuestions(server)) return false;
  if (!asked.some(({ method, params }) => method === "elicitation/create" && asksForSecret(params))) return false;
  const observed = isObserved(live, server);
  const outcome = observed ? "would have been refused" : "was refused";
  services.human.notify(`\`${shown(server)}\` asked for a secret in a form (api_key_request), which ${outcome}.`);
  if (observed) return false;
  recordRefused(scene, { live, contract }, denial("SG-API-KEY-REQUEST", { signal: "api_key_request", server }));
  return true;
}

/** A question that names no call, while several runs have calls open, was put to none: it is on record in each. */
export function recordUnplaced<Q>(
  shared: Shared<Q>,
  { server, chatter }: Pick<Link<Q>, "server" | "chatter">,
  { question, runs }: { readonly question: RequestMessage; readonly runs: readonly string[] },
): void {
  const { method } = question;
  for (const key of runs) {
    const live = shared.runs.find(key);
    if (live === undefined || !chatter.take(question, live)) continue;
    const contract = live.policy.contractOfMethod(server, method);
    recordRefused(shared, { live, contract }, denial("SG-QUESTION-UNPLACED", { server, method }));
  }
}

/** A server said too much beside its answers: how many messages were dropped is on record, and people are told. */
export function recordDropped<Q>(shared: Shared<Q>, server: string, dropped: DroppedCounts<Q>): void {
  for (const [live, messages] of dropped) {
    const contract = live.policy.contractOfMethod(server, droppedMethod);
    recordRefused(shared, { live, contract }, denial("SG-CHATTER", { server, messages }));
  }
  const total = [...dropped.values()].reduce((sum, messages) => sum + messages, 0);
  const text = `\`${shown(server)}\` says too much beside its answers: ${total} of its messages were dropped (SG-CHATTER).`;
  shared.services.human.notify(text);
}

/** Stands for whatever was said. */
const droppedMethod = "notifications/message";

function recordRefused<Q>(shared: Shared<Q>, { live, contract }: Asking<Q>, decision: Decision): void {
  const { runs, services } = shared;
  const { server, tool, output } = contract;
  const batch = new Batch<Q>();
  const at = services.clock.monotonicMs();
  const codes = decision.reasons.map(({ code }) => code);
  const release = { call: undefined, server, tool, how: "reject", label: output.label, fields: [], codes } as const;
  // A run that has ended meanwhile takes no event, and has the refusal on record all the same.
  if (!runs.fold(live, { kind: "released", at, ...release }, batch).ok) batch.parts.push({ live, events: [] });
  void appendBatch(services.log, batch, { decision, notes: notesOf(shared.nextId(), decision, false) });
}

/** The questions in a result that asks before it goes on. */
export function questionsIn(result: Json): readonly Asked[] {
  const requests = member(result, "inputRequests");
  return Object.values(isObject(requests) ? requests : {}).flatMap((request) => {
    const params = member(request, "params");
    return [{ method: stringMember(request, "method") ?? "", params: isObject(params) ? params : {} }];
  });
}

/** A question of its own as its person sees it. */
export function namedQuestion<Q>(scene: Scene<Q>, live: LiveRun<Q>, { method, params }: Asked): JsonObject {
  return method === "elicitation/create" && isNamed(scene, live) ? withHeading(params, heading(scene.server)) : params;
}

/** A result, or the value of an error, with the name of the server at every question in it. */
export function withNamedQuestions<Q>(scene: Scene<Q>, live: LiveRun<Q>, value: Json): Json {
  if (!isObject(value) || !isNamed(scene, live)) return value;
  const requests = member(value, "inputRequests");
  if (isObject(requests)) {
    const named = Object.entries(requests).map(([name, request]) => [name, namedRequest(scene.server, request)]);
    return { ...value, inputRequests: Object.fromEntries(named) };
  }
  // Error -32042 of 2025-11-25: the URLs that the person has to visit before the call can be done.
  const data = member(value, "data");
  const listed = member(data, "elicitations");
  if (!isObject(data) || !isArray(listed)) return value;
  const named = listed.map((params) => (isObject(params) ? withHeading(params, heading(scene.server)) : params));
  return { ...value, data: { ...data, elicitations: named } };
}

function namedRequest(server: string, request: Json): Json {
  const params = member(request, "params");
  if (!isObject(request) || member(request, "method") !== "elicitation/create") return request;
  return { ...request, params: withHeading(isObject(params) ? params : {}, heading(server)) };
}

function isNamed<Q>({ server }: Scene<Q>, live: LiveRun<Q>): boolean {
  return !live.policy.permitsQuestions(server) && !isObserved(live, server);
}

function heading(server: string): string {
  return `The server \`${shown(server)}\` asks:`;
}

function shown(server: string): string {
  return visible(server).slice(0, nameCharactersMax);
}
