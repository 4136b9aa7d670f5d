/** Hazards to the IR (formal.md 4.1): what must never happen, whatever the rules say. */
import type { HazardForm, NeverForm } from "../document/long-form.ts";
import type { Hazard, HazardTemporal } from "../ir/ir.ts";
import { type Scope, type Parts, dataAtom, absenceOf, atMostOf, keyOf, partsOf, span } from "./patterns.ts";

export function compileHazard(id: string, hazard: HazardForm, scope: Scope): Hazard {
  const base = ["hazards", id, "never"];
  const head = { id, loss: hazard.loss, consent: hazard.consent, why: hazard.why, mode: hazard.mode };
  const parts = partsOf(base, scope);
  const { flow, call } = hazard.never;
  if (flow !== undefined) {
    const from = dataAtom(flow.from, "restrict", [...base, "flow", "from"], scope);
    return { ...head, kind: "flow", from, to: parts.restrict(flow.to, "flow", "to") };
  }
  const temporal = temporalOf(hazard.never, parts);
  if (temporal !== undefined) return { ...head, kind: "temporal", temporal };
  // The shape has exactly one of the five; an empty pattern would be every call, the strictest reading.
  return { ...head, kind: "call", call: parts.restrict(call ?? {}, "call") };
}

function temporalOf({ sequence, unless, atMost }: NeverForm, parts: Parts): HazardTemporal | undefined {
  if (sequence !== undefined) return absenceOf(sequence, "sequence", parts);
  if (atMost !== undefined) return atMostOf(atMost, parts);
  if (unless === undefined) return undefined;
  return {
    kind: "gate",
    before: parts.restrict(unless.call, "unless", "call"),
    need: parts.permit(unless.need, "unless", "need"),
    ...span(unless.within),
    ...keyOf(unless.key, false),
  };
}
