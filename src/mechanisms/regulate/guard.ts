/**
 * Rules, hazards and the default applied to an option, by the functions that decide a call. Rules with keys and budgets
 * apply to concrete calls only, so they hide nothing.
 */
import type { Reason } from "../../core/opinion.ts";
import { type Verdict, stricter } from "../../core/verdict.ts";
import { hazardReasons } from "../../policy/semantics/explanations.ts";
import type { Temporal } from "../../policy/ir/ir.ts";
import { unlockingOf } from "../../policy/semantics/monitors.ts";
import type { Relevant } from "../../policy/semantics/relevance.ts";
import { isKeyed } from "../../policy/semantics/state.ts";
import { type Scene, defaultAtEnds, firedRules, firedSlots, verdictAt } from "../../policy/semantics/verdicts.ts";

/** The objection to an option: the strictest verdict, and the rule that gives it. */
export type Objection = { readonly verdict: Verdict; readonly rule: string | undefined; readonly why: string };

/**
 * As a list `entry`, an objection that another call would lift does not count: the refusal names that call, and an
 * agent that cannot see a tool cannot work toward it.
 */
export function objectionTo(
  scene: Scene,
  { rules, slots, hazards, defaultAsks }: Relevant,
  of: "call" | "entry",
): Objection {
  const stands = (temporal: Temporal): boolean => of === "call" || unlockingOf(temporal) === undefined;
  let found: Objection = { verdict: "allow", rule: undefined, why: "" };
  const object = (verdict: Verdict, rule: string | undefined, why: string): void => {
    if (stricter(found.verdict, verdict) !== found.verdict) found = { verdict, rule, why };
  };
  let lifted = false;
  for (const { rule, at } of firedRules(scene, rules)) {
    if (rule.mode === "observe") continue;
    if (rule.tier === "allow") lifted ||= at.hi;
    else object(verdictAt(at, rule.tier === "block" ? "deny" : "confirm"), rule.id, rule.why);
  }
  const plain = slots.filter(
    (slot) => !isKeyed(slot) && slot.temporal.kind !== "budget" && slot.mode === "enforce" && stands(slot.temporal),
  );
  for (const { slot, at } of firedSlots(scene, "rule", plain)) {
    const rule = scene.frame.ir.rules.find(({ id }) => id === slot.id);
    object(verdictAt(at, slot.tier === "confirm" ? "confirm" : "deny"), slot.id, rule?.why ?? "");
  }
  const unkeyed = hazards.filter(
    (one) => one.kind !== "temporal" || (one.temporal.key === undefined && stands(one.temporal)),
  );
  for (const reason of hazardReasons("regulate", scene, unkeyed)) {
    if (reason.observed !== true) object(reason.verdict, reason.rule, reason.why ?? "");
  }
  if (defaultAsks && !lifted) object(askedByDefault(scene), undefined, "");
  return found;
}

function askedByDefault(scene: Scene): Reason["verdict"] {
  const { lo, hi } = defaultAtEnds(scene);
  return verdictAt({ lo: Object.values(lo).some(Boolean), hi: Object.values(hi).some(Boolean) }, "confirm");
}
