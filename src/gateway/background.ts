/**
 * Calls that nobody waits for: the injected call of a must-rule (M3), and a call from the outbox (M4). They are judged
 * and recorded like any other; their result is not released.
 */
import type { JsonObject } from "../core/json.ts";
import { member } from "../core/json.ts";
import type { Decision } from "../core/decision.ts";
import type { Refusal } from "../core/render.ts";
import { decidingCodes } from "../core/render.ts";
import { resultTypeOf } from "../wire/modern.ts";
import type { Call } from "./call.ts";
import { callDigest, callMoment, isObserved } from "./call.ts";
import type { Catalogue } from "./catalogue.ts";
import { unattendedMeta } from "./client-facts.ts";
import { endingDecision, endsRun, forAllRuns, othersReady } from "./commitment.ts";
import type { Dispatched } from "./dispatch.ts";
import { recordDispatch, recordRefusal } from "./dispatch.ts";
import { appendBatch, Batch } from "./journal.ts";
import type { Judged } from "./judge.ts";
import { denial, judge } from "./judge.ts";
import { performWaitMsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import { ordersOf, unmetObligation } from "./obligations.ts";
import { guardingOwn } from "./own-files.ts";
import type { Exchange } from "./ports.ts";
import { errorValue } from "./released-answer.ts";
import type { Answered, Performed, PerformOrder, Scene } from "./scene.ts";
import { judgeDeeds, keepWrites } from "./deeds.ts";
import { closeWindow, concludeWrites, openWindow, revokeTrust } from "./windows.ts";

export type Unattended = "succeeded" | "failed" | "held" | "refused";

/** Nobody listens to this exchange. */
function deafExchange(params: JsonObject): Exchange {
  return {
    request: { kind: "request", id: "unattended", method: "tools/call", params },
    send: () => undefined,
    respond: () => undefined,
    onAbandoned: () => undefined,
  };
}

/** A call of the gateway itself, in the name of a run. */
export function orderedCall<Q>(
  scene: Scene<Q>,
  catalogue: Catalogue<Q>,
  live: LiveRun<Q>,
  order: PerformOrder & { readonly held?: string },
): Call<Q> {
  const contract = catalogue.contractOfTool(live.policy, order.tool);
  const params = { name: order.tool, arguments: order.arguments };
  const exchange = deafExchange(params);
  return {
    id: scene.nextId(),
    live,
    exchange,
    request: exchange.request,
    method: "tools/call",
    contract,
    arguments: order.arguments,
    digest: callDigest(contract, "tools/call", order.arguments, scene.services.secrets.hash),
    manifestDigest: catalogue.known("tools/list")?.digest,
    retry: undefined,
    held: order.held,
    cancelled: false,
    lost: false,
    option: undefined,
    performed: undefined,
    scope: undefined,
    windowed: false,
    warnings: [],
  };
}

/** A call that cannot be made since one that must come first did not succeed, and what its client is told. */
export type Missing = { readonly decision: Decision; readonly refusal: Refusal };

/** Makes the calls that must come before this one. */
export async function performAll<Q>(
  scene: Scene<Q>,
  call: Call<Q>,
  orders: ReturnType<typeof ordersOf>,
): Promise<Missing | undefined> {
  for (const order of orders) {
    const done = await scene.perform(call.live, order);
    if (done.kind !== "succeeded") return missing(order, done);
    (call.performed ??= new Set()).add(order.rule);
  }
  return undefined;
}

function missing({ server, tool }: PerformOrder, done: Performed): Missing {
  const needs = [`${server}.${tool}`];
  if (done.kind !== "quarantined")
    return { decision: denial("SG-MUST-FAILED", { needs }), refusal: { kind: "refused" } };
  const { approval } = done;
  const facts = { needs, quarantined: server };
  if (approval !== undefined)
    return { decision: denial("SG-MUST-FAILED", facts), refusal: { kind: "approvable", approval } };
  const way = `ask the user to look at decision ${done.decision}, which did not admit it`;
  return { decision: denial("SG-MUST-FAILED", facts, way), refusal: { kind: "refused" } };
}

/**
 * Judges and makes a call that nobody waits for. An injected call is itself under no injection (depth 1, `bare`); one
 * from the outbox is, and its injected calls are made first (`inject`).
 */
export async function callUnattended<Q>(scene: Scene<Q>, call: Call<Q>, must: "bare" | "inject"): Promise<Unattended> {
  const others = othersReady(scene, call.live, call.contract);
  if (others !== undefined) await others;
  let committed = await commit(scene, call, must);
  if (committed.kind === "perform") {
    const missing = await performAll(scene, call, committed.orders);
    if (missing !== undefined) return refuseFor(scene, call, missing.decision);
    committed = await commit(scene, call, must);
  }
  // What the rules want first was made just now; if they want more meanwhile, the call is not chased any further.
  if (committed.kind === "perform") return refuseFor(scene, call, denial("SG-ROUNDS"));
  if (committed.kind === "held" || committed.kind === "refused") return committed.kind;
  // Not on record, so not sent: what waited goes on waiting.
  if (!(await committed.durable)) return call.held === undefined ? "failed" : "held";
  return send(scene, call);
}

type Committed =
  | Dispatched
  | { readonly kind: "held" }
  | { readonly kind: "perform"; readonly orders: ReturnType<typeof ordersOf> };

function commit<Q>(scene: Scene<Q>, call: Call<Q>, must: "bare" | "inject"): Judged<Committed> {
  const { clock, oracle } = scene.services;
  return judge(call.live, { oracle }, callMoment(call, clock.monotonicMs()), (judged, answers): Committed => {
    const free = isObserved(call.live, call.contract.server);
    const decision = forAllRuns(scene, call, guardingOwn(scene, call, judged));
    if (!free && endsRun(decision)) return recordRefusal(scene, call, endingDecision(decision), answers);
    if (!free && decision.verdict === "allow" && decision.obligations.some(({ kind }) => kind === "hold")) {
      return { kind: "held" };
    }
    const may =
      free ||
      (decision.verdict === "allow" &&
        unmetObligation(decision.obligations, scene.projection() !== undefined) === undefined);
    const orders = may && !free && must === "inject" ? ordersOf(decision.obligations, call.performed) : [];
    if (orders.length > 0) return { kind: "perform", orders };
    return may
      ? recordDispatch(scene, call, { decision, answers, consent: undefined })
      : recordRefusal(scene, call, decision, answers);
  });
}

function refuseFor<Q>(scene: Scene<Q>, call: Call<Q>, decision: Decision): "refused" {
  recordRefusal(scene, call, decision, new Map());
  return "refused";
}

async function send<Q>(scene: Scene<Q>, call: Call<Q>): Promise<Unattended> {
  const opened = await openWindow(scene, call);
  if (!opened.ok) {
    closeWindow(scene, call);
    scene.services.human.notify(`${scene.server}.${call.contract.tool}: ${opened.error}`.slice(0, 240));
    await recordOutcome(scene, call, { kind: "failed", noEffect: true });
    return "failed";
  }
  const meta = unattendedMeta(scene.client);
  const params = {
    name: call.contract.tool,
    arguments: call.arguments,
    ...(meta === undefined ? {} : { _meta: meta }),
  };
  const wait = { ms: performWaitMsMax, run: call.live.key };
  const answer = await scene.askServer("tools/call", params, wait);
  closeWindow(scene, call);
  const outcome = await outcomeOf(scene, call, answer);
  return (await recordOutcome(scene, call, outcome)) && outcome.kind === "succeeded" ? "succeeded" : "failed";
}

type Outcome =
  | { readonly kind: "succeeded" }
  /** `codes`: why what it did was rejected; the server is held to account for it in the rest of the run. */
  | { readonly kind: "failed"; readonly noEffect: boolean; readonly codes?: readonly string[] }
  | { readonly kind: "unknown"; readonly cause: string };

/** What came of it. Where the server runs in a projection its deeds are judged, too: one out of scope unlocks nothing. */
async function outcomeOf<Q>(scene: Scene<Q>, call: Call<Q>, answer: Answered | undefined): Promise<Outcome> {
  if (answer === undefined) {
    keepWrites(scene, call);
    return { kind: "unknown", cause: "no answer in time" };
  }
  const failed = answer.kind !== "response" || member(answer.result, "isError") === true;
  // A question, or a task: what was to come first has not happened yet, and nobody is there to see it through.
  if (answer.kind === "response" && resultTypeOf(answer.result) !== "complete") {
    keepWrites(scene, call);
    return { kind: "unknown", cause: "it did not come to an end" };
  }
  const plain: Outcome = failed ? { kind: "failed", noEffect: false } : { kind: "succeeded" };
  const value = answer.kind === "response" ? answer.result : errorValue(answer.error);
  const deeds = await judgeDeeds(scene, call, { outcome: plain.kind, value });
  if (deeds === undefined) return plain;
  revokeTrust(scene, call, deeds);
  await concludeWrites(scene, call, deeds.how);
  if (deeds.how !== "reject") return plain;
  return { kind: "failed", noEffect: false, codes: decidingCodes(deeds.decision) };
}

function recordOutcome<Q>(scene: Scene<Q>, call: Call<Q>, result: Outcome): Promise<boolean> {
  const codes = result.kind === "failed" ? result.codes : undefined;
  const outcome = result.kind === "failed" ? ({ kind: "failed", noEffect: result.noEffect } as const) : result;
  const at = scene.services.clock.monotonicMs();
  const batch = new Batch<Q>();
  scene.runs.fold(call.live, { at, call: call.id, ...outcome }, batch);
  const { server, tool, output } = call.contract;
  const reject = {
    kind: "released",
    at,
    call: call.id,
    server,
    tool,
    how: "reject",
    label: output.label,
    fields: [],
    ...(codes === undefined ? {} : { codes }),
  } as const;
  scene.runs.fold(call.live, reject, batch);
  return appendBatch(scene.services.log, batch);
}
