/** What a policy says of tools, compiled once: the operator's labels, the packs, and the facts about servers. */
import type { Role } from "../../core/contract.ts";
import type { ContractCase, OutputContract } from "../../core/contract.ts";
import type { EffectFlags, EffectRange } from "../../core/effect.ts";
import type { Label } from "../../core/label.ts";
import type { LabelCompiler } from "../compile/labels.ts";

export type ArgumentStatement = {
  readonly role?: Role;
  readonly sink?: boolean;
  /** Groups that see the argument. */
  readonly audience?: readonly string[];
  /** Restrictions that may not pass, for the stated bound; undefined = by the clearance of the audience. */
  readonly bound?: (audience: readonly string[]) => Label;
};

/** What one source says of one tool; an absent part says nothing. */
export type ToolStatement = {
  readonly effects?: EffectRange;
  readonly flags?: EffectFlags;
  readonly arguments: ReadonlyMap<string, ArgumentStatement>;
  readonly rest?: ArgumentStatement;
  readonly output?: OutputContract;
  readonly cases?: readonly ContractCase[];
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  readonly opens?: readonly { readonly store: string; readonly audience: readonly string[] }[];
};

export type LabelEntry = {
  readonly server: string;
  readonly tool: string;
  readonly statement: ToolStatement;
};

export type PackTable = {
  readonly name: string;
  readonly reach: "local" | "network" | undefined;
  /** Digests of tools as listed, by tool name. */
  readonly digests: ReadonlyMap<string, readonly string[]>;
  readonly tools: ReadonlyMap<string, ToolStatement>;
};

export type ServerFacts = {
  readonly trust: "trusted" | "untrusted" | undefined;
  readonly operator: string | undefined;
  readonly reach: "local" | "network" | undefined;
  readonly pack: string | undefined;
  readonly mode: "enforce" | "observe";
};

export type LabelTable = {
  readonly labels: LabelCompiler;
  /** Most specific first. */
  readonly entries: readonly LabelEntry[];
  readonly packs: ReadonlyMap<string, PackTable>;
  readonly servers: ReadonlyMap<string, ServerFacts>;
  /** Audience of each declared store, as groups. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
};

const unknownServer: ServerFacts = {
  trust: undefined,
  operator: undefined,
  reach: undefined,
  pack: undefined,
  mode: "enforce",
};

export function serverFacts(table: LabelTable, server: string): ServerFacts {
  return table.servers.get(server) ?? unknownServer;
}
