/**
 * The options that the agent has with a tool (formal.md 4.1): one for each combination of truths of the argument predicates
 * that matter, with the least labels that the flow mode leaves to it. If none of these would be let through, none is: larger
 * labels never loosen. Arguments that the tool can do without are left out, amounts fit, and keys are such as do least, so
 * the list may show a tool whose every useful call is refused, but hides none that could be called.
 */
import type { ToolContract } from "../../../core/contract.ts";
import { type LabelRange, confidentiality, exactly } from "../../../core/label.ts";
import type { ArgumentLabel, CallOption } from "../../../core/moment.ts";
import type { Ir } from "../../../policy/ir/ir.ts";
import type { Slot } from "../../../policy/semantics/monitors.ts";
import type { Relevant } from "../../../policy/semantics/relevance.ts";
import { contextOf, globalKey, isKeyed, unmediated, type Q } from "../../../policy/semantics/state.ts";
import type { Frame } from "../../../policy/semantics/transition.ts";

/** Combinations of truths and keys of one tool; beyond it the tool is shown, and its calls are decided one by one. */
export const optionsMax = 256;

/** A key that no call has had. An agent that gives it as an id all the same only makes its own list shorter. */
const freshKey = "\u0000";

/** Undefined where there are too many combinations to look at. */
export function optionsOf(
  { ir }: Frame,
  q: Q,
  contract: ToolContract,
  { predicates, slots }: Pick<Relevant, "predicates" | "slots">,
): readonly CallOption[] | undefined {
  const keyed = slots.filter((slot) => slot.owner === "hazard" && isKeyed(slot));
  const choices = keyed.map((slot) => keysToTry(q, slot));
  const count = choices.reduce((product, each) => product * each.length, 2 ** predicates.length);
  if (count > optionsMax) return undefined;
  const label: ArgumentLabel = { range: leastLabel(ir, q), digest: "", path: [] };
  const given = new Map((contract.required ?? []).map((name) => [name, label] as const));
  const { server, tool } = contract;
  return Array.from({ length: count }, (_, vector) => {
    const truths = new Map(predicates.map((index, bit) => [index, (vector & (1 << bit)) !== 0]));
    let rest = vector >> predicates.length;
    const keys = new Map<string, readonly string[]>();
    keyed.forEach(({ id }, index) => {
      const own = choices[index] ?? [];
      keys.set(id, own[rest % own.length] ?? []);
      rest = Math.floor(rest / own.length);
    });
    return { class: { server, tool, truths, keys, amounts: new Map() }, contract, arguments: given };
  });
}

/**
 * Keys with which a call can do least: one that was never seen, those that are set, which it can at best free, and none
 * that can be read, of which nothing is certain.
 */
function keysToTry({ monitors }: Q, { index }: Slot): readonly (readonly string[])[] {
  const set = [...(monitors.hi[index] ?? [])].filter(([key, { bits }]) => key !== globalKey && bits.includes(true));
  return [[freshKey], [], ...(set.length === 0 ? [] : [set.map(([key]) => key)])];
}

function leastLabel(ir: Ir, q: Q): LabelRange {
  const nothing = exactly(ir.lattice.bottom);
  // A value that an approver vouched for may have any label down to the least.
  if (ir.flow === "none" || q.grants.some(({ kind }) => kind === "endorse" || kind === "declassify")) return nothing;
  if (ir.flow === "strict") return contextOf(ir, q);
  // A value that stands in no result is free of them, but not of what came past all releases.
  const past = unmediated(ir, q);
  return { lo: confidentiality(ir.lattice, past.lo), hi: confidentiality(ir.lattice, past.hi) };
}
