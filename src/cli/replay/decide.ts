/**
 * Decides a trace with the engine itself: the same `step` and `evolve` as the gateway, no server, no transport. The
 * agent of a trace obeys everything it reads; what is asked is granted or refused as the caller says.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { traceJson } from "../../core/effect-record.ts";
import type { EffectTrace } from "../../core/effect-trace.ts";
import { traceQuestionKind } from "../../core/effect-trace.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, member, stringMember } from "../../core/json.ts";
import type { LabelRange } from "../../core/label.ts";
import { describe, unknownRange } from "../../core/label.ts";
import { begin } from "../../core/mechanism.ts";
import type { CallMoment, Moment, ReleaseMoment } from "../../core/moment.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import type { Run } from "../../core/run.ts";
import { evolve, step } from "../../core/step.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { LoadedPolicy } from "../../gateway/policy-port.ts";
import type { AskProgram } from "../programs.ts";
import type { Trace, TraceStep } from "./trace.ts";

export type ReplayedStep = {
  readonly tool: string;
  readonly verdict: Verdict;
  /** The run would not have been shown the tool. */
  readonly hidden: boolean;
  readonly rules: readonly string[];
  readonly codes: readonly string[];
  /** How the values of this call came to carry their labels. */
  readonly path: readonly {
    readonly step: string;
    readonly argument: string;
    readonly pointer: string;
    readonly label: string;
  }[];
  readonly release: "pass" | "withhold" | "reject" | "none";
};

export type ReplayOptions = {
  /** What a person would answer: `once` lets the asked call through, `value` also endorses its control arguments. */
  readonly consent: "once" | "value" | "refuse";
  readonly workspace: readonly string[];
  readonly digest: (value: Json) => string;
  /** Who asks the programs of rules; without it they are silent, and refuse. */
  readonly askProgram?: AskProgram;
};

type Replay<Q> = {
  readonly policy: LoadedPolicy<Q>;
  readonly options: ReplayOptions;
  readonly contracts: ReadonlyMap<string, ToolContract>;
  run: Run<Q>;
  at: number;
};

/** Decides every call of a trace in order; steps that are no calls give no row. */
export function replayTrace<Q>(policy: LoadedPolicy<Q>, trace: Trace, options: ReplayOptions): readonly ReplayedStep[] {
  const contracts = new Map<string, ToolContract>();
  for (const [server, tools] of trace.servers) {
    for (const listed of tools) {
      const tool = stringMember(listed, "name") ?? "";
      const digest = trace.digests?.get(server)?.get(tool);
      contracts.set(`${server} ${tool}`, policy.contractOfTool(server, listed, digest));
    }
  }
  const replay: Replay<Q> = { policy, options, contracts, run: begin(policy.engine, "replay", undefined), at: 0 };
  fold(replay, { kind: "begun", at: 0, principal: "replay" });
  if (trace.instruction !== undefined) register(replay, trace.instruction);
  const rows: ReplayedStep[] = [];
  for (const [index, one] of trace.steps.entries()) {
    replay.at = index + 1;
    if (one.kind === "user") register(replay, one.text);
    else if (one.kind === "run") replay.run = begin(policy.engine, `replay ${index}`, replay.run.q);
    else rows.push(replayCall(replay, one, `step ${index + 1}`));
  }
  return rows;
}

function register<Q>(replay: Replay<Q>, text: string): void {
  fold(replay, { kind: "registered", at: replay.at, text: { source: "instruction", value: text } });
}

/** A trace whose events are no moves of the model cannot go on: it would be decided on a state that never was. */
function fold<Q>(replay: Replay<Q>, event: RunEvent): void {
  const next = evolve(replay.policy.engine, replay.run, event);
  if (!next.ok) throw new Error(`replay left the model: ${next.error}`);
  replay.run = next.value;
}

function decide<Q>(replay: Replay<Q>, moment: Moment): Decision {
  const found = step(replay.policy.engine, replay.run, moment, new Map());
  if (found.kind === "decided") return found.decision;
  const answers = new Map(found.questions.map((question) => [question.key, answerTo(question, replay.options)]));
  const again = step(replay.policy.engine, replay.run, moment, answers);
  if (again.kind === "decided") return again.decision;
  throw new Error("a mechanism asks without end");
}

/**
 * No model answers in a replay: its questions are unavailable, as they would be with no oracle configured. The programs of
 * rules do, and what a call did to a machine is known: nothing, since no server runs.
 */
function answerTo(question: Question, { askProgram }: ReplayOptions): Answer {
  const said = askProgram?.(question);
  if (said !== undefined) return said;
  if (question.kind !== traceQuestionKind) return { kind: "unavailable", question, cause: "replay" };
  return { kind: "known", question, value: traceJson(nothingDone) };
}

const nothingDone: EffectTrace = {
  tier: "remote",
  complete: true,
  dropped: 0,
  places: { home: "/", workspace: [], code: [], scratch: [] },
  events: [],
  changes: [],
};

function replayCall<Q>(replay: Replay<Q>, call: TraceStep & { kind: "call" }, name: string): ReplayedStep {
  const contract = replay.contracts.get(`${call.server} ${call.tool}`);
  if (contract === undefined) throw new Error(`${call.server} lists no ${call.tool}`);
  const { at, options } = replay;
  const digest = options.digest([call.server, call.tool, call.arguments]);
  const moment: CallMoment = {
    kind: "call",
    at,
    call: name,
    method: "tools/call",
    contract,
    arguments: call.arguments,
    workspace: options.workspace,
    digest,
  };
  fold(replay, { kind: "requested", at, call: name, server: call.server, tool: call.tool, digest });
  const decision = decide(replay, moment);
  const hidden = decision.verdict === "deny" && isHidden(replay, contract);
  const goes = decision.verdict === "allow" || (decision.verdict === "confirm" && options.consent !== "refuse");
  const row = (release: ReplayedStep["release"]): ReplayedStep =>
    rowOf(replay, call.tool, { decision, hidden }, release);
  if (!goes || decision.option === undefined) {
    fold(replay, { kind: "refused", at, call: name, codes: decision.reasons.map((reason) => reason.code) });
    return row("none");
  }
  if (decision.verdict === "confirm" && options.consent === "value") endorse(replay, decision);
  const event = { call: name, method: "tools/call", option: decision.option, arguments: call.arguments, digest };
  fold(replay, { kind: "allowed", at, ...event });
  fold(replay, { kind: "sent", at, call: name });
  fold(
    replay,
    call.isError ? { kind: "failed", at, call: name, noEffect: false } : { kind: "succeeded", at, call: name },
  );
  return row(release(replay, moment, call, decision));
}

/** What a list would leave out now: no entry is hidden whose call could pass, so only refused calls come here. */
function isHidden<Q>(replay: Replay<Q>, contract: ToolContract): boolean {
  return decide(replay, { kind: "expose", at: replay.at, contract }).verdict === "deny";
}

/** A person who endorses a value once is not asked about the same value again (gateway.md 5). */
function endorse<Q>(replay: Replay<Q>, decision: Decision): void {
  const { lattice } = replay.policy;
  for (const [name, label] of decision.option?.arguments ?? []) {
    const contract = decision.option?.contract;
    const role = (contract?.arguments.get(name) ?? contract?.rest)?.role ?? "content";
    if (role === "content" || (label.range.hi & lattice.untrustedBit) === 0) continue;
    const to: LabelRange = { lo: label.range.lo, hi: label.range.lo };
    const grant = { digest: label.digest, role, from: label.range, to, purpose: "replay", principal: "replay" };
    fold(replay, {
      kind: "granted",
      at: replay.at,
      grant: { kind: "endorse", ...grant, expiresAt: Number.MAX_SAFE_INTEGER },
    });
  }
}

function release<Q>(
  replay: Replay<Q>,
  moment: CallMoment,
  call: TraceStep & { kind: "call" },
  decision: Decision,
): "pass" | "withhold" | "reject" {
  const { at } = replay;
  const value = resultOf(call);
  const released: ReleaseMoment = {
    kind: "release",
    at,
    call: moment.call,
    contract: moment.contract,
    option: decision.option,
    outcome: call.isError ? "failed" : "succeeded",
    value,
  };
  const judged = decide(replay, released);
  const consents = replay.options.consent !== "refuse";
  const passes = judged.verdict === "allow" || (judged.verdict === "confirm" && consents);
  const how: "pass" | "withhold" | "reject" = passes ? "pass" : judged.verdict === "confirm" ? "withhold" : "reject";
  const obliged = judged.obligations.find((one) => one.kind === "label");
  const label = obliged?.range ?? unknownRange(replay.policy.lattice);
  const common = { kind: "released" as const, at, call: moment.call, server: call.server, tool: call.tool, how, label };
  fold(replay, { ...common, fields: obliged?.fields ?? [], ...(how === "pass" ? { value } : {}) });
  return how;
}

/** A result as a server would send it: traces may give a whole CallToolResult, structured data, or text. */
function resultOf(call: TraceStep & { kind: "call" }): JsonObject {
  const { result } = call;
  if (
    isObject(result) &&
    (member(result, "content") !== undefined || member(result, "structuredContent") !== undefined)
  ) {
    return result;
  }
  if (result === undefined || typeof result === "string") return { content: [{ type: "text", text: result ?? "" }] };
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

function rowOf<Q>(
  replay: Replay<Q>,
  tool: string,
  { decision, hidden }: { readonly decision: Decision; readonly hidden: boolean },
  released: ReplayedStep["release"],
): ReplayedStep {
  const { lattice } = replay.policy;
  const path = [...(decision.option?.arguments ?? [])].flatMap(([argument, label]) =>
    label.path.map((one) => ({
      step: one.server === undefined ? one.origin : `${one.server}.${one.tool ?? ""}`,
      argument,
      pointer: one.pointer,
      label: describe(lattice, one.label),
    })),
  );
  return {
    tool,
    verdict: decision.verdict,
    hidden,
    rules: decision.reasons.flatMap((reason) => reason.rule ?? []),
    codes: decision.reasons.map((reason) => reason.code),
    path,
    release: released,
  };
}
