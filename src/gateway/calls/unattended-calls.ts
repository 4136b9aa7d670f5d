/**
 * Calls without a waiting client: the injected call of a must-rule (M3), a call from the outbox and a compensation (M4).
 * They are committed like any other; their result is not released.
 */
import type { Decision } from "../../core/decision.ts";
import { type Refusal, decidingCodes } from "../../core/explain/render.ts";
import { member } from "../../core/json.ts";
import { resultTypeOf } from "../../wire/modern.ts";
import { denial } from "../decision/ask-loop.ts";
import { type Call, type DoubtSettled, type Waited, newCall } from "../decision/call.ts";
import { type CommitNeeds, commitCall, recordRefusal } from "../decision/commit.ts";
import { checkEffects, keepWrites } from "../decision/effect-check.ts";
import {
  type EffectNeeds,
  closeTraceWindow,
  concludeWrites,
  openTraceWindow,
  revokeTrust,
} from "../decision/effect-window.ts";
import { errorValue } from "../decision/client-answer.ts";
import type { Answered, ClientState, Performed, PerformOrder } from "../ports/conversation.ts";
import type { IdSource } from "../ports/ids.ts";
import { performWaitMsMax } from "../ports/limits.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { unattendedMeta } from "../upstream/client-facts.ts";
import type { Catalogue } from "../upstream/listed-tools.ts";
import type { HeldCalls } from "./outbox.ts";
import type { LinkSeat } from "../upstream/link-seat.ts";
import { notice } from "../decision/notice.ts";

/** Makes calls in the name of a run at any server that it reaches. */
export interface RunServers extends HeldCalls {
  /** A call that a must-rule orders, on the run's connection to its server; without an attendance it is injected. */
  perform(live: LiveRun, order: PerformOrder, attendance?: Ordered): Promise<Performed>;
}

/** How a call that a rule orders comes: before another one, or at the end of a run. */
export type Ordered = "injected" | "compensation";

export type UnattendedNeeds = CommitNeeds &
  EffectNeeds & {
    readonly ids: IdSource;
    readonly client: ClientState;
    readonly link: LinkSeat;
    readonly servers: RunServers;
  };

/** `doubtful`: it may have been made already, and no user is there to decide whether to make it again. */
export type Unattended = "succeeded" | "failed" | "held" | "refused" | "doubtful";

/** A call of the gateway itself, in the name of a run. */
export function orderedCall(
  needs: Pick<UnattendedNeeds, "ids" | "services" | "link">,
  catalogue: Catalogue,
  live: LiveRun,
  order: PerformOrder & { readonly held?: Waited; readonly settled?: DoubtSettled | undefined },
): Call {
  return newCall(needs, {
    live,
    method: "tools/call",
    contract: catalogue.contractOfTool(live.policy, order.tool),
    arguments: order.arguments,
    isolated: () => needs.link.projection !== undefined,
    manifestDigest: catalogue.known("tools/list")?.digest,
    held: order.held,
    settled: order.settled,
  });
}

/** Decision and refusal for a call that cannot be made because a required earlier call did not succeed. */
export type Missing = { readonly decision: Decision; readonly refusal: Refusal };

/** Makes the calls that must come before this one, in order; gives the first that did not succeed, or undefined. */
export async function performAll(
  servers: RunServers,
  call: Call,
  orders: readonly (PerformOrder & { readonly rule: string })[],
): Promise<Missing | undefined> {
  for (const order of orders) {
    const done = await servers.perform(call.live, order);
    if (done.kind !== "succeeded") return missing(order, done);
    (call.performed ??= new Set()).add(order.rule);
  }
  return undefined;
}

function missing({ server, tool }: PerformOrder, done: Performed): Missing {
  const needs = [`${server}.${tool}`];
  if (done.kind !== "quarantined" && done.kind !== "changed") {
    const facts = done.kind === "unlisted" ? { needs, unlisted: tool } : { needs };
    return { decision: denial("SG-MUST-FAILED", facts), refusal: { kind: "refused" } };
  }
  const { approval } = done;
  const facts = done.kind === "changed" ? { needs, changed: tool } : { needs, quarantined: server };
  if (approval !== undefined)
    return { decision: denial("SG-MUST-FAILED", facts), refusal: { kind: "approvable", approval } };
  const way = `ask the user to look at decision ${done.decision}, which did not admit it`;
  return { decision: denial("SG-MUST-FAILED", facts, way), refusal: { kind: "refused" } };
}

/** Commits and makes a call without a waiting client. */
export async function callUnattended(
  needs: UnattendedNeeds,
  call: Call,
  attendance: Ordered | "outbox",
): Promise<Unattended> {
  let committed = await commitCall(needs, call, attendance);
  if (committed.kind === "perform") {
    const absent = await performAll(needs.servers, call, committed.orders);
    if (absent !== undefined) return refuseFor(needs, call, absent.decision);
    committed = await commitCall(needs, call, attendance);
  }
  switch (committed.kind) {
    // The calls that the rules require first were just made; if the rules now require more, this call is refused.
    case "perform":
      return refuseFor(needs, call, denial("SG-ROUNDS"));
    case "held":
      return "held";
    case "refused":
      return isDoubt(committed.decision) ? "doubtful" : "refused";
    // Neither can occur: an unattended call asks no user, and no client can cancel it.
    case "confirm":
    case "dropped":
      return "refused";
    case "dispatched":
      // Not on record, so not sent: a held call goes on waiting.
      if (!(await committed.durable)) return call.held === undefined ? "failed" : "held";
      return send(needs, call);
  }
}

const causes: Readonly<Record<Exclude<Unattended, "succeeded">, string>> = {
  failed: "it did not succeed",
  held: "a rule holds it",
  refused: "the policy does not permit it",
  doubtful: "the same call may have been made already",
};

/** The outcome of a call that a rule ordered. */
export function performed(outcome: Unattended): Performed {
  return outcome === "succeeded" ? { kind: "succeeded" } : { kind: "failed", cause: causes[outcome] };
}

function isDoubt({ reasons: [first] }: Decision): boolean {
  return first?.code === "SG-MAYBE-DONE" || first?.code === "SG-RESULT-LOST";
}

function refuseFor(needs: UnattendedNeeds, call: Call, decision: Decision): "refused" {
  recordRefusal(needs, call, { decision, answers: new Map() });
  return "refused";
}

async function send(needs: UnattendedNeeds, call: Call): Promise<Unattended> {
  const { server, tool } = call.contract;
  const opened = await openTraceWindow(needs, call);
  if (!opened.ok) {
    closeTraceWindow(needs, call);
    needs.services.human.notify(notice(`${server}.${tool}: ${opened.error}`));
    await recordOutcome(needs, call, { kind: "failed", noEffect: true });
    return "failed";
  }
  const meta = unattendedMeta(needs.client);
  const params = { name: tool, arguments: call.arguments, ...(meta === undefined ? {} : { _meta: meta }) };
  const answer = await needs.link.ask("tools/call", params, { ms: performWaitMsMax, run: call.live.key });
  closeTraceWindow(needs, call);
  const outcome = await outcomeOf(needs, call, answer);
  return (await recordOutcome(needs, call, outcome)) && outcome.kind === "succeeded" ? "succeeded" : "failed";
}

type Outcome =
  | { readonly kind: "succeeded" }
  /**
   * `codes`: the reasons for which its effects were rejected; the server is held to account for it in the rest of the
   * run.
   */
  | { readonly kind: "failed"; readonly noEffect: boolean; readonly codes?: readonly string[] }
  | { readonly kind: "unknown"; readonly cause: string };

/**
 * The outcome of a call. Where the server runs in a projection the effects are judged, too: one out of scope unlocks
 * nothing.
 */
async function outcomeOf(needs: UnattendedNeeds, call: Call, answer: Answered | undefined): Promise<Outcome> {
  if (answer === undefined) {
    keepWrites(needs, call);
    return { kind: "unknown", cause: "no answer in time" };
  }
  const failed = answer.kind !== "response" || member(answer.result, "isError") === true;
  // A question or a task: the required call has not happened yet, and no client is there to complete it.
  if (answer.kind === "response" && resultTypeOf(answer.result) !== "complete") {
    keepWrites(needs, call);
    return { kind: "unknown", cause: "it did not come to an end" };
  }
  const plain: Outcome = failed ? { kind: "failed", noEffect: false } : { kind: "succeeded" };
  const value = answer.kind === "response" ? answer.result : errorValue(answer.error);
  const deeds = await checkEffects(needs, call, { outcome: plain.kind, value });
  if (deeds === undefined) return plain;
  revokeTrust(needs, call, deeds);
  await concludeWrites(needs, call, deeds.how);
  if (deeds.how !== "reject") return plain;
  return { kind: "failed", noEffect: false, codes: decidingCodes(deeds.decision) };
}

function recordOutcome(needs: UnattendedNeeds, call: Call, result: Outcome): Promise<boolean> {
  const codes = result.kind === "failed" ? result.codes : undefined;
  const outcome = result.kind === "failed" ? ({ kind: "failed", noEffect: result.noEffect } as const) : result;
  const at = needs.services.clock.monotonicMs();
  const batch = new EventBatch();
  needs.runs.fold(call.live, { at, call: call.id, ...outcome }, batch);
  const { server, tool, output } = call.contract;
  const release = { call: call.id, server, tool, how: "reject", label: output.label, fields: [] } as const;
  const why = codes === undefined ? {} : { codes };
  needs.runs.fold(call.live, { kind: "released", at, ...release, ...why }, batch);
  return appendBatch(needs.services.log, batch);
}
