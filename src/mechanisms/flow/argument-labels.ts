/** Labels of the arguments of a call in each flow mode (formal.md 4.2), with the approver's grants applied last. */
import { type ArgumentContract, isControl } from "../../core/contract.ts";
import type { Grant } from "../../core/event.ts";
import { type Json, isArray } from "../../core/json.ts";
import {
  confidentiality,
  exactly,
  isUntrusted,
  joinRanges,
  trustOf,
  withTrust,
  type Label,
  type LabelRange,
  type Lattice,
} from "../../core/label.ts";
import type { ArgumentLabel, PathStep } from "../../core/moment.ts";
import type { FlowMode } from "../../policy/ir/ir.ts";
import type { FaintHits } from "./faint-hits.ts";
import { pathStepsMax } from "./limits.ts";
import { secrecy } from "./match-index.ts";
import type { Consumer, Origin } from "./origin.ts";
import { type ProvenanceIndex, derivable, matches, unaccounted, untrustedOrigin } from "./provenance-index.ts";

/** Inputs of a label besides the value. */
export type Holding = {
  readonly lattice: Lattice;
  readonly mode: FlowMode;
  /** ⊔K. */
  readonly context: LabelRange;
  /** Range of the data in K that came without a release. */
  readonly unmediated: LabelRange;
  readonly grants: readonly Grant[];
  readonly at: number;
  /** The call whose arguments are labelled. */
  readonly consumer: Consumer;
  /** Where hits that say little by themselves are noted; undefined: each counts. */
  readonly faint?: FaintHits;
  readonly digest: (value: Json) => string;
};

export function labelArgument(
  holding: Holding,
  index: ProvenanceIndex,
  contract: ArgumentContract,
  value: Json,
): ArgumentLabel {
  const { lattice, mode } = holding;
  const digest = holding.digest(value);
  if (mode === "none") return { range: exactly(lattice.bottom), digest, path: [] };
  // An approver endorses one recipient of a list; the list is as trusted as its least trusted member.
  const elements = isArray(value) && value.length > 0 ? value : [value];
  let range = exactly(lattice.bottom);
  const path: PathStep[] = [];
  for (const element of elements) {
    const found = mode === "strict" ? strictly(holding) : byProvenance(holding, index, contract, element);
    const own = isArray(value) ? granted(holding, contract, holding.digest(element), found.range) : found.range;
    range = joinRanges(range, own);
    for (const step of found.path) if (path.length < pathStepsMax && !path.some(same(step))) path.push(step);
  }
  return { range: granted(holding, contract, digest, range), digest, path };
}

/** The label of a value that is too large to look into: all that the run holds may be in it, and all may have shaped it. */
export function labelUnexamined(
  holding: Holding,
  index: ProvenanceIndex,
  contract: ArgumentContract,
  value: Json,
): ArgumentLabel {
  const { lattice, mode, context } = holding;
  const digest = holding.digest(value);
  if (mode === "none") return { range: exactly(lattice.bottom), digest, path: [] };
  const held = joinRanges(context, index.accounted);
  const range = mode === "strict" ? context : { lo: lattice.bottom, hi: held.hi };
  return {
    range: granted(holding, contract, digest, range),
    digest,
    path: [{ origin: "context", pointer: "", label: range.hi }],
  };
}

type Found = { readonly range: LabelRange; readonly path: readonly PathStep[] };

/** Everything the agent holds may have shaped the value. */
function strictly({ context }: Holding): Found {
  return { range: context, path: [{ origin: "context", pointer: "", label: context.hi }] };
}

function byProvenance(holding: Holding, index: ProvenanceIndex, contract: ArgumentContract, value: Json): Found {
  const { lattice, context } = holding;
  const bottom = exactly(lattice.bottom);
  const match = matches(index, value, holding.faint, !isControl(contract.role));
  const found = joinRanges(match?.range ?? bottom, unaccounted(index, context));
  const secret = joinRanges(found, secrecy(lattice, holding.unmediated));
  const path = (match?.origins ?? []).map(stepOf);
  if (!isUntrusted(lattice, context.hi)) return { range: secret, path };
  const sources = derivable(index, value, contract, holding.consumer);
  // Positive beats negative: a value of the instruction stays trusted though untrusted text repeats it.
  if (sources !== undefined) return { range: secret, path: [...path, ...sources.map(stepOf)] };
  const from = isControl(contract.role) ? notFrom(holding, index, contract, value) : [];
  return {
    range: { lo: secret.lo, hi: withTrust(lattice, secret.hi, "untrusted") },
    path: [...path, ...from.map(stepOf)],
  };
}

/** For the explanation: the untrusted text that holds the value, or the trusted places that give it for other uses. */
function notFrom(
  { consumer }: Holding,
  index: ProvenanceIndex,
  { schemaValues }: ArgumentContract,
  value: Json,
): readonly Origin[] {
  const hostile = untrustedOrigin(index, value);
  if (hostile !== undefined) return [hostile];
  return derivable(index, value, { role: "content", schemaValues }, consumer) ?? [];
}

/**
 * The range after the grants for this digest and role. A grant removes exactly the restrictions that the approver saw
 * and lifted; a restriction that the value has gained since then stays.
 */
function granted(holding: Holding, contract: ArgumentContract, digest: string, range: LabelRange): LabelRange {
  const { lattice, at } = holding;
  let { lo, hi } = range;
  for (const grant of holding.grants) {
    if (grant.kind !== "endorse" && grant.kind !== "declassify") continue;
    if (grant.digest !== digest || grant.role !== contract.role || at >= grant.expiresAt) continue;
    const part = grant.kind === "endorse" ? trustOf : confidentiality;
    const lifted = part(lattice, without(grant.from.hi, grant.to.hi));
    lo = without(lo, lifted);
    hi = without(hi, lifted);
  }
  return { lo, hi };
}

function without(label: Label, taken: Label): Label {
  return (label & ~taken) as Label; // fewer restrictions of the same lattice
}

function stepOf(origin: Origin): PathStep {
  const { range, stores: _stores, types: _types, ...where } = origin;
  return { ...where, label: range.hi };
}

function same(step: PathStep): (other: PathStep) => boolean {
  return (other) => other.origin === step.origin && other.pointer === step.pointer;
}
