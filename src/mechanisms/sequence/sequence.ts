/**
 * Temporal rules: what must come first, what must not follow, how often, how much, and what is owed (formal.md 4.3).
 * The automata live in the state of the run; this mechanism only reads them and says what they refuse and oblige to.
 */
import type { Mechanism } from "../../core/mechanism.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type Obligation, type Opinion, type Reason, noObjection, settled } from "../../core/opinion.ts";
import type { ReflectMoment } from "../../core/moment.ts";
import type { GatewayCall, Rule, Temporal } from "../../policy/ir/ir.ts";
import { compensates } from "../../policy/semantics/compensation.ts";
import { type Slot, monitorOwes } from "../../policy/semantics/monitors.ts";
import { holdOf, holds } from "../../policy/semantics/outbox.ts";
import { matches } from "../../policy/semantics/patterns.ts";
import { type Q, cellAt, isKeyed, stateOf } from "../../policy/semantics/state.ts";
import { type Frame, contextAt } from "../../policy/semantics/transition.ts";
import { type Scene, firedSlots, sceneAt, verdictAt } from "../../policy/semantics/verdicts.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Unfilled, filledFrom } from "../../policy/values/references.ts";
import { neededBy, remedyFor } from "../../policy/semantics/explanations.ts";

const id = "sequence";

/** `slotsFor` leaves out the automata that cannot concern a tool; a decision costs what the tool's own rules cost. */
export function makeSequence(
  frame: Frame,
  slotsFor: (contract: ToolContract) => readonly Slot[] = () => frame.slots,
): Mechanism<null> {
  const rules = new Map(frame.ir.rules.map((rule) => [rule.id, rule]));
  return {
    id,
    version: 1,
    initial: () => null,
    remember: () => null,
    consider: ({ moment, option }, run) => {
      if (frame.slots.length === 0) return noObjection;
      if (moment.kind === "reflect" && tellsDebts(moment)) return stillOwed(frame, rules, stateOf(run.q), moment.at);
      if (moment.kind !== "call" || option === undefined) return noObjection;
      const { at, heldSince, arguments: given } = moment;
      const scene = { frame, q: stateOf(run.q), option, at, heldSince, given };
      return called(scene, rules, slotsFor(option.contract));
    },
  };
}

/** A call with its arguments, and since when it has waited in the outbox if it comes from there. */
type Called = Scene & { readonly heldSince: number | undefined; readonly given: JsonObject };

function called(scene: Called, rules: ReadonlyMap<string, Rule>, slots: readonly Slot[]): Opinion {
  const reasons = firedSlots(scene, "rule", slots).map(({ slot, at }): Reason => {
    const rule = rules.get(slot.id);
    return {
      mechanism: id,
      code: codes[slot.temporal.kind],
      verdict: verdictAt(at, slot.tier === "confirm" ? "confirm" : "deny"),
      rule: slot.id,
      why: rule?.why ?? "",
      // The key is a value of the call; the reason states only that there is one, since a refusal must carry no data.
      facts: { kind: slot.temporal.kind, ...(isKeyed(slot) ? { keyed: "yes" } : {}), needs: neededBy(slot.temporal) },
      serves: rule?.serves ?? [],
      way: wayOn(slot),
      ...(rule?.mode === "observe" ? { observed: true as const } : {}),
    };
  });
  const duties = obligations(scene, slots);
  const unfilled = duties.flatMap((duty) => (duty.kind === "unfilled" ? unfilledReason(duty, rules) : []));
  return settled(
    [...reasons, ...unfilled],
    duties.filter((duty) => duty.kind !== "unfilled"),
  );
}

/** A call of the gateway's own that cannot be written, since this one does not give what it refers to. */
type Unwritten = Unfilled & { readonly kind: "unfilled"; readonly slot: Slot; readonly needs: string };

function unwritten(slot: Slot, { server, tool }: Pick<GatewayCall, "server" | "tool">, fault: Unfilled): Unwritten {
  return { kind: "unfilled", slot, needs: `${server}.${tool}`, ...fault };
}

/** Refused whatever is certain: the call would else go out without the one that belongs to it. */
function unfilledReason({ slot, place, why, needs }: Unwritten, rules: ReadonlyMap<string, Rule>): Reason {
  const rule = rules.get(slot.id);
  const wanted = {
    absent: `give \`${place}\``,
    "not a text": `give \`${place}\` as a text or a number`,
    "too long": `give a shorter \`${place}\``,
  }[why];
  const { kind } = slot.temporal;
  const role = kind === "inject" ? "must come first" : "makes up for this one";
  return {
    mechanism: id,
    code: codes[kind],
    verdict: "deny",
    rule: slot.id,
    why: rule?.why ?? "",
    facts: { kind, needs: [needs], place },
    serves: rule?.serves ?? [],
    way: `${wanted}: a call that ${role} refers to it`,
  };
}

/** What is held waits for a call; it is refused only where its key cannot be read, so that no call could let it go. */
function wayOn({ temporal }: Slot): string {
  const named = holds(temporal) ? temporal.key?.argument : undefined;
  return named === undefined
    ? remedyFor(temporal)
    : `give \`${named}\` one plain value, so that the rule can follow it`;
}

const codes: Readonly<Record<Temporal["kind"], string>> = {
  gate: "SG-MUST-FIRST",
  immediately: "SG-MUST-FIRST",
  absence: "SG-MUST-NOT-FOLLOW",
  "at-most": "SG-LIMIT",
  budget: "SG-BUDGET",
  owed: "SG-OWED",
  inject: "SG-INJECT",
  "by-end": "SG-BY-END",
};

/** M3 and the outbox of M4: what the gateway must do if the call goes ahead. */
function obligations(scene: Called, slots: readonly Slot[]): readonly (Obligation | Unwritten)[] {
  const obliging = slots.filter(
    ({ owner, mode, temporal: { kind } }) =>
      owner === "rule" && mode === "enforce" && (kind === "inject" || kind === "by-end"),
  );
  if (obliging.length === 0) return [];
  const { context, ...seen } = sceneAt(scene, "hi");
  return obliging.flatMap((slot): readonly (Obligation | Unwritten)[] => {
    const { temporal } = slot;
    if (compensates(temporal)) {
      if (!matches(context, temporal.after, "restrict", seen)) return [];
      const filled = filledFrom(temporal.call.arguments, scene.given);
      return filled.ok ? [] : [unwritten(slot, temporal.call, filled.error)];
    }
    if (temporal.kind === "inject") {
      if (!matches(context, temporal.before, "restrict", seen)) return [];
      const { server, tool } = temporal;
      const filled = filledFrom(temporal.arguments, scene.given);
      if (!filled.ok) return [unwritten(slot, temporal, filled.error)];
      return [{ kind: "perform", rule: slot.id, server, tool, arguments: filled.value }];
    }
    const held = holdOf(slot, scene, { context, scene: seen });
    return held === undefined ? [] : [{ kind: "hold", rule: slot.id, ...held, way: remedyFor(temporal) }];
  });
}

/** At the end of a run, and at the periodic check of an idle run: there an open debt can still be met. */
function tellsDebts({ cause, server }: ReflectMoment): boolean {
  return cause === "end" || (cause === "periodic" && server === undefined);
}

/** Debts that no call has met: reported, since looking back refuses nothing (formal.md 4.3, M4). */
function stillOwed(frame: Frame, rules: ReadonlyMap<string, Rule>, q: Q, at: number): Opinion {
  return settled(openDebts(frame, q, at).map((slot) => debtReason(slot, rules.get(slot.id))));
}

/** Automata with a debt that is still open. */
export function openDebts(frame: Frame, q: Q, at: number): readonly Slot[] {
  const context = contextAt(frame, "hi");
  return frame.slots.filter((slot, index) =>
    compensates(slot.temporal)
      ? q.owing.some((debt) => debt.slot === index)
      : [...(q.monitors.hi[index] ?? new Map()).keys()].some((key) =>
          monitorOwes(context, slot.temporal, cellAt(slot, q.monitors.hi[index] ?? new Map(), key, at).bits),
        ),
  );
}

function debtReason(slot: Slot, rule: Rule | undefined): Reason {
  return {
    mechanism: id,
    code: "SG-BY-END",
    verdict: "confirm",
    rule: slot.id,
    why: rule?.why ?? "",
    facts: { kind: slot.temporal.kind, needs: neededBy(slot.temporal) },
    serves: rule?.serves ?? [],
    way: remedyFor(slot.temporal),
    ...(slot.mode === "observe" ? { observed: true as const } : {}),
  };
}
