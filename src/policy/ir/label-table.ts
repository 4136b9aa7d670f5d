/** Statements of a policy about tools, compiled once: the operator's labels, the packs, and the facts about servers. */
import type { ContractCase, EnclosedProcess, FieldType, OutputContract, ArgumentRole } from "../../core/contract.ts";
import type { EffectFlags, EffectRange } from "../../core/effect.ts";
import type { Label, LabelRange, Lattice } from "../../core/label.ts";
import type { DocumentPath, Reporter } from "../document/diagnostic.ts";
import type { BoundForm, LabelForm } from "../document/long-form.ts";
import type { LabelAtom } from "./ir.ts";

/** `restrict` in block, must, confirm and hazards; `permit` in allow and wherever something unlocks. */
export type Polarity = "restrict" | "permit";

export type LabelCompiler = {
  readonly lattice: Lattice;
  readonly range: (form: LabelForm, path: DocumentPath) => LabelRange;
  readonly atom: (form: LabelForm, polarity: Polarity, path: DocumentPath) => LabelAtom;
  /** Restrictions that a value must not carry to reach this audience under this bound. */
  readonly forbidden: (bound: BoundForm | undefined, audience: readonly string[], path: DocumentPath) => Label;
  /** Groups as bit i = group i of the lattice. */
  readonly groupBits: (groups: readonly string[], path: DocumentPath) => number;
  /** The same lattice with its problems sent to the given reporter: for labels that come from a server. */
  readonly quiet: (report: Reporter) => LabelCompiler;
};

export type ArgumentStatement = {
  readonly role?: ArgumentRole;
  readonly sink?: boolean;
  /** Groups that see the argument. */
  readonly audience?: readonly string[];
  /** Restrictions that may not pass, for the stated bound; undefined = by the clearance of the audience. */
  readonly bound?: (audience: readonly string[]) => Label;
  readonly type?: string;
};

/** The statement of one source about one tool; an absent part states nothing. */
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
  readonly types?: readonly FieldType[];
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
  /** Accepted readings by `readingKey`. */
  readonly readings: ReadonlyMap<string, ToolStatement>;
  readonly servers: ReadonlyMap<string, ServerFacts>;
  /** Audience of each declared store, as groups. */
  readonly stores: ReadonlyMap<string, readonly string[]>;
  /** Labels that servers ship with their tools are not read (`admission: {labels: none}`). */
  readonly unshipped?: true;
  /** By server, where the projection of its running process leaves that no way out. */
  readonly processes: ReadonlyMap<string, Enclosure>;
};

/** A process without a way out, as contracts count on it. */
export type Enclosure = {
  readonly process: EnclosedProcess;
  /** It reads no workspace and no path, which others could write while it runs. */
  readonly apart: boolean;
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

/** The table for servers that run so; undefined: nothing bounds what the process of the server can do. */
export function withProcess(table: LabelTable, server: string, running: Enclosure | undefined): LabelTable {
  return running === undefined ? table : { ...table, processes: new Map(table.processes).set(server, running) };
}
