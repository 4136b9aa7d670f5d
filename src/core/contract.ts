/**
 * The contract of one tool: its effects, the roles of its arguments, the labels of its results. It joins the statements of
 * the operator's policy, label packs, the server's own hints and inference (policy.md 2). It is made once for each pair of
 * policy and manifest, so a decision about a call looks nothing else up.
 */
import { type Effect, type EffectFlags, type EffectRange, covers } from "./effect.ts";
import type { IsolationTier } from "./isolation/scope.ts";
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

/** Meaning of an argument. Every role but `content` steers the call: a *control* argument (system.md 2). */
export type Role = (typeof roles)[number];

/**
 * What a contract says of an argument. `unsure`: which role it has is not known, so it counts as each of them where a role
 * restricts, and as none of them where one permits. It steers the call.
 */
export const argumentRoles = [...roles, "unsure"] as const;
export type ArgumentRole = (typeof argumentRoles)[number];

/** Source of a statement about a tool, most authoritative first (policy.md 2). */
export type LabelSource = "operator" | "pack" | "card" | "evidence" | "enforced" | "server" | "inference" | "unknown";

/** Statements about one argument of a tool. */
export type ArgumentContract = {
  readonly role: ArgumentRole;
  /** True where a reader other than the owner of the run can see the argument. */
  readonly sink: boolean;
  /** Groups that can see it: bit i = group i of the lattice; 0 where the argument is not a sink. */
  readonly audience: number;
  /** Restrictions that a value sent here must not carry: bound and audience, compiled by `forbiddenAt`. */
  readonly forbidden: Label;
  /** Values that the pinned schema itself offers (`enum`, `const`, `default`): derivable without any text. */
  readonly schemaValues: readonly Json[];
  /** Kind of name that it takes (`file-id`), in the words of the policy or pack; a result's value of another kind is not one. */
  readonly type?: string;
};

/** A declared part of a result. `from` lists the arguments whose labels reach the field; undefined = all of them. */
export type FieldContract = {
  /** JSON Pointer into the structured result, `*` for every element. */
  readonly pointer: string;
  readonly label: LabelRange;
  readonly from?: readonly string[];
};

/** Kind of name that a part of a structured result is, in the words of the policy or pack. */
export type FieldType = { readonly pointer: string; readonly type: string };

/** Label of a whole result, and of its declared parts. */
export type OutputContract = { readonly label: LabelRange; readonly fields: readonly FieldContract[] };

/** Output and effects of a class of calls, chosen by the truth of argument predicates of the policy. */
export type ContractCase = {
  /** Indices into the policy's predicates. The case holds where all of them do. */
  readonly predicates: readonly number[];
  readonly output?: OutputContract;
  readonly effects?: EffectRange;
};

/** How the process of a server runs: the tier of its projection, and the digest of the isolation order that it runs under. */
export type RunningProcess = { readonly tier: IsolationTier | "remote"; readonly order: string };

/**
 * A process whose projection leaves no way out: no network, no socket, nothing written in place (docs/semantics.md 2). A
 * contract with it holds for a process of this tier and order only.
 */
export type EnclosedProcess = { readonly tier: "A" | "A-"; readonly order: string };

/** Everything that a decision knows of one tool, or of one protocol method. */
export type ToolContract = {
  readonly server: string;
  readonly tool: string;
  /** Digest of the tool's manifest entry that these statements are about; undefined for protocol methods. */
  readonly toolDigest: string | undefined;
  /** Source of the effects; where they are unknown, source of the output. */
  readonly source: LabelSource;
  readonly effects: EffectRange;
  /** Effects of `must` that rest on the word of the server alone: they restrict, and permit nothing. */
  readonly claimed?: readonly Effect[];
  readonly flags: EffectFlags;
  /** By top-level name. An argument without an entry has the contract `rest`. */
  readonly arguments: ReadonlyMap<string, ArgumentContract>;
  readonly rest: ArgumentContract;
  /** Arguments that the schema requires; undefined where no schema says. */
  readonly required?: readonly string[];
  readonly output: OutputContract;
  /** In order; the first case that names the output and holds replaces it, and so for the effects. */
  readonly cases: readonly ContractCase[];
  /** Stores by name. A store that is read adds its label to the result; one that is written takes the arguments' labels. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Groups that gain lasting access to a store by the call (effects `grant`, `share`, `webhook` and the like). */
  readonly opens: readonly { readonly store: string; readonly audience: readonly string[] }[];
  /** Kinds of names in its results, whatever case of labels holds. */
  readonly types?: readonly FieldType[];
  /** True unless the call is a pure read whose arguments no other reader sees. */
  readonly consequential: boolean;
  /** The enclosed process that the belief rests on; absent where what the process can do is not bounded. */
  readonly process?: EnclosedProcess;
  /** An answer of the client to a question of the server: nothing that the agent chose to do. */
  readonly answers?: true;
};

const processStorePrefix = "proc:";

/** Name of the store that a policy declares for the memory and home of a server's process. */
export function processStore(server: string): string {
  return `${processStorePrefix}${server}`;
}

/**
 * Where the names in a result mean something: the stores that its tool reads, writes or opens, and what kind they are.
 * That two tools run in one process says nothing about names.
 */
export type ResultScope = { readonly stores: readonly string[]; readonly types: readonly FieldType[] };

export function resultScope({ reads, writes, opens, types }: ToolContract): ResultScope {
  const stores = new Set([...reads, ...writes, ...opens.map(({ store }) => store)]);
  const named = [...stores].filter((store) => !store.startsWith(processStorePrefix));
  return { stores: named.toSorted(), types: types ?? [] };
}

/** True for the role of a control argument. */
export function isControl(role: ArgumentRole): boolean {
  return role !== "content";
}

/** Whether the argument has this role, or may have it: for what a role restricts. */
export function mayHaveRole(role: ArgumentRole, wanted: Role): boolean {
  return role === wanted || role === "unsure";
}

/** True if a second call could do harm: another read does not raise a question (gateway.md 9, non-idempotent calls). */
export function harmsTwice({ consequential, effects, cases }: ToolContract): boolean {
  if (!consequential) return false;
  const ranges = [effects, ...cases.flatMap((one) => one.effects ?? [])];
  return ranges.some(({ may }) => may.some((effect) => !covers("read", effect)));
}
