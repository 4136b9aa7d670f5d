/**
 * Belief about a tool whose process has no way out (lifecycle.md 1.6): `may = ((C or ⊤) ∩ E) ∪ O ∪ S⁺`. What the
 * operator, a pack or a card says stands as it is; what no authority labels is met with what the projection enforces, and
 * what the server admits or its words suggest restricts that. E says nothing about what leaves through the client.
 */
import { processStore } from "../../core/contract.ts";
import { type Effect, type EffectFlags, type EffectRange, everyEffect } from "../../core/effect.ts";
import { type LabelRange, trustOf } from "../../core/label.ts";
import type { LabelTable, PackTable, ToolStatement } from "../ir/label-table.ts";
import type { Inferred } from "./infer.ts";

/** The sources that restrict: words of a listed tool, and labels that its server ships. */
type Claims = { readonly inferred: Inferred; readonly shipped: ToolStatement | undefined };

/**
 * What a process without a way out can do to anything but the client: read what is mounted, write into its overlay, run
 * programs within itself. Deletions in the workspace are not among it: they are taken over only from tools that may
 * delete (`effect.delete` of the mechanism `projection`).
 */
const enclosedEffects: readonly Effect[] = ["execute.local", "read.local", "write.local"];

/** Effects of a tool that no authority labels, in an enclosed process. */
export function enclosedRange({ inferred, shipped }: Claims): EffectRange {
  const admitted = shipped?.effects ?? { must: [], may: [] };
  const may = [...enclosedEffects, ...suggested(inferred.may), ...admitted.may, ...admitted.must];
  return { must: admitted.must, may: [...new Set(may)].toSorted() };
}

/**
 * Effects that were stated without knowing the process, as one without a way out can have them: what would be outside is
 * inside, and nothing outside is certain.
 */
export function insideOf({ must, may }: EffectRange): EffectRange {
  const inside = may.map((effect) => {
    const [base = "", reach, ...action] = effect.split(".");
    return reach === "local" ? effect : [base, "local", ...action].join(".");
  });
  return { must: must.filter((effect) => !effect.includes(".external")), may: [...new Set(inside)].toSorted() };
}

/** Flags of such a tool: what the words of its server say against it. */
export function enclosedFlags({ inferred, shipped }: Claims): EffectFlags {
  const own = shipped?.flags;
  return {
    irreversible: own?.irreversible === true || (saysSomething(inferred.may) && inferred.irreversible),
    openWorld: own?.openWorld === true,
  };
}

/** Words that suggest more than plain reading and writing inside are heard; those about the outside have no effect. */
function suggested(may: readonly Effect[]): readonly Effect[] {
  return saysSomething(may) ? may.filter((effect) => effect.split(".")[1] === "local") : [];
}

/** The words of a tool suggest some effects and not others. */
export function saysSomething(may: readonly Effect[]): boolean {
  return may.length < everyEffect.length;
}

/** The store that holds what a server's process was ever given, where the policy declares one. */
export function memoryOf(table: LabelTable, server: string): string | undefined {
  const store = processStore(server);
  return table.stores.has(store) ? store : undefined;
}

/**
 * The label of what an enclosed process returns beyond what its store brings: the store says all of its confidentiality,
 * and no authority labels what the server makes of it.
 */
export function processOutput({ labels: { lattice } }: Pick<LabelTable, "labels">): LabelRange {
  return { lo: lattice.bottom, hi: trustOf(lattice, lattice.top) };
}

/** The pack speaks of exactly this tool, or of every version that its server ever lists. */
export function speaksOf(pack: PackTable | undefined, tool: string, toolDigest: string | undefined): boolean {
  const pinned = pack?.digests.get(tool);
  return pinned === undefined || (toolDigest !== undefined && pinned.includes(toolDigest));
}
