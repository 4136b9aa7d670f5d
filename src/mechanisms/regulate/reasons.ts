/** Objections of regulation as reasons: names of tools, rules, labels and stores, never a value. */
import type { ToolContract } from "../../core/contract.ts";
import type { Reason } from "../../core/opinion.ts";
import { restrictionNames } from "../../core/explain/restriction-names.ts";
import type { Slot } from "../../policy/semantics/monitors.ts";
import { neededBy } from "../../policy/semantics/explanations.ts";
import { type Q, cellAt, contextOf, globalKey, initialState } from "../../policy/semantics/state.ts";
import { type Board, type Exposure, exposureOf } from "./game/exposure.ts";
import { type StateSafety, riskName } from "./game/state-safety.ts";

const id = "regulate";

/** Names of one kind in a reason; a sentence holds no more. */
const namesMax = 6;

/** Characters of the name of a store in a sentence. */
const nameShownMax = 40;

/** Why a tool is not shown, and when it comes back. */
export function hiddenReason(
  board: Board,
  q: Q,
  contract: ToolContract,
  { exposure, at }: { readonly exposure: Exposure; readonly at: number },
): Reason {
  const { objection, safety } = exposure;
  const byRule = objection?.verdict === "deny" ? objection : undefined;
  const danger = safety?.looming[0];
  const rule = byRule?.rule ?? danger?.hazard.id;
  const why = byRule?.why ?? danger?.hazard.why ?? "";
  return {
    mechanism: id,
    code: "SG-HIDDEN",
    verdict: "deny",
    ...(rule === undefined ? {} : { rule }),
    ...(why === "" ? {} : { why }),
    // Moves are those of a hazard; where a rule decides, its id stands there.
    facts: { ...holding(board, q), ...safetyFacts(byRule === undefined ? safety : undefined) },
    serves: danger === undefined || danger.hazard.loss === "" ? [] : [danger.hazard.loss],
    way: comesBack(board, q, contract, { rule, at, move: danger?.move }),
  };
}

/** Why a call or a result is refused or asked about: where it would lead. */
export function safetyReason(board: Board, q: Q, safety: StateSafety, code: string): Reason {
  const [danger] = safety.looming;
  const { verdict } = safety;
  return {
    mechanism: id,
    code,
    verdict,
    ...(danger === undefined ? {} : { rule: danger.hazard.id, why: danger.hazard.why }),
    facts: { ...holding(board, q), ...safetyFacts(safety), ...(verdict === "confirm" ? risksOf(safety) : {}) },
    serves: danger === undefined || danger.hazard.loss === "" ? [] : [danger.hazard.loss],
    way: safety.lost.length > 0 && danger === undefined ? "meet what is owed first" : "take another step",
  };
}

/** An approver who consents accepts these risks for the rest of the run. */
function risksOf({ looming }: StateSafety): Reason["facts"] {
  return looming.length === 0 ? {} : { risks: looming.map(riskName) };
}

function safetyFacts(safety: StateSafety | undefined): Reason["facts"] {
  if (safety === undefined) return {};
  const { looming, lost } = safety;
  return {
    ...(looming.length === 0 ? {} : { moves: [...new Set(looming.map(({ move }) => move))].slice(0, namesMax) }),
    ...(lost.length === 0 ? {} : { lost: lost.slice(0, namesMax) }),
  };
}

function holding({ frame }: Board, q: Q): Reason["facts"] {
  const names = restrictionNames(frame.ir.lattice, contextOf(frame.ir, q).hi);
  return names.length === 0 ? {} : { holds: names.slice(0, namesMax) };
}

/** The change that brings the tool back: a call that unlocks it, a new run, or a reset of the shared stores. */
function comesBack(
  board: Board,
  q: Q,
  contract: ToolContract,
  { rule, at, move }: { readonly rule: string | undefined; readonly at: number; readonly move: string | undefined },
): string {
  const { slots } = board.frame;
  // Where no rule and no danger hides it, a goal does; what is owed now is what can be met.
  const locks = rule === undefined ? openDebts(slots, q, at) : slots.filter((one) => one.id === rule);
  const needed = [...new Set(locks.flatMap(({ temporal }) => neededBy(temporal)))].slice(0, namesMax);
  if (needed.length > 0) return `it comes back after ${needed.join(" or ")}`;
  const { ir } = board.frame;
  const hides = (shared: Q | undefined): boolean =>
    exposureOf(board, initialState(ir, slots, shared), contract, at).verdict === "deny";
  if (!hides(q)) return "it comes back in a new run (`sluicegate runs new`)";
  const declared = initialState(ir, slots, undefined);
  if (hides(declared)) return "use another tool; the user can change the policy";
  const named = ir.stores.findIndex(({ name }) => move?.startsWith(`fire ${name} `) === true);
  const stores = q.stores.map((cell, index) => (index === named ? (declared.stores[index] ?? cell) : cell));
  const { name } = ir.stores[named] ?? { name: "" };
  // One store may not be what hides it alone, and a long name would not leave room for the reason.
  const reset = hides({ ...q, stores }) || name.length > nameShownMax ? "--all" : name;
  return `use another tool; the user can run \`sluicegate stores reset ${reset}\``;
}

function openDebts(slots: readonly Slot[], { monitors }: Q, at: number): readonly Slot[] {
  return slots.filter(
    (slot) =>
      slot.temporal.kind === "owed" &&
      slot.mode === "enforce" &&
      cellAt(slot, monitors.hi[slot.index] ?? new Map(), globalKey, at).bits[0] === true,
  );
}
