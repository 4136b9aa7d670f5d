/**
 * Questions to world models, and the effect of their answers (foresight.md 2): they only move an option from allowed to
 * asked or refused. The question is advisory: without an answer the game decides, and for a call `regulation.onSilence`
 * adds to that.
 */
import type { ToolContract } from "../../../core/contract.ts";
import { type Json, type JsonObject, isArray, member, stringMember } from "../../../core/json.ts";
import { type Label, type Lattice, confidentiality, excludedBits, fromBits, join } from "../../../core/label.ts";
import type { CallOption } from "../../../core/moment.ts";
import {
  type Answers,
  type Obligation,
  type Question,
  type Reason,
  type Silence,
  silences,
} from "../../../core/opinion.ts";
import {
  type Advice,
  type ForeseenFilter,
  type PredictionContext,
  type PredictionStep,
  predictionKind,
} from "../../../core/questions/prediction.ts";
import { restrictionNames } from "../../../core/explain/restriction-names.ts";
import type { Regulation } from "../../../policy/sections/regulation.ts";
import { type Steps, stepOf } from "./steps.ts";
import type { Ir } from "../../../policy/ir/ir.ts";
import { type Q, contextOf } from "../../../policy/semantics/state.ts";

const id = "regulate";

/** Most tools in a model's prompt; those that the policy labels come first. */
export const contextToolsMax = 100;

/** The deciding part of an answer. */
export type Forecast = Advice & {
  /** Advice that is enough to ask the approver. */
  readonly asks: Advice | undefined;
};

export type Asking = {
  readonly lattice: Lattice;
  readonly steps: Steps;
  readonly tools: readonly ToolContract[];
  readonly digest: (value: Json) => string;
};

/** A call that a model is asked about, with the label of all that its arguments may hold. */
export type PendingCall = { readonly option: CallOption; readonly arguments: JsonObject; readonly holds: Label };

/** Label of the user's own words: as secret as anything can be, for no other reader, and from a trusted author. */
function ownWords(lattice: Lattice): Label {
  const secret = confidentiality(lattice, lattice.top);
  const mine = excludedBits(lattice, ["me"]) ?? lattice.bottom;
  return fromBits(lattice, secret & ~mine) ?? secret;
}

/** The question about a call, or, without one, about the list. */
export function questionAbout({ lattice, steps, tools, digest }: Asking, call?: PendingCall): Question {
  const pending = call === undefined ? undefined : stepOf(call.option, call.arguments);
  const told = steps.instruction === "" ? lattice.bottom : ownWords(lattice);
  const evidence = join(join(steps.evidence, told), call?.holds ?? lattice.bottom);
  const content: PredictionContext = {
    version: 1,
    instruction: steps.instruction,
    tools: tools.slice(0, contextToolsMax).map(({ server, tool, effects }) => ({
      name: `${server}.${tool}`,
      effects: effects.may,
    })),
    steps: steps.done.map(({ call: _call, ...step }): PredictionStep => step),
    ...(pending === undefined ? {} : { pending }),
    evidence: restrictionNames(lattice, evidence),
  };
  const asked = content as unknown as JsonObject; // a context is JSON by construction: records, lists and texts
  return {
    key: `${predictionKind} ${digest(asked)}`,
    mechanism: id,
    kind: predictionKind,
    content: asked,
    mode: "advisory",
    without: "allow",
  };
}

/**
 * What the models said. `silence`: one that was asked gave no answer, `unknown` where it is not known why; undefined
 * where all of them answered.
 */
export type Heard = { readonly forecast: Forecast | undefined; readonly silence: Silence | "unknown" | undefined };

/** The forecast in an answer, and the silence of models beside it; `open` before there is an answer. */
export function heardIn(answers: Answers, { key }: Question): Heard | "open" {
  const answer = answers.get(key);
  if (answer === undefined) return "open";
  if (answer.kind === "unavailable") return { forecast: undefined, silence: answer.silence ?? "unknown" };
  const said = stringMember(answer.value, "silence");
  const silence = said === undefined ? undefined : (silences.find((one) => one === said) ?? "unknown");
  return { forecast: forecastOf(answer.value), silence };
}

function forecastOf(value: Json): Forecast {
  // An unreadable answer comes from an untrustworthy oracle: the worst possible answer replaces it.
  const worst: Forecast = { safety: "unsafe", pUnsafe: 1, filteredTools: [], asks: undefined };
  const decides = readAdvice(value);
  if (decides === undefined) return worst;
  const given = member(value, "asks");
  const asks = given === undefined ? undefined : readAdvice(given);
  return given !== undefined && asks === undefined ? worst : { ...decides, asks };
}

function readAdvice(value: Json): Advice | undefined {
  const safety = stringMember(value, "safety");
  const pUnsafe = member(value, "pUnsafe");
  const filtered = member(value, "filteredTools");
  const known = safety === "safe" || safety === "critical" || safety === "unsafe";
  // No number is above the bound of a policy that is not one.
  if (!known || typeof pUnsafe !== "number" || !Number.isFinite(pUnsafe) || !isArray(filtered)) return undefined;
  return { safety, pUnsafe, filteredTools: filtered.filter((name) => typeof name === "string") };
}

/** The reason of a forecast against a call; a call that meets an open debt is asked about, whatever the policy sets. */
export function forecastReason(
  forecast: Forecast,
  { onUnsafe, epsilon }: Pick<Regulation, "onUnsafe" | "epsilon">,
  owed: boolean,
): { readonly reason: Reason; readonly obligations: readonly Obligation[] } | undefined {
  const isUnsafe = ({ safety, pUnsafe }: Advice): boolean => safety === "unsafe" || pUnsafe > epsilon;
  const decisive = isUnsafe(forecast);
  const told = decisive ? forecast : forecast.asks;
  if (told === undefined || !isUnsafe(told)) return undefined;
  const refuses = decisive && onUnsafe !== "confirm" && !owed;
  const ends = refuses && onUnsafe === "end-run";
  const reason: Reason = {
    mechanism: id,
    code: "SG-FORESIGHT",
    verdict: refuses ? "deny" : "confirm",
    facts: { safety: told.safety, probability: Math.round(told.pUnsafe * 100) / 100 },
    way: ends ? "start a new run" : "take another step",
  };
  return { reason, obligations: ends ? [{ kind: "end-run", rule: "regulation.onUnsafe" }] : [] };
}

/** A call that a model was asked about: `acts` as in the contract, `owed` where it meets an open debt. */
export type Judged = { readonly acts: boolean; readonly owed: boolean };

/**
 * The reason of a silent model against a call (`regulation.onSilence`); undefined where silence lets the call pass. A call
 * that meets an open debt is asked about, never taken away.
 */
export function silenceReason(
  silence: Silence | "unknown",
  { onSilence }: Pick<Regulation, "onSilence">,
  { acts, owed }: Judged,
): Reason | undefined {
  const wanted = acts ? onSilence.acts : onSilence.reads;
  if (wanted === "allow") return undefined;
  const verdict = owed ? "confirm" : wanted;
  const way = "try again later, or see what `sluicegate doctor` says of the judge";
  return { mechanism: id, code: "SG-SILENT", verdict, facts: { silence }, way };
}

/** The filter in a forecast. */
export function filterIn({ filteredTools, asks }: Forecast): ForeseenFilter {
  return { hides: filteredTools, asks: asks?.filteredTools ?? [] };
}

/** The reason of a filter against a list entry; a tool that alone can meet a debt is asked about, not taken away. */
export function filteredReason(
  { hides, asks }: ForeseenFilter,
  { server, tool }: ToolContract,
  owed: boolean,
): Reason | undefined {
  const name = `${server}.${tool}`;
  const decisive = hides.includes(name);
  if (!decisive && !asks.includes(name)) return undefined;
  const verdict = decisive && !owed ? "deny" : "confirm";
  return { mechanism: id, code: "SG-FORESIGHT", verdict, facts: { tool: name }, way: "use another tool" };
}

/**
 * The label of everything in the arguments of a call, which the bound of a judge is compared with. A grant releases a value
 * to the sink on its card, not to a model: restrictions that grants took away are put back. Without provenance
 * (`flow: none`) an argument may hold everything that the run holds.
 */
export function heldInArguments(ir: Ir, q: Q, option: CallOption): Label {
  if (option.arguments.size === 0) return ir.lattice.bottom;
  let label = ir.flow === "none" ? contextOf(ir, q).hi : ir.lattice.bottom;
  for (const { range } of option.arguments.values()) label = join(label, range.hi);
  for (const grant of q.grants) if (grant.kind === "declassify") label = join(label, grant.from.hi);
  return label;
}
