/**
 * Isolated projection (MCPShield 4.3): each call of a server with an order runs in its scope, and its result is passed on
 * only when what the call did has been judged. Nothing here lifts what another mechanism says; a result is rejected,
 * asked about, or labelled.
 */
import type { RunEvent } from "../../core/event.ts";
import { traceFrom } from "../../core/isolation/effect-record.ts";
import { type EffectTrace, traceQuestion } from "../../core/isolation/effect-trace.ts";
import { exactly, joinRanges, trustOf } from "../../core/label.ts";
import type { Mechanism } from "../../core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../core/moment.ts";
import {
  type Answer,
  type Answers,
  type Obligation,
  type Opinion,
  type Reason,
  noObjection,
  settled,
} from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import { contractFor } from "../../policy/ir/ir.ts";
import { calledOf, callScopeText, destinationsOf } from "./call-scope.ts";
import { type Grounds, groundsOf, shown } from "./grounds.ts";
import { domainsIn, domainsQuestion, effectsIn, effectsQuestion, judgeFinding } from "./judge-questions.ts";
import { gapIn, isUnconfined, judgeTrace } from "./judgement.ts";
import { evidenceReason, projectionId, reasonsOf, revocation, ownCodes } from "./reasons.ts";
import { reflected } from "./reflection.ts";
import type { ProjectionSettings } from "./settings.ts";
import { callsInFlightMax } from "../../core/limits.ts";
import type { JsonObject } from "../../core/json.ts";

export function makeProjection(settings: ProjectionSettings): Mechanism<Memory> {
  const orderOf = (server: string): IsolationOrder | undefined => {
    const order = settings.order(server);
    return order?.mode === "off" ? undefined : order;
  };
  const isolated = (server: string): boolean => orderOf(server) !== undefined;
  return {
    id: projectionId,
    version: 1,
    initial: () => nothingRemembered,
    remember: (memory, event: RunEvent) => rememberedAfter(memory, event, isolated),
    consider: ({ moment, option }, _run, memory, answers) => {
      switch (moment.kind) {
        case "call": {
          const order = orderOf(moment.contract.server);
          if (order === undefined || option === undefined) return noObjection;
          return called({ settings, order, memory, answers }, moment, option);
        }
        case "release": {
          const order = orderOf(moment.contract.server);
          const call = moment.call ?? moment.during;
          if (order === undefined) return noObjection;
          if (call === undefined) return besideCalls(order, memory);
          return released({ settings, order, memory, answers }, moment, call);
        }
        case "reflect": {
          const order = moment.server === undefined ? undefined : orderOf(moment.server);
          return order === undefined ? noObjection : reflected(settings, order, answers);
        }
        case "admit":
        case "expose":
          return noObjection;
      }
    },
  };
}

type Ground = {
  readonly settings: ProjectionSettings;
  readonly order: IsolationOrder;
  readonly memory: Memory;
  readonly answers: Answers;
};

function called(ground: Ground, moment: CallMoment, option: CallOption): Opinion {
  const { settings, order, memory, answers } = ground;
  const call = { option, arguments: moment.arguments };
  const own = destinationsOf(order, call, settings.lattice);
  const asked =
    settings.judge?.domains === true && order.scope.net.mode === "list"
      ? domainsQuestion(settings, call, [...own, ...order.scope.net.allow])
      : undefined;
  if (asked !== undefined && !answers.has(asked.question.key)) return { kind: "needs", questions: [asked.question] };
  const chosen = asked === undefined ? [] : domainsIn(answers, asked.question, asked.candidates);
  const isolate: Obligation = { kind: "isolate", scope: callScopeText(order, [...own, ...chosen]) };
  if (order.mode === "learn" || !isDistrusted(memory, order.server)) return settled([], [isolate]);
  const reason: Reason = {
    mechanism: projectionId,
    code: "SG-DISTRUST",
    verdict: "confirm",
    facts: { server: order.server },
    way: "use another server, or start a new run",
  };
  return settled([reason], [isolate]);
}

/** A text beside all calls: of a server that went out of its scope it may be what a rejected result would have said. */
function besideCalls(order: IsolationOrder, memory: Memory): Opinion {
  if (order.mode === "learn" || !isDistrusted(memory, order.server)) return noObjection;
  const facts = { server: order.server };
  const way = "use another server, or start a new run";
  return settled([{ mechanism: projectionId, code: "SG-DISTRUST", verdict: "deny", facts, way }]);
}

/** The trace in an answer, the reason why there is none as a clause, or undefined before there is an answer. */
function traceIn(answer: Answer | undefined): EffectTrace | string | undefined {
  if (answer === undefined) return undefined;
  if (answer.kind === "unavailable") return answer.cause;
  return traceFrom(answer.value) ?? "the trace cannot be read";
}

function released(ground: Ground, moment: ReleaseMoment, call: string): Opinion {
  const { settings, order, memory, answers } = ground;
  const learns = order.mode === "learn";
  const question = traceQuestion(projectionId, order.server, call);
  const trace = traceIn(answers.get(question.key));
  // Mode `learn` does not wait: missing evidence decides nothing here.
  if (trace === undefined) return learns ? noObjection : { kind: "needs", questions: [question] };
  if (typeof trace === "string") return settled([evidenceReason(order.server, trace, learns)]);
  const remembered = memory.calls.get(call);
  const option = remembered?.option ?? moment.option;
  const about =
    option === undefined ? undefined : calledOf(order, { arguments: {}, ...remembered, option }, settings.lattice);
  const grounds = groundsOf(order, trace, about, settings.judge?.domains === true);
  const reasons = reasonsFor(ground, grounds, option && { option, arguments: remembered?.arguments ?? {} });
  if (!("kind" in reasons)) return settled(reasons, obligations(ground, moment, grounds, reasons));
  return reasons;
}

/** Reasons against a result, or the question that has to be answered first. */
function reasonsFor(
  { settings, order, memory, answers }: Ground,
  grounds: Grounds,
  call: Remembered | undefined,
): readonly Reason[] | Extract<Opinion, { kind: "needs" }> {
  const learns = order.mode === "learn";
  const { called: about, trace } = grounds;
  const tool = shown(about === undefined ? order.server : `${order.server}.${about.tool}`);
  const gap = gapIn(grounds);
  const missing = gap === undefined ? [] : [evidenceReason(order.server, gap, learns)];
  const { violations, suspicions, open, heard } = judgeTrace(grounds, settings.judge?.programs);
  const found = [...violations, ...suspicions];
  const certain = missing.length > 0 || violations.some(({ verdict }) => verdict === "deny");
  // A server that went out of its scope earlier in the run is no longer trusted.
  const exempt = settings.unjudged?.has(order.server) === true && !isDistrusted(memory, order.server);
  const asks =
    settings.judge?.effects === true && !exempt && !learns && !certain && open.length + suspicions.length > 0;
  if (!asks || call === undefined || about === undefined || settings.judge === undefined) {
    return [...missing, ...reasonsOf(found, tool, learns)];
  }
  const shownEvents = open.length > 0 ? open : heard;
  const judged = { events: shownEvents, changes: trace.changes, findings: found };
  const question = effectsQuestion(settings, { ...call, called: about }, judged);
  const verdict = effectsIn(answers, question);
  if (verdict === "open") return { kind: "needs", questions: [question] };
  const distrust = verdict === undefined ? [] : judgeFinding(verdict, settings.judge.onDistrust);
  return reasonsOf([...found, ...distrust], tool, learns);
}

/** Obligations about the result, and about its server. */
function obligations(
  { settings: { lattice }, order, memory }: Ground,
  { contract, option }: ReleaseMoment,
  { trace }: Grounds,
  reasons: readonly Reason[],
): readonly Obligation[] {
  const found: Obligation[] = [];
  // By default nothing is promised of a server that cannot be isolated here: it has the labels that it had without.
  const unconfined = isUnconfined(trace) && order.mode !== "where-possible";
  if (unconfined || isDistrusted(memory, order.server)) {
    // All restrictions of a release that no other mechanism labels, and no trust: this label must not stand for less.
    const { output } = option === undefined ? contract : contractFor(option.contract, option.class.truths);
    let range = joinRanges(output.label, exactly(trustOf(lattice, lattice.top)));
    for (const argument of option?.arguments.values() ?? []) range = joinRanges(range, argument.range);
    found.push({ kind: "label", range, fields: [] });
  }
  return [...found, ...revocation(order, reasons)];
}

/** Servers remembered as distrusted. A policy has far fewer; beyond it every server is. */
export const distrustedMax = 256;

type Remembered = { readonly option: CallOption; readonly arguments: JsonObject };

export type Memory = {
  readonly calls: ReadonlyMap<string, Remembered>;
  readonly distrusted: ReadonlySet<string>;
};

export const nothingRemembered: Memory = { calls: new Map(), distrusted: new Set() };

export function isDistrusted({ distrusted }: Memory, server: string): boolean {
  return distrusted.has(server) || distrusted.size >= distrustedMax;
}

/** `isolated` says whether a server has an order: calls of others need not be kept. */
function rememberedAfter(memory: Memory, event: RunEvent, isolated: (server: string) => boolean): Memory {
  switch (event.kind) {
    case "dispatched": {
      const { call, option, arguments: given } = event;
      if (!isolated(option.contract.server)) return memory;
      // The gateway refuses more calls at once than this; the oldest one here can only be one that never ended.
      const kept = [...memory.calls].slice(-(callsInFlightMax - 1));
      return { ...memory, calls: new Map([...kept, [call, { option, arguments: given }]]) };
    }
    case "released": {
      const violated = event.codes?.some((code) => ownCodes.has(code)) === true && event.how === "reject";
      const ended = event.call !== undefined && memory.calls.has(event.call) && event.how !== "withhold";
      if (!violated && !ended) return memory;
      const calls = new Map(memory.calls);
      if (event.call !== undefined) calls.delete(event.call);
      return { calls, distrusted: violated ? new Set([...memory.distrusted, event.server]) : memory.distrusted };
    }
    case "ended":
      return { ...memory, calls: new Map() };
    case "begun":
    case "registered":
    case "refused":
    case "succeeded":
    case "failed":
    case "unknown":
    case "foreseen":
    case "granted":
      return memory;
  }
}
