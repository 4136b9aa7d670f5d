/**
 * What hazards say of a call. A hazard judges the move itself: the call is refused even where the state it leads to
 * would be harmless (formal.md 4.1). `consent: never` denies what is certain; `may` asks; what is only possible is
 * always asked, since a person may know that the value is harmless.
 */
import type { Reason } from "../core/opinion.ts";
import { culpritFacts, culprits } from "./culprits.ts";
import type { Hazard, LabelAtom } from "./ir.ts";
import type { Scene } from "./verdicts.ts";
import { badHazards, verdictAt } from "./verdicts.ts";
import { neededBy } from "./ways.ts";

/** Reasons for those of `hazards` that the call could bring about; the caller leaves out what cannot concern its tool. */
export function hazardReasons(mechanism: string, scene: Scene, hazards: readonly Hazard[]): readonly Reason[] {
  return badHazards(scene, hazards).map(({ hazard, at }) => {
    const worst = verdictAt(at, hazard.consent === "never" ? "deny" : "confirm");
    const found = culprits(scene.frame.ir.lattice, scene.option, restrictionsOf(hazard));
    return {
      mechanism,
      code: worst === "deny" ? "SG-HAZARD" : "SG-HAZARD-ASK",
      verdict: worst,
      rule: hazard.id,
      why: hazard.why,
      facts: { ...culpritFacts(found), ...temporalFacts(hazard) },
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
