/**
 * Plays the steps of a scenario on an engine: before each call the list is judged, then the call, then its result, and
 * the events are folded as the gateway does it. The agent calls what the scenario says, whatever the list shows.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { Decision } from "../../../core/decision.ts";
import type { RunEvent } from "../../../core/event.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { Lattice } from "../../../core/label.ts";
import { unknownRange } from "../../../core/label.ts";
import type { Engine } from "../../../core/mechanism.ts";
import { begin } from "../../../core/mechanism.ts";
import type { CallMoment, Moment, ReleaseMoment } from "../../../core/moment.ts";
import type { Answer, Answers, Question } from "../../../core/opinion.ts";
import type { Run } from "../../../core/run.ts";
import { evolve, step } from "../../../core/step.ts";
import type { Verdict } from "../../../core/verdict.ts";
import { stricter } from "../../../core/verdict.ts";
import type { Q } from "../../../policy/state.ts";
import { digest } from "../../../wire/canonical.ts";
import { sha256 } from "../../policy-source.ts";
import type { Step } from "./scenario.ts";

/** How often a decision may ask before that is a fault: nothing answers here, so twice are too many already. */
const roundsMax = 4;

export type PlayedStep = {
  readonly step: Step;
  /** What the list before the call left out; undefined where there is no call. */
  readonly hidden: ReadonlySet<string> | undefined;
  readonly verdict: Verdict;
  readonly codes: readonly string[];
};

/** Who decides: an engine, the tools it lists, and, where a world model is asked, what answers. */
export type Guard = {
  readonly engine: Engine<Q>;
  readonly contracts: ReadonlyMap<string, ToolContract>;
  readonly lattice: Lattice;
  readonly oracle?: Oracle | undefined;
};

/** The answer to a question, undefined where nobody knows. */
export type Oracle = (question: Question) => Json | undefined;

export type Script = { readonly id: string; readonly instruction: string; readonly steps: readonly Step[] };

type Game = { readonly guard: Guard; run: Run<Q>; at: number };
type Call = Step & { readonly kind: "call" };

/**
 * Every step up to and with the first call that is not simply allowed; with `goesOn`, what is asked is granted, what is
 * refused is left out, and all steps are played.
 */
export function play(guard: Guard, script: Script, { goesOn }: { readonly goesOn: boolean }): readonly PlayedStep[] {
  const game: Game = { guard, run: begin(guard.engine, script.id, undefined), at: 1_000 };
  fold(game, { kind: "begun", at: 0, principal: "bench" });
  register(game, script.instruction);
  const played: PlayedStep[] = [];
  for (const [index, one] of script.steps.entries()) {
    game.at += 1_000 + (one.kind === "call" ? one.afterMs : 0);
    if (one.kind === "run") {
      game.run = begin(guard.engine, `${script.id} ${index}`, game.run.q);
      fold(game, { kind: "begun", at: game.at, principal: "bench" });
      if (one.user !== undefined) register(game, one.user);
    }
    if (one.kind !== "call") {
      played.push({ step: one, hidden: undefined, verdict: "allow", codes: [] });
      continue;
    }
    const hidden = hiddenNow(game);
    const { verdict, codes } = playCall(game, one, `call ${index}`);
    played.push({ step: one, hidden, verdict: hidden.has(one.tool) ? "deny" : verdict, codes });
    if (!goesOn && (verdict !== "allow" || hidden.has(one.tool))) break;
  }
  return played;
}

/** The states that a run goes through, the first included; what is asked is granted, what is refused is left out. */
export function followed(guard: Guard, script: Script): readonly Run<Q>[] {
  const game: Game = { guard, run: begin(guard.engine, script.id, undefined), at: 1_000 };
  fold(game, { kind: "begun", at: 0, principal: "bench" });
  register(game, script.instruction);
  const states = [game.run];
  for (const [index, one] of script.steps.entries()) {
    game.at += 1_000;
    if (one.kind !== "call") continue;
    playCall(game, one, `call ${index}`);
    states.push(game.run);
  }
  return states;
}

function register(game: Game, text: string): void {
  fold(game, { kind: "registered", at: game.at, text: { source: "instruction", value: text } });
}

/** An event that is no move of the model would be decided on a state that never was. */
function fold(game: Game, event: RunEvent): void {
  const next = evolve(game.guard.engine, game.run, event);
  if (!next.ok) throw new Error(`the scenario left the model: ${next.error}`);
  game.run = next.value;
}

/** Decides as the gateway does; what no oracle answers is unavailable. */
export function decide({ engine, oracle }: Pick<Guard, "engine" | "oracle">, run: Run<Q>, moment: Moment): Decision {
  let answers: Answers = new Map();
  for (let round = 0; round < roundsMax; round += 1) {
    const found = step(engine, run, moment, answers);
    if (found.kind === "decided") return found.decision;
    const given = found.questions.map((question): [string, Answer] => {
      const value = oracle?.(question);
      const answer: Answer =
        value === undefined ? { kind: "unavailable", question, cause: "bench" } : { kind: "known", question, value };
      return [question.key, answer];
    });
    answers = new Map([...answers, ...given]);
  }
  throw new Error("a mechanism asks without end");
}

function hiddenNow({ guard, run, at }: Game): ReadonlySet<string> {
  const hidden = [...guard.contracts].filter(
    ([, contract]) => decide(guard, run, { kind: "expose", at, contract }).verdict === "deny",
  );
  return new Set(hidden.map(([name]) => name));
}

function playCall(
  game: Game,
  one: Call,
  call: string,
): { readonly verdict: Verdict; readonly codes: readonly string[] } {
  const contract = game.guard.contracts.get(one.tool);
  if (contract === undefined) throw new Error(`there is no ${one.tool}`);
  const { at } = game;
  const callDigest = digest([contract.server, contract.tool, one.arguments], sha256);
  const common = { at, call, method: "tools/call", arguments: one.arguments, digest: callDigest };
  const moment: CallMoment = { kind: "call", ...common, contract, workspace: [] };
  const { server, tool } = contract;
  fold(game, { kind: "requested", at, call, server, tool, digest: callDigest });
  const { verdict, reasons, option } = decide(game.guard, game.run, moment);
  const codes = reasons.map((reason) => (reason.rule === undefined ? reason.code : `${reason.code} ${reason.rule}`));
  if (verdict === "deny" || option === undefined) {
    fold(game, { kind: "refused", at, call, codes: reasons.map(({ code }) => code) });
    return { verdict: "deny", codes };
  }
  fold(game, { kind: "allowed", ...common, option });
  fold(game, { kind: "sent", at, call });
  fold(game, { kind: "succeeded", at, call });
  const value = resultOf(one.gives);
  const released: ReleaseMoment = { kind: "release", at, call, contract, option, outcome: "succeeded", value };
  // A result that the agent does not get is work that was not done, however freely the call went out.
  const handed = release(game, contract, released);
  return {
    verdict: stricter(verdict, handed),
    codes: handed === "allow" ? codes : [...codes, "the result is not handed on"],
  };
}

function release(game: Game, { server, tool }: ToolContract, moment: ReleaseMoment): Verdict {
  const { at, call, value } = moment;
  const judged = decide(game.guard, game.run, moment);
  const passes = judged.verdict !== "deny";
  const obliged = judged.obligations.find((one) => one.kind === "label");
  const label = obliged?.range ?? unknownRange(game.guard.lattice);
  const common = { kind: "released" as const, at, call, server, tool, label, fields: obliged?.fields ?? [] };
  fold(game, passes ? { ...common, how: "pass", value } : { ...common, how: "reject" });
  return judged.verdict;
}

function resultOf(gives: Json | undefined): JsonObject {
  const text = typeof gives === "string" ? gives : JSON.stringify(gives ?? "done");
  const content = [{ type: "text", text }];
  return isObject(gives) ? { content, structuredContent: gives } : { content };
}
