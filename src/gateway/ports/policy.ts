import type { RunningProcess, ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Label, Lattice } from "../../core/label.ts";
import type { Engine } from "../../core/mechanism.ts";
import type { Reason } from "../../core/opinion.ts";
import type { ListedTool, RegulationView, Shortlist } from "../../core/explain/regulation-view.ts";
import type { ModelState, Run } from "../../core/run.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { PolicySettings } from "../../core/settings.ts";
import type { Verdict } from "../../core/verdict.ts";

/** Findings of the detectors in one entry (lifecycle.md 1.2): none, of one kind, or of two. */
export type EntryFindings = {
  readonly verdict: "allow" | "confirm" | "deny";
  readonly findings: readonly {
    readonly rule: string;
    /** What the rule finds, as a phrase. */
    readonly finds: string;
    /** Place in the entry (JSON Pointer). */
    readonly pointer: string;
    /** Beginning of the text: data of the server. */
    readonly excerpt: string;
  }[];
};

/**
 * A loaded policy with everything compiled. Immutable: a new policy is a new object, and applies from the next
 * decision.
 */
export type LoadedPolicy = PolicyDecides & PolicyDescribes & PolicyShares;

/** Decisions, and the facts of the policy that they are made of. */
export interface PolicyDecides {
  /** SHA-256 of the canonical policy JSON. */
  readonly digest: string;
  /** That JSON: the log keeps it, so that what was decided under it can be decided again. */
  readonly canonical: string;
  /** Name of the file or `default`, for messages. */
  readonly source: string;
  readonly engine: Engine;
  readonly lattice: Lattice;
  readonly settings: PolicySettings;
  /**
   * The contract of a tool as its server lists it (the whole `Tool` object, hostile). `toolDigest`: where only part of
   * that object is known any more, the digest that the whole one had. `process`: how the process of the server runs, where
   * that is known; the contract holds for no other.
   */
  contractOfTool(server: string, listed: JsonObject, toolDigest?: string, process?: RunningProcess): ToolContract;
  /**
   * The contract of any other message that reaches or leaves a server: `resources/read`, `prompts/get`,
   * `completion/complete`, `elicitation/create` answers, notifications, unknown methods (worst case).
   */
  contractOfMethod(server: string, method: string, process?: RunningProcess): ToolContract;
  /** The contract of a tool of the client itself, reported by a hook: server id `host:CLIENT`. */
  contractOfHostTool(client: string, tool: string): ToolContract;
  /** How a local server is to be isolated; undefined where the policy says nothing of isolation. */
  isolation(server: string): IsolationOrder | undefined;
  /** Server-level facts of the policy. */
  server(name: string): {
    readonly trusted: boolean;
    /** The operator says something of its tools, or chose a label pack for it. */
    readonly labelled: boolean;
    readonly mode: "enforce" | "observe";
  };
  /** Whether a label pack in use is pinned to exactly this tool, by the digest of its whole entry. */
  pinned(server: string, tool: string, digest: string): boolean;
  /** What in the text of a list entry gives orders to a model or is hidden from approvers; `siblings` are the names of its list. */
  findings(entry: JsonObject, siblings: readonly string[]): EntryFindings;
  /** Whether a rule lets all questions of the server to users pass, unchanged and without a heading of the gateway. */
  permitsQuestions(server: string): boolean;
  /** Lists may depend on the state of the run, so that they are neither cached nor shared. */
  readonly regulated: boolean;
  /**
   * What a list would show right after an event becomes part of the state: filters that remember, models and shortlists.
   */
  readonly remembersLists: boolean;
  /** What an event does to the automata of rules over time can depend on the stores of that moment. */
  readonly looksBackAtStores: boolean;
  /** Risks that an approver can accept for a run, each `HAZARD MOVE`. */
  readonly risks: readonly string[];
  /**
   * Why no run may start: moves that are not subject to a decision can bring about a hazard. A sentence with the way
   * on.
   */
  readonly startProblem: string | undefined;
  /**
   * Short digest of everything in a run that can change what is listed at `at` (monotonic ms, for leases): equal
   * digests, equal lists.
   */
  stateDigest(run: Run, at: number): string;
  /** The tools that a run with a registered instruction is shown; undefined = all. Never a security decision. */
  shortlist(run: Run, tools: readonly ListedTool[]): Shortlist | undefined;
  /**
   * Whether a call of it may be sent before it is on record: it only reads, no other party sees its arguments, and no
   * automaton counts it, so that a crash which forgets it forgets nothing that restricts.
   */
  mayRecordLate(contract: ToolContract): boolean;
  /** The label the agent's context has now (join of everything it holds), for status and sampling answers. */
  contextLabel(q: ModelState): Label;
  /**
   * The worst state, for a run whose history is lost: everything held, everything armed, nothing unlocked. The shared
   * part is that of `known`; without it, it is the worst as well.
   */
  topState(known?: ModelState): ModelState;
}

/** A call that a rule wants at the end of a run; without arguments it cannot be written. */
export type OwedCall = {
  readonly rule: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject | undefined;
};

/** The state of a run in words and numbers, for status and messages. */
export interface PolicyDescribes {
  /** State, power, hidden tools and accepted risks of a run at `at`; `contracts` are of what its servers list. */
  describeRegulation(run: Run, contracts: readonly ToolContract[], at: number): RegulationView;
  /** Labels and audiences of stores in words, for `runs` and messages. */
  describeStores(
    q: ModelState,
  ): readonly { readonly store: string; readonly label: string; readonly audience: readonly string[] }[];
  /** Debts and temporal locks that are open, in words. */
  describeOwed(q: ModelState): readonly string[];
  /** Calls that the gateway itself has to make if the run ends now, in order. */
  owedCalls(q: ModelState): readonly OwedCall[];
}

/** The part of a state that the runs of an owner share. */
export interface PolicyShares {
  /**
   * The verdict of another live run on a move of the shared part to that of `moved`; `other` is the state of that other
   * run before the move. A deny or confirm comes with its reason (formal.md 4.5: every live run is tested).
   */
  sharedVerdict(
    moved: ModelState,
    other: ModelState,
  ): { readonly verdict: Verdict; readonly reason: Reason | undefined };
  /** The shared part g changed between two states, so that other live runs must be informed. */
  sharedChanged(before: ModelState, after: ModelState): boolean;
  /** The state with the shared part g of another one (which is at least as large). */
  withShared(q: ModelState, shared: ModelState): ModelState;
  /**
   * The shared part g as JSON for the store, and back; undefined if it does not belong to this policy. Of `former` it
   * keeps what other policies of the owner put there.
   */
  exportShared(q: ModelState, former?: JsonObject): JsonObject;
  importShared(value: JsonObject): ModelState | undefined;
}

/** Why no run may start under a policy; observing stops nothing, so there it is only reported. */
export function startProblem({ settings, startProblem: problem }: LoadedPolicy): string | undefined {
  return settings.mode === "observe" ? undefined : problem;
}

/** Selects the policy that holds for a client (`match:` of the policies; most specific wins). */
export interface Policies {
  select(who: {
    readonly principal: string;
    readonly client: string | undefined;
    readonly tag: string | undefined;
  }): LoadedPolicy;
  /** Called when a new policy was loaded; runs are then refolded. */
  onChange(listener: () => void): void;
}
