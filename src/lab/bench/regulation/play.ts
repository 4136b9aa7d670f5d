/**
 * Plays the steps of a scenario on an engine: before each call the list is judged, then the call, then its result. The
 * agent makes the calls of the scenario, whatever the list shows.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { Decision } from "../../../core/decision.ts";
import { type Json, type JsonObject, isObject } from "../../../core/json.ts";
import type { Engine } from "../../../core/mechanism.ts";
import type { Moment } from "../../../core/moment.ts";
import type { Question } from "../../../core/opinion.ts";
import type { Run } from "../../../core/run.ts";
import { type Verdict, stricter } from "../../../core/verdict.ts";
import { digest } from "../../../wire/canonical.ts";
import { sha256 } from "../../../app/policy/policy-source.ts";
import { type AnswerTo, decide as decideOffline, OfflineRun, unanswered } from "../../../app/replay/driver.ts";
import type { Step } from "./scenario.ts";

export type PlayedStep = {
  readonly step: Step;
  /** Tools that the list before the call left out; undefined where there is no call. */
  readonly hidden: ReadonlySet<string> | undefined;
  readonly verdict: Verdict;
  readonly codes: readonly string[];
};

/** The decider: an engine, its tools, and the oracle of a world model, if one is asked. */
export type Guard = {
  readonly engine: Engine;
  readonly contracts: ReadonlyMap<string, ToolContract>;
  readonly oracle?: Oracle | undefined;
};

/** The answer to a question; undefined without one. */
export type Oracle = (question: Question) => Json | undefined;

export type Script = { readonly id: string; readonly instruction: string; readonly steps: readonly Step[] };

type Call = Step & { readonly kind: "call" };

function begun(guard: Guard, { id, instruction }: Script): OfflineRun {
  const run = new OfflineRun(guard.engine, answerOf(guard), { key: id, principal: "bench", at: 1_000 });
  run.instruct(instruction);
  return run;
}

/** A question without an oracle's answer is unavailable. */
function answerOf({ oracle }: Pick<Guard, "oracle">): AnswerTo {
  return (question) => {
    const value = oracle?.(question);
    return value === undefined ? unanswered("bench")(question) : { kind: "known", question, value };
  };
}

/** Decides as the gateway does. */
export function decide(guard: Pick<Guard, "engine" | "oracle">, run: Run, moment: Moment): Decision {
  return decideOffline(guard.engine, run, moment, { answer: answerOf(guard) });
}

/**
 * Every step up to and with the first call that is not simply allowed; with `goesOn`, what is asked is granted, what is
 * refused is left out, and all steps are played.
 */
export function play(guard: Guard, script: Script, { goesOn }: { readonly goesOn: boolean }): readonly PlayedStep[] {
  const run = begun(guard, script);
  const played: PlayedStep[] = [];
  for (const [index, one] of script.steps.entries()) {
    run.at += 1_000 + (one.kind === "call" ? one.afterMs : 0);
    if (one.kind === "run") {
      run.beginAnother(`${script.id} ${index}`);
      if (one.user !== undefined) run.instruct(one.user);
    }
    if (one.kind !== "call") {
      played.push({ step: one, hidden: undefined, verdict: "allow", codes: [] });
      continue;
    }
    const hidden = hiddenNow(guard, run);
    const { verdict, codes } = playCall(guard, run, one, `call ${index}`);
    played.push({ step: one, hidden, verdict: hidden.has(one.tool) ? "deny" : verdict, codes });
    if (!goesOn && (verdict !== "allow" || hidden.has(one.tool))) break;
  }
  return played;
}

/** The states that a run goes through, the first included; questions get consent, refused calls are left out. */
export function followed(guard: Guard, script: Script): readonly Run[] {
  const run = begun(guard, script);
  const states = [run.run];
  for (const [index, one] of script.steps.entries()) {
    run.at += 1_000;
    if (one.kind !== "call") continue;
    playCall(guard, run, one, `call ${index}`);
    states.push(run.run);
  }
  return states;
}

function hiddenNow({ contracts }: Guard, run: OfflineRun): ReadonlySet<string> {
  const hidden = [...contracts].filter(
    ([, contract]) => run.decide({ kind: "expose", at: run.at, contract }).verdict === "deny",
  );
  return new Set(hidden.map(([name]) => name));
}

function playCall(guard: Guard, run: OfflineRun, one: Call, call: string): Pick<PlayedStep, "verdict" | "codes"> {
  const contract = guard.contracts.get(one.tool);
  if (contract === undefined) throw new Error(`there is no ${one.tool}`);
  const callDigest = digest([contract.server, contract.tool, one.arguments], sha256);
  const { moment, decision, answers } = run.ask({ call, contract, arguments: one.arguments, digest: callDigest });
  const { verdict, reasons, option } = decision;
  const codes = reasons.map((reason) => (reason.rule === undefined ? reason.code : `${reason.code} ${reason.rule}`));
  if (verdict === "deny" || option === undefined) {
    run.refuse(moment, decision);
    return { verdict: "deny", codes };
  }
  run.dispatch(moment, option, answers);
  const handing = (judged: Verdict): "pass" | "reject" => (judged === "deny" ? "reject" : "pass");
  // A result that the agent does not get is work that was not done, however freely the call went out.
  const handed = run.settle(moment, option, { value: resultOf(one.gives), handing });
  return {
    verdict: stricter(verdict, handed),
    codes: handed === "allow" ? codes : [...codes, "the result is not handed on"],
  };
}

function resultOf(gives: Json | undefined): JsonObject {
  const text = typeof gives === "string" ? gives : JSON.stringify(gives ?? "done");
  const content = [{ type: "text", text }];
  return isObject(gives) ? { content, structuredContent: gives } : { content };
}
