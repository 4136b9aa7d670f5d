import type { ToolContract } from "../core/contract.ts";
import type { JsonObject } from "../core/json.ts";
import type { Label, Lattice } from "../core/label.ts";
import type { Engine } from "../core/mechanism.ts";
import type { PolicySettings } from "../core/settings.ts";

/**
 * A loaded policy with everything compiled. Immutable: a new policy is a new object, and applies from the next
 * decision. `Q` is the abstract state of formal.md 4.1; the gateway never looks inside.
 */
export interface LoadedPolicy<Q> {
  /** SHA-256 of the canonical policy JSON. */
  readonly digest: string;
  /** Name of the file or `default`, for messages. */
  readonly source: string;
  readonly engine: Engine<Q>;
  readonly lattice: Lattice;
  readonly settings: PolicySettings;
  /** What is believed of a tool as its server lists it (the whole `Tool` object, hostile). */
  contractOfTool(server: string, listed: JsonObject): ToolContract;
  /**
   * What is believed of any other message that reaches or leaves a server: `resources/read`, `prompts/get`,
   * `completion/complete`, `elicitation/create` answers, notifications, unknown methods (worst case).
   */
  contractOfMethod(server: string, method: string): ToolContract;
  /** What is believed of a tool of the client itself, reported by a hook: server id `host:CLIENT`. */
  contractOfHostTool(client: string, tool: string): ToolContract;
  /** Server-level facts of the policy. */
  server(name: string): { readonly trusted: boolean; readonly mode: "enforce" | "observe" };
  /** Short digest of everything in the abstract state that can change what is listed; equal digests, equal lists. */
  stateDigest(q: Q): string;
  /**
   * Whether a call of it may be sent before it is on record: it only reads, nobody else sees its arguments, and no
   * automaton counts it, so that a crash which forgets it forgets nothing that restricts.
   */
  mayRecordLate(contract: ToolContract): boolean;
  /** The label the agent's context has now (join of everything it holds), for status and sampling answers. */
  contextLabel(q: Q): Label;
  /** Labels and audiences of stores in words, for `runs` and messages. */
  describeStores(
    q: Q,
  ): readonly { readonly store: string; readonly label: string; readonly audience: readonly string[] }[];
  /** Debts and temporal locks that are open, in words. */
  describeOwed(q: Q): readonly string[];
  /** The shared part g changed between two states, so that other live runs must be told. */
  sharedChanged(before: Q, after: Q): boolean;
  /** The state with the shared part g of another one (which is at least as large). */
  withShared(q: Q, shared: Q): Q;
  /** The worst state, for a run whose history is lost: everything held, everything armed, nothing unlocked. */
  topState(): Q;
  /** A state as JSON for snapshots, and back; undefined if it does not belong to this policy. */
  exportShared(q: Q): JsonObject;
  importShared(value: JsonObject): Q | undefined;
}

/** Which policy holds for a client (`match:` of the policies; most specific wins). */
export interface Policies<Q> {
  select(who: {
    readonly principal: string;
    readonly client: string | undefined;
    readonly tag: string | undefined;
  }): LoadedPolicy<Q>;
  /** Called when a new policy was loaded; runs are then refolded. */
  onChange(listener: () => void): void;
}
