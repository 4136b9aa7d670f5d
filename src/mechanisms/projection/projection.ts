/**
 * Isolated projection (MCPShield 4.3): each call of a server with an order runs in its scope, and its result is passed on
 * only when what the call did has been judged. Nothing here lifts what another mechanism says; a result is rejected,
 * asked about, or labelled.
 */
import type { RunEvent } from "../../core/event.ts";
import { traceFrom } from "../../core/effect-record.ts";
import type { EffectTrace } from "../../core/effect-trace.ts";
import { traceQuestion } from "../../core/effect-trace.ts";
import { exactly, joinRanges, trustOf } from "../../core/label.ts";
import type { Mechanism } from "../../core/mechanism.ts";
import type { CallMoment, CallOption, ReleaseMoment } from "../../core/moment.ts";
import type { Answer, Answers, Obligation, Opinion, Reason } from "../../core/opinion.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { IsolationOrder } from "../../core/scope.ts";
import { contractFor } from "../../policy/ir.ts";
import { calledOf, callScopeText, destinationsOf } from "./call-scope.ts";
import type { Grounds } from "./grounds.ts";
import { groundsOf, shown } from "./grounds.ts";
import { domainsIn, domainsQuestion, effectsIn, effectsQuestion, judgeFinding } from "./judge-questions.ts";
import { gapIn, isUnconfined, judgeTrace } from "./judgement.ts";
import type { Memory } from "./memory.ts";
import { isDistrusted, nothingRemembered, rememberedAfter } from "./memory.ts";
import { evidenceReason, projectionId, reasonsOf, revocation } from "./reasons.ts";
import { reflected } from "./reflection.ts";
import type { ProjectionSettings } from "./settings.ts";

export function makeProjection<Q>(settings: ProjectionSettings): Mechanism<Memory, Q> {
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
          if (order === undefined || call === undefined) return noObjection;
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

/** The trace in an answer, the reason why there is none, or `open` while nobody was asked. */
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
  // Who only watches waits for nothing: evidence that is not there yet decides nothing here.
  if (trace === undefined) return learns ? noObjection : { kind: "needs", questions: [question] };
  if (typeof trace === "string") return settled([evidenceReason(order.server, trace, learns)]);
  const remembered = memory.calls.get(call);
  const option = remembered?.option ?? moment.option;
  const about =
    option === undefined ? undefined : calledOf(order, { arguments: {}, ...remembered, option }, settings.lattice);
  const grounds = groundsOf(order, trace, about, settings.judge?.domains === true);
  const reasons = reasonsFor(ground, grounds, option);
  if (!("kind" in reasons)) return settled(reasons, obligations(ground, moment, grounds, reasons));
  return reasons;
}

/** Reasons against a result, or the question that has to be answered first. */
function reasonsFor(
  { settings, order, answers }: Ground,
  grounds: Grounds,
  option: CallOption | undefined,
): readonly Reason[] | Extract<Opinion, { kind: "needs" }> {
  const learns = order.mode === "learn";
  const { called: about, trace } = grounds;
  const tool = shown(about === undefined ? order.server : `${order.server}.${about.tool}`);
  const gap = gapIn(grounds);
  const missing = gap === undefined ? [] : [evidenceReason(order.server, gap, learns)];
  const { violations, suspicions, open, heard } = judgeTrace(grounds, settings.unjudged);
  const found = [...violations, ...suspicions];
  const certain = missing.length > 0 || violations.some(({ verdict }) => verdict === "deny");
  const asks = settings.judge?.effects === true && !learns && !certain && open.length + suspicions.length > 0;
  if (!asks || option === undefined || about === undefined || settings.judge === undefined) {
    return [...missing, ...reasonsOf(found, tool, learns)];
  }
  const shownEvents = open.length > 0 ? open : heard;
  const judged = { events: shownEvents, changes: trace.changes, findings: found };
  const question = effectsQuestion(settings, { option, called: about }, judged);
  const verdict = effectsIn(answers, question);
  if (verdict === "open") return { kind: "needs", questions: [question] };
  const distrust = verdict === undefined ? [] : judgeFinding(verdict, settings.judge.onDistrust);
  return reasonsOf([...found, ...distrust], tool, learns);
}

/** What has to be done with the result, and with its server. */
function obligations(
  { settings: { lattice }, order, memory }: Ground,
  { contract, option }: ReleaseMoment,
  { trace }: Grounds,
  reasons: readonly Reason[],
): readonly Obligation[] {
  const found: Obligation[] = [];
  if (isUnconfined(trace) || isDistrusted(memory, order.server)) {
    // All that a release is labelled with where nobody else says so, and no trust: this label must not stand for less.
    const { output } = option === undefined ? contract : contractFor(option.contract, option.class.truths);
    let range = joinRanges(output.label, exactly(trustOf(lattice, lattice.top)));
    for (const argument of option?.arguments.values() ?? []) range = joinRanges(range, argument.range);
    found.push({ kind: "label", range, fields: [] });
  }
  return [...found, ...revocation(order, reasons)];
}
