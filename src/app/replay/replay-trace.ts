/**
 * Decides a trace with the engine itself: the same `step` and `evolve` as the gateway, no server, no transport. The
 * agent of a trace obeys everything it reads; what is asked is granted or refused as the caller says.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import { causeOf } from "../../core/explain/cause.ts";
import { traceJson } from "../../core/isolation/effect-record.ts";
import { type EffectTrace, traceQuestionKind } from "../../core/isolation/effect-trace.ts";
import { type Json, type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { type LabelRange, describe } from "../../core/label.ts";
import type { Answer, Question } from "../../core/opinion.ts";
import { predictionKind } from "../../core/questions/prediction.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { LoadedPolicy } from "../../gateway/ports/policy.ts";
import type { AskProgram } from "../policy/rule-programs.ts";
import { OfflineRun, unanswered } from "./driver.ts";
import type { Trace, TraceStep } from "./trace.ts";

export type ReplayedStep = {
  readonly tool: string;
  readonly verdict: Verdict;
  /** The run would not have been shown the tool. */
  readonly hidden: boolean;
  readonly rules: readonly string[];
  readonly codes: readonly string[];
  /** The deciding reason as a clause: the argument, the label that it carries, and the rule; empty where none objects. */
  readonly because: string;
  /** How the values of this call came to carry their labels. */
  readonly path: readonly {
    readonly step: string;
    readonly argument: string;
    readonly pointer: string;
    readonly label: string;
  }[];
  readonly release: "pass" | "withhold" | "reject" | "none";
};

/** The answer of the approver: `once` lets the asked call through, `value` also endorses its control arguments. */
export type Consent = "once" | "value" | "refuse";

export type ReplayOptions = {
  /** One answer to every question, or the answer to questions about one step, counted from 0. */
  readonly consent: Consent | ((step: number) => Consent);
  readonly workspace: readonly string[];
  readonly digest: (value: Json) => string;
  /** Asks the programs of rules; without it they are silent, and refuse. */
  readonly askProgram?: AskProgram;
};

type Replay = {
  readonly policy: LoadedPolicy;
  readonly options: ReplayOptions;
  readonly contracts: ReadonlyMap<string, ToolContract>;
  readonly run: OfflineRun;
};

/** Decides every call of a trace in order; other steps give no row. */
export function replayTrace(policy: LoadedPolicy, trace: Trace, options: ReplayOptions): readonly ReplayedStep[] {
  const contracts = new Map<string, ToolContract>();
  for (const [server, tools] of trace.servers) {
    for (const listed of tools) {
      const tool = stringMember(listed, "name") ?? "";
      const digest = trace.digests?.get(server)?.get(tool);
      contracts.set(`${server} ${tool}`, policy.contractOfTool(server, listed, digest));
    }
  }
  const owner = { key: "replay", principal: "replay", at: 0 };
  const run = new OfflineRun(policy.engine, (question) => answerTo(question, options), owner);
  const replay: Replay = { policy, options, contracts, run };
  if (trace.instruction !== undefined) run.instruct(trace.instruction);
  const rows: ReplayedStep[] = [];
  for (const [index, one] of trace.steps.entries()) {
    run.at = index + 1;
    if (one.kind === "user") run.instruct(one.text);
    else if (one.kind === "run") run.beginAnother(`replay ${index}`);
    else rows.push(replayCall(replay, one, index));
  }
  return rows;
}

/**
 * A trace is decided by the policy alone, so its world models, which can only restrict, object to nothing; judges of acts
 * are not asked. The programs of rules answer, and what a call did to a machine is known: nothing, since no server runs.
 */
function answerTo(question: Question, { askProgram }: ReplayOptions): Answer {
  const said = askProgram?.(question);
  if (said !== undefined) return said;
  if (question.kind === predictionKind) return { kind: "known", question, value: noForecast };
  if (question.kind !== traceQuestionKind) return unanswered("replay")(question);
  return { kind: "known", question, value: traceJson(nothingDone) };
}

const noForecast: Json = { safety: "safe", pUnsafe: 0, filteredTools: [] };

const nothingDone: EffectTrace = {
  tier: "remote",
  complete: true,
  dropped: 0,
  places: { home: "/", workspace: [], code: [], scratch: [] },
  events: [],
  changes: [],
};

function replayCall(replay: Replay, step: TraceStep & { kind: "call" }, index: number): ReplayedStep {
  const { run, options } = replay;
  const call = `step ${index + 1}`;
  const consent = typeof options.consent === "string" ? options.consent : options.consent(index);
  const { server, tool, arguments: given } = step;
  const contract = replay.contracts.get(`${server} ${tool}`);
  if (contract === undefined) throw new Error(`${server} lists no ${tool}`);
  const digest = options.digest([server, tool, given]);
  const asked = { call, contract, arguments: given, digest, workspace: options.workspace };
  const { moment, decision, answers } = run.ask(asked);
  const { verdict, option } = decision;
  // No entry of a list is hidden whose call could pass, so only refused calls are looked up there.
  const hidden = verdict === "deny" && run.decide({ kind: "expose", at: run.at, contract }).verdict === "deny";
  const consents = consent !== "refuse";
  const row = (release: ReplayedStep["release"]): ReplayedStep => rowOf(replay, tool, { decision, hidden }, release);
  if (verdict === "deny" || (verdict === "confirm" && !consents) || option === undefined) {
    run.refuse(moment, decision);
    return row("none");
  }
  if (verdict === "confirm" && consent === "value") endorse(replay, decision);
  run.dispatch(moment, option, answers);
  const handing = (judged: Verdict): "pass" | "withhold" | "reject" =>
    judged === "deny" ? "reject" : judged === "confirm" && !consents ? "withhold" : "pass";
  return row(handing(run.settle(moment, option, { value: resultOf(step), failed: step.isError, handing })));
}

/** An approver who endorses a value once is not asked about the same value again (gateway.md 5). */
function endorse({ policy: { lattice }, run }: Replay, { option }: Decision): void {
  for (const [name, label] of option?.arguments ?? []) {
    const contract = option?.contract;
    const role = (contract?.arguments.get(name) ?? contract?.rest)?.role ?? "content";
    if (role === "content" || (label.range.hi & lattice.untrustedBit) === 0) continue;
    const to: LabelRange = { lo: label.range.lo, hi: label.range.lo };
    const grant = { digest: label.digest, role, from: label.range, to, purpose: "replay", principal: "replay" };
    const expiresAt = Number.MAX_SAFE_INTEGER;
    run.fold({ kind: "granted", at: run.at, grant: { kind: "endorse", ...grant, expiresAt } });
  }
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

function rowOf(
  replay: Replay,
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
    because: decision.verdict === "allow" ? "" : (causeOf(decision) ?? ""),
    path,
    release: released,
  };
}
