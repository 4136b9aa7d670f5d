/**
 * The five moments at which a decision is taken (system.md 3). A moment is plain data: everything that a mechanism may
 * look at, and nothing else. `at` is milliseconds of a monotonic clock, so the core needs no clock of its own.
 */
import type { ToolContract } from "./contract.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Label, LabelRange } from "./label.ts";

/** A server starts or its manifest changes. */
export type AdmitMoment = {
  readonly kind: "admit";
  readonly at: number;
  readonly server: string;
  readonly manifestDigest: string;
  readonly contracts: readonly ToolContract[];
};

/** One entry of a list is about to be shown. */
export type ExposeMoment = {
  readonly kind: "expose";
  readonly at: number;
  readonly contract: ToolContract;
};

/** A call is about to be sent to its server, or a tool of the client is about to act. */
export type CallMoment = {
  readonly kind: "call";
  readonly at: number;
  /** Id of the call, unique in the run. */
  readonly call: string;
  /** MCP method, for instance `tools/call`, or `host/tool` for a tool of the client itself. */
  readonly method: string;
  readonly contract: ToolContract;
  readonly arguments: JsonObject;
  /** Absolute paths or file URIs: roots of the client and its working directory. Paths below them are inside the workspace. */
  readonly workspace: readonly string[];
  /** Digest of server, method, tool and canonical arguments. A consent is bound to it. */
  readonly digest: string;
  /** Set where the call comes from the outbox: the `since` of the obligation with which it began to wait. */
  readonly heldSince?: number;
};

/** A message of a server is about to reach the agent. */
export type ReleaseMoment = {
  readonly kind: "release";
  readonly at: number;
  /** Call that the message answers; undefined for text outside any call in flight. */
  readonly call: string | undefined;
  /** Call that goes on after the message: a question inside a result, the state of a task. */
  readonly during?: string;
  readonly contract: ToolContract;
  /** Option of the call when it was decided; undefined for text outside any call. */
  readonly option: CallOption | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly value: Json;
};

/** The behaviour of a server since the last look is judged (lifecycle.md 3). `server`: undefined = all servers. */
export type ReflectMoment = {
  readonly kind: "reflect";
  readonly at: number;
  readonly server: string | undefined;
  readonly cause: "periodic" | "start" | "list" | "end";
};

export type Moment = AdmitMoment | ExposeMoment | CallMoment | ReleaseMoment | ReflectMoment;

/** One step of the path of a value, from its source to the argument, as explanations show it. */
export type PathStep = {
  /** Id of the call whose result held the value, or `instruction`, `operator`, `schema`, `message`, `context`. */
  readonly origin: string;
  readonly server?: string;
  readonly tool?: string;
  /** JSON Pointer into that source; empty = all of it. */
  readonly pointer: string;
  readonly label: Label;
};

/** Label of one argument, with its derivation. */
export type ArgumentLabel = {
  readonly range: LabelRange;
  /** Digest of the value; endorsement, declassification and consent for one value are bound to it. */
  readonly digest: string;
  readonly path: readonly PathStep[];
};

/**
 * The class of a call (formal.md 4.1): the tool, the truth of the policy's argument predicates, the keys of keyed rules
 * and the amounts of budgets. The model treats calls of one class alike.
 */
export type CallClass = {
  readonly server: string;
  readonly tool: string;
  /** Truth of predicates by their index in the policy; only those that rules of the tool mention. */
  readonly truths: ReadonlyMap<number, boolean>;
  /** Canonical keys by rule id. An empty list means that a key is missing or cannot be parsed. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  /** Amounts by rule id as decimal text, for budgets. */
  readonly amounts: ReadonlyMap<string, string>;
  /** No control argument of the contract carries a text or a number: nothing shows who chose the call. */
  readonly bare?: true;
};

/** An option of the agent: a class of calls with the labels of its arguments. */
export type CallOption = {
  readonly class: CallClass;
  readonly contract: ToolContract;
  readonly arguments: ReadonlyMap<string, ArgumentLabel>;
};
