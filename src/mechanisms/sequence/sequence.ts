/**
 * Temporal rules: what must come first, what must not follow, how often, how much, and what is owed (formal.md 4.3).
 * The automata live in the state of the run; this mechanism only reads them and says what they refuse and oblige to.
 */
import type { Mechanism } from "../../core/mechanism.ts";
import type { ToolContract } from "../../core/contract.ts";
import type { Obligation, Opinion, Reason } from "../../core/opinion.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { ReflectMoment } from "../../core/moment.ts";
import type { Rule, Temporal } from "../../policy/ir.ts";
import type { Slot } from "../../policy/monitors.ts";
import { monitorHolds, monitorOwes } from "../../policy/monitors.ts";
import { matches } from "../../policy/patterns.ts";
import type { Q } from "../../policy/state.ts";
import { cellAt, globalKey, isKeyed } from "../../policy/state.ts";
import type { Frame } from "../../policy/transition.ts";
import { contextAt } from "../../policy/transition.ts";
import type { Scene } from "../../policy/verdicts.ts";
import { firedSlots, sceneAt, verdictAt } from "../../policy/verdicts.ts";
import { neededBy, wayOf } from "../../policy/ways.ts";

const id = "sequence";

/** `slotsFor` leaves out the automata that cannot concern a tool; a decision costs what the tool's own rules cost. */
export function makeSequence(
  frame: Frame,
  slotsFor: (contract: ToolContract) => readonly Slot[] = () => frame.slots,
): Mechanism<null, Q> {
  const rules = new Map(frame.ir.rules.map((rule) => [rule.id, rule]));
  return {
    id,
    version: 1,
    initial: () => null,
    remember: () => null,
    consider: ({ moment, option }, run) => {
      if (frame.slots.length === 0) return noObjection;
      if (moment.kind === "reflect" && tellsDebts(moment)) return stillOwed(frame, rules, run.q, moment.at);
      if (moment.kind !== "call" || option === undefined) return noObjection;
      return called({ frame, q: run.q, option, at: moment.at }, rules, slotsFor(option.contract));
    },
  };
}

function called(scene: Scene, rules: ReadonlyMap<string, Rule>, slots: readonly Slot[]): Opinion {
  const reasons = firedSlots(scene, "rule", slots).map(({ slot, at }): Reason => {
    const rule = rules.get(slot.id);
    return {
      mechanism: id,
      code: codes[slot.temporal.kind],
      verdict: verdictAt(at, slot.tier === "confirm" ? "confirm" : "deny"),
      rule: slot.id,
      why: rule?.why ?? "",
      // The key is a value of the call; only that there is one is said, since a refusal must carry no data.
      facts: { kind: slot.temporal.kind, ...(isKeyed(slot) ? { keyed: "yes" } : {}), needs: neededBy(slot.temporal) },
      serves: rule?.serves ?? [],
      way: wayOf(slot.temporal),
      ...(rule?.mode === "observe" ? { observed: true as const } : {}),
    };
  });
  return settled(reasons, obligations(scene, slots));
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
function obligations(scene: Scene, slots: readonly Slot[]): readonly Obligation[] {
  const obliging = slots.filter(
    ({ owner, mode, temporal: { kind } }) =>
      owner === "rule" && mode === "enforce" && (kind === "inject" || kind === "by-end"),
  );
  if (obliging.length === 0) return [];
  const { context, ...seen } = sceneAt(scene, "hi");
  return obliging.flatMap((slot): readonly Obligation[] => {
    const { temporal } = slot;
    if (temporal.kind === "inject") {
      if (!matches(context, temporal.before, "restrict", seen)) return [];
      const { server, tool } = temporal;
      return [{ kind: "perform", rule: slot.id, server, tool, arguments: temporal.arguments }];
    }
    const { bits } = cellAt(slot, scene.q.monitors.hi[slot.index] ?? new Map(), globalKey, scene.at);
    const held = monitorHolds(context, temporal, bits, seen);
    return held ? [{ kind: "hold", rule: slot.id, way: wayOf(temporal) }] : [];
  });
}

/** At the end of a run, and in one that nobody looked at for a while: there what is owed can still be met. */
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
    [...(q.monitors.hi[index] ?? new Map()).keys()].some((key) =>
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
    way: wayOf(slot.temporal),
    ...(slot.mode === "observe" ? { observed: true as const } : {}),
  };
}
