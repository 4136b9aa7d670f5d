/** What regulation objects to, in reasons: names of tools, rules, labels and stores, never a value. */
import type { ToolContract } from "../../core/contract.ts";
import type { Reason } from "../../core/opinion.ts";
import { restrictionNames } from "../../core/restriction-names.ts";
import type { Slot } from "../../policy/monitors.ts";
import { neededBy } from "../../policy/ways.ts";
import type { Q } from "../../policy/state.ts";
import { cellAt, contextOf, globalKey, initialState } from "../../policy/state.ts";
import type { Board, Exposure } from "./exposure.ts";
import { exposureOf } from "./exposure.ts";
import type { Standing } from "./standing.ts";
import { riskName } from "./standing.ts";

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
  const { objection, standing } = exposure;
  const byRule = objection?.verdict === "deny" ? objection : undefined;
  const danger = standing?.looming[0];
  const rule = byRule?.rule ?? danger?.hazard.id;
  const why = byRule?.why ?? danger?.hazard.why ?? "";
  return {
    mechanism: id,
    code: "SG-HIDDEN",
    verdict: "deny",
    ...(rule === undefined ? {} : { rule }),
    ...(why === "" ? {} : { why }),
    facts: { ...holding(board, q), ...standingFacts(standing) },
    serves: danger === undefined || danger.hazard.loss === "" ? [] : [danger.hazard.loss],
    way: comesBack(board, q, contract, { rule, at, move: danger?.move }),
  };
}

/** Why a call or a result is refused or asked about: where it would lead. */
export function standingReason(board: Board, q: Q, standing: Standing, code: string): Reason {
  const [danger] = standing.looming;
  const { verdict } = standing;
  return {
    mechanism: id,
    code,
    verdict,
    ...(danger === undefined ? {} : { rule: danger.hazard.id, why: danger.hazard.why }),
    facts: { ...holding(board, q), ...standingFacts(standing), ...(verdict === "confirm" ? risksOf(standing) : {}) },
    serves: danger === undefined || danger.hazard.loss === "" ? [] : [danger.hazard.loss],
    way: standing.lost.length > 0 && danger === undefined ? "meet what is owed first" : "take another step",
  };
}

/** A person who consents takes these risks for the rest of the run. */
function risksOf({ looming }: Standing): Reason["facts"] {
  return looming.length === 0 ? {} : { risks: looming.map(riskName) };
}

function standingFacts(standing: Standing | undefined): Reason["facts"] {
  if (standing === undefined) return {};
  const { looming, lost } = standing;
  return {
    ...(looming.length === 0 ? {} : { moves: [...new Set(looming.map(({ move }) => move))].slice(0, namesMax) }),
    ...(lost.length === 0 ? {} : { lost: lost.slice(0, namesMax) }),
  };
}

function holding({ frame }: Board, q: Q): Reason["facts"] {
  const names = restrictionNames(frame.ir.lattice, contextOf(frame.ir, q).hi);
  return names.length === 0 ? {} : { holds: names.slice(0, namesMax) };
}

/** What would have to change: a call that unlocks it, a new run, or the stores that all runs share. */
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
  if (hides(declared)) return "use another tool; a person can change the policy";
  const named = ir.stores.findIndex(({ name }) => move?.startsWith(`fire ${name} `) === true);
  const stores = q.stores.map((cell, index) => (index === named ? (declared.stores[index] ?? cell) : cell));
  const { name } = ir.stores[named] ?? { name: "" };
  // One store may not be what hides it alone, and a long name would not leave room for the reason.
  const reset = hides({ ...q, stores }) || name.length > nameShownMax ? "--all" : name;
  return `use another tool; a person can run \`sluicegate stores reset ${reset}\``;
}

function openDebts(slots: readonly Slot[], { monitors }: Q, at: number): readonly Slot[] {
  return slots.filter(
    (slot) =>
      slot.temporal.kind === "owed" &&
      slot.mode === "enforce" &&
      cellAt(slot, monitors.hi[slot.index] ?? new Map(), globalKey, at).bits[0] === true,
  );
}
