/**
 * The five moments at which something is decided (DESIGN 3). A moment is plain data: everything a mechanism may look
 * at, and nothing else. `at` is milliseconds of a monotonic clock, so that the core needs no clock of its own.
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

/** Data is about to reach a server, or an act is about to happen. */
export type CallMoment = {
  readonly kind: "call";
  readonly at: number;
  readonly call: string;
  /** MCP method, for instance `tools/call`, or `host/tool` for a tool of the client itself. */
  readonly method: string;
  readonly contract: ToolContract;
  readonly arguments: JsonObject;
  /** Absolute paths or file URIs of the client's roots and its working directory: what "inside the workspace" means. */
  readonly workspace: readonly string[];
  /** Digest of server, tool and canonical arguments: what a consent is bound to. */
  readonly digest: string;
};

/** Something a server said is about to reach the agent. */
export type ReleaseMoment = {
  readonly kind: "release";
  readonly at: number;
  /** The call that it answers; undefined for text that belongs to no call in flight. */
  readonly call: string | undefined;
  /** The call that goes on while its server says this: a question inside a result, the state of a task. */
  readonly during?: string;
  readonly contract: ToolContract;
  /** What the call was decided on; undefined for text outside any call. */
  readonly option: CallOption | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly value: Json;
};

/** Accumulated behaviour is looked at. */
export type ReflectMoment = {
  readonly kind: "reflect";
  readonly at: number;
  readonly server: string | undefined;
  readonly cause: "periodic" | "start" | "list" | "end";
};

export type Moment = AdmitMoment | ExposeMoment | CallMoment | ReleaseMoment | ReflectMoment;

/** Where a value came from: a step of the path that an explanation shows. */
export type PathStep = {
  /** Call whose result held the value, or `instruction`, `operator`, `schema`. */
  readonly origin: string;
  readonly server?: string;
  readonly tool?: string;
  readonly pointer: string;
  readonly label: Label;
};

/** Label of one argument, and how the gateway knows. */
export type ArgumentLabel = {
  readonly range: LabelRange;
  /** Digest of the value at its pointer; endorsement and consent for one value are bound to it. */
  readonly digest: string;
  readonly path: readonly PathStep[];
};

/**
 * The class of a call (formal.md 4.1): the tool, the truth of every argument predicate the policy has for it, and the
 * canonical keys of keyed rules. Calls of one class are alike to the model.
 */
export type CallClass = {
  readonly server: string;
  readonly tool: string;
  /** Truth of predicates of the policy by index; only those that the tool's rules mention are present. */
  readonly truths: ReadonlyMap<number, boolean>;
  /** Canonical keys by rule id. An empty list means that a key is missing or cannot be parsed. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
  /** Amounts by rule id as decimal text, for budgets. */
  readonly amounts: ReadonlyMap<string, string>;
};

/** An option of the agent: a class of calls with the labels of its arguments. */
export type CallOption = {
  readonly class: CallClass;
  readonly contract: ToolContract;
  readonly arguments: ReadonlyMap<string, ArgumentLabel>;
};
