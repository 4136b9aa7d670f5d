/**
 * What is believed of one tool: its effects, the roles of its arguments, the labels of its results. It joins what the
 * operator's policy, label packs, the server's own hints and inference say (policy.md 2), and is made once for each
 * (policy, manifest), so that deciding a call looks nothing up but this.
 */
import type { Effect, EffectFlags, EffectRange } from "./effect.ts";
import type { Json } from "./json.ts";
import type { Label, LabelRange } from "./label.ts";

export const roles = [
  "recipient",
  "destination",
  "identifier",
  "amount",
  "path",
  "command",
  "query",
  "content",
] as const;

/** What an argument means. All roles but `content` steer the call and are *control* arguments (DESIGN 2). */
export type Role = (typeof roles)[number];

/** Where a statement about a tool comes from, most authoritative first (policy.md 2). */
export type LabelSource = "operator" | "pack" | "evidence" | "server" | "inference" | "unknown";

export type ArgumentContract = {
  readonly role: Role;
  /** Whether somebody besides the run's person can see the argument. */
  readonly sink: boolean;
  /** Who can see it, as bits: bit i = group i of the lattice; 0 where it is no sink. */
  readonly audience: number;
  /** Restrictions that a value sent here must not carry: (bound, audience) compiled by `forbiddenAt`. */
  readonly forbidden: Label;
  /** Values that the pinned schema itself offers (`enum`, `const`, `default`): derivable without any text. */
  readonly schemaValues: readonly Json[];
};

/** A declared part of a result. `from` lists the arguments whose labels reach the field; undefined = all of them. */
export type FieldContract = {
  /** JSON Pointer into the structured result, `*` for every element. */
  readonly pointer: string;
  readonly label: LabelRange;
  readonly from?: readonly string[];
};

export type OutputContract = { readonly label: LabelRange; readonly fields: readonly FieldContract[] };

/** Output and effects of a class of calls, chosen by the truth of argument predicates of the policy. */
export type ContractCase = {
  /** Indices into the policy's predicates. The case holds where all of them do. */
  readonly predicates: readonly number[];
  readonly output?: OutputContract;
  readonly effects?: EffectRange;
};

export type ToolContract = {
  readonly server: string;
  readonly tool: string;
  /** Digest of the tool's manifest entry that these statements are about; undefined for protocol methods. */
  readonly toolDigest: string | undefined;
  readonly source: LabelSource;
  readonly effects: EffectRange;
  /** Those of `must` that only an untrusted server says of itself: they restrict, and permit nothing. */
  readonly claimed?: readonly Effect[];
  readonly flags: EffectFlags;
  /** By top-level argument name. An argument without an entry is treated as `rest`. */
  readonly arguments: ReadonlyMap<string, ArgumentContract>;
  readonly rest: ArgumentContract;
  /** Arguments without which the server takes no call; undefined where nothing is known of that. */
  readonly required?: readonly string[];
  readonly output: OutputContract;
  /** In order; the first case that names the output and holds replaces it, and so for the effects. */
  readonly cases: readonly ContractCase[];
  /** Stores by name: what it reads adds their labels to the result, what it writes takes the arguments' labels. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Audiences that the call lets into a store for good (`grant share webhook ...`), as groups. */
  readonly opens: readonly { readonly store: string; readonly audience: readonly string[] }[];
  /** The call changes nothing inside the policy's reach: a pure read of a non-sink. */
  readonly consequential: boolean;
};

export function isControl(role: Role): boolean {
  return role !== "content";
}
