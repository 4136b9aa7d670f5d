/**
 * Explanations of refusals: which hazards a call could bring about, which arguments carry the data that decides, where
 * their values came from, and what to do next. A hazard judges the move itself: the call is refused even where the state
 * it leads to would be harmless. `consent: never` denies what is certain; `may` asks; what is only possible is always
 * asked, since the user may know that the value is harmless. A remedy uses names of the policy only: a refusal must
 * carry no data.
 */
import type { Reason } from "../../core/opinion.ts";
import type { Hazard, LabelAtom, Pattern, Temporal } from "../ir/ir.ts";
import { type Scene, badHazards, verdictAt } from "./verdicts.ts";
import { type Lattice, describe } from "../../core/label.ts";
import type { ArgumentLabel, CallOption } from "../../core/moment.ts";
import { unlockingOf } from "./monitors.ts";

/** Reasons for those of `hazards` that the call could bring about; the caller leaves out what cannot concern its tool. */
export function hazardReasons(mechanism: string, scene: Scene, hazards: readonly Hazard[]): readonly Reason[] {
  return badHazards(scene, hazards).map(({ hazard, at }) => {
    const worst = verdictAt(at, hazard.consent === "never" ? "deny" : "confirm");
    const found = decidingArguments(scene.frame.ir.lattice, scene.option, restrictionsOf(hazard));
    return {
      mechanism,
      code: worst === "deny" ? "SG-HAZARD" : "SG-HAZARD-ASK",
      verdict: worst,
      rule: hazard.id,
      why: hazard.why,
      facts: { ...argumentFacts(found), ...temporalFacts(hazard) },
      serves: hazard.loss === "" ? [] : [hazard.loss],
      way: wayOn(hazard, found.length > 0),
      ...(hazard.mode === "observe" ? { observed: true as const } : {}),
    };
  });
}

function temporalFacts(hazard: Hazard): Reason["facts"] {
  return hazard.kind === "temporal" ? { kind: hazard.temporal.kind, needs: neededBy(hazard.temporal) } : {};
}

/** A hazard never advises to start anew: what it guards against would only be spread over two runs. */
function wayOn(hazard: Hazard, carriesData: boolean): string {
  const needs = hazard.kind === "temporal" ? neededBy(hazard.temporal) : [];
  if (needs.length > 0) return `call ${needs.join(" or ")} first`;
  return carriesData ? "leave that data out" : "take another step";
}

function restrictionsOf(hazard: Hazard): number {
  return hazard.kind === "flow" ? atomBits(hazard.from.atom) : 0;
}

export function atomBits(atom: LabelAtom): number {
  return atom.kind === "atLeast" ? atom.bits : atom.forbidden;
}

export type DecidingArgument = { readonly argument: string; readonly label: string; readonly origin: string };

/** Arguments whose upper label has any of these restrictions, worst first. */
export function decidingArguments(
  lattice: Lattice,
  option: CallOption,
  restrictions: number,
): readonly DecidingArgument[] {
  const found = [...option.arguments].filter(([, label]) => (label.range.hi & restrictions) !== 0);
  return found
    .map(([argument, label]) => ({
      argument,
      label: describe(lattice, label.range.hi),
      origin: originOf(label, restrictions),
    }))
    .sort((left, right) => (left.argument < right.argument ? -1 : 1));
}

/** `calendar.list_events /events/0/title`, or what else is known of the value. */
function originOf(label: ArgumentLabel, restrictions: number): string {
  const step = label.path.find((one) => (one.label & restrictions) !== 0) ?? label.path[0];
  if (step === undefined) return label.range.lo === label.range.hi ? "what this run has read" : "an unknown source";
  if (step.origin === "context") return "what this run has read";
  if (step.server === undefined || step.tool === undefined) return `the ${step.origin}`;
  return step.pointer === "" ? `${step.server}.${step.tool}` : `${step.server}.${step.tool} ${step.pointer}`;
}

/** Facts of a reason, from the deciding arguments: parallel lists, so that the renderer needs no further structure. */
export function argumentFacts(found: readonly DecidingArgument[]): Readonly<Record<string, readonly string[]>> {
  if (found.length === 0) return {};
  return {
    arguments: found.map((one) => one.argument),
    labels: found.map((one) => one.label),
    origins: found.map((one) => one.origin),
  };
}

/** Names or effects of the calls that would unlock or pay; empty where no call would, or they have neither. */
export function neededBy(temporal: Temporal): readonly string[] {
  const unlocking = unlockingOf(temporal);
  return unlocking === undefined ? [] : toolNames(unlocking);
}

function toolNames(pattern: Pattern): readonly string[] {
  const named = (pattern.tools ?? []).map(({ server, tool }) => (server === "*" ? tool : `${server}.${tool}`));
  return named.length > 0 ? named : (pattern.effects ?? []);
}

/** The next step for the user or model whose call was refused. */
export function remedyFor(temporal: Temporal): string {
  const needed = neededBy(temporal).join(" or ");
  switch (temporal.kind) {
    case "gate":
    case "immediately":
    case "owed":
    case "inject": // never refuses, so it never has to show a way
      return needed === "" ? "do first what the rule asks for" : `call ${needed} first`;
    case "by-end": {
      const when = temporal.once === true ? "" : " after it";
      return needed === "" ? `do what the rule asks for${when}` : `call ${needed}${when}`;
    }
    case "absence":
      return needed === "" ? "start a new run for this" : `call ${needed} first, or start a new run`;
    case "at-most":
    case "budget":
      return temporal.withinMs === undefined ? "start a new run for more" : "wait until the limit allows more";
  }
}
