/**
 * The trace of a server, observed from outside (lifecycle.md 2): the evidence for judging a result. `effect-record.ts`
 * writes it with the field names of ECS and OpenTelemetry.
 *
 * The `grade` of an event says how far it can be believed. `kernel` and `broker` are ground truth: the server cannot forge
 * them. A `hint` was read from the server's memory, which another thread may have changed meanwhile; `self` comes from the
 * server's own process. A hint may raise an alarm; it explains nothing away.
 */
import type { Question } from "../opinion.ts";
import type { IsolationTier } from "./scope.ts";

export const effectActions = [
  "file-read",
  "file-write",
  "file-create",
  "file-delete",
  "file-rename",
  "file-permissions",
  "file-link",
  "net-connect",
  "net-send",
  "net-listen",
  "dns-query",
  "process-spawn",
  "process-signal",
  "limit-hit",
  "system-call",
] as const;
export type EffectAction = (typeof effectActions)[number];

/** True for an event that changes the file system. */
export function changesFiles({ action }: { readonly action: EffectAction }): boolean {
  return action.startsWith("file-") && action !== "file-read";
}

/** `denied`: stopped by the projection. `failed`: refused by the system for another reason, such as a missing file. */
export const effectOutcomes = ["success", "denied", "failed", "unknown"] as const;
export type EffectOutcome = (typeof effectOutcomes)[number];

export const effectGrades = ["kernel", "broker", "hint", "self"] as const;
export type EffectGrade = (typeof effectGrades)[number];

/** `ambiguous`: in the windows of several calls; it counts for each of them. */
export const effectPhases = ["startup", "call", "ambiguous", "background"] as const;
export type EffectPhase = (typeof effectPhases)[number];

/** One event, or `count` equal ones. Every text is the server's: for display, bounded, never markup. */
export type EffectEvent = {
  readonly sequence: number;
  /** Monotonic ms of the gateway when it was seen. */
  readonly at: number;
  readonly action: EffectAction;
  readonly outcome: EffectOutcome;
  readonly grade: EffectGrade;
  readonly phase: EffectPhase;
  readonly count: number;
  /** Absolute path as the server sees it. */
  readonly path?: string;
  /** New path of a rename, target of a link. */
  readonly target?: string;
  readonly domain?: string;
  readonly address?: string;
  readonly port?: number;
  readonly transport?: "tcp" | "udp" | "unix";
  readonly program?: string;
  /** Arguments of a program in one line. */
  readonly commandLine?: string;
  readonly bytes?: number;
  /** Process id on the host. */
  readonly process?: number;
  /** Name of the system call, limit or rule, where it says more than the action. */
  readonly detail?: string;
};

/** One difference between the workspace and its projection: ground truth, read from the upper layer. */
export type WorkspaceChange = {
  /** Relative to the workspace, `/` between parts. */
  readonly path: string;
  readonly kind: "added" | "modified" | "deleted" | "mode" | "link" | "special";
  readonly bytes: number;
  /** No server may write the file: hooks of version control, rules for agents, shell start-up files. */
  readonly guarded: boolean;
};

/** The folders that patterns of a scope refer to; absolute paths. */
export type ProjectionPlaces = {
  readonly home: string;
  readonly workspace: readonly string[];
  /** The server's own program and packages, and the runtime it needs. */
  readonly code: readonly string[];
  /** Private folders that vanish with the projection (`/tmp`, its home). */
  readonly scratch: readonly string[];
};

/** The events and changes of one call, or between calls. */
export type EffectTrace = {
  readonly tier: IsolationTier | "remote";
  /** False where events may be missing: the tracer fell behind or ended. Absence then proves nothing. */
  readonly complete: boolean;
  /** Events that were not kept, beyond the limit of one trace. */
  readonly dropped: number;
  readonly places: ProjectionPlaces;
  readonly events: readonly EffectEvent[];
  readonly changes: readonly WorkspaceChange[];
  /** Set where the trace is worthless; a sentence with the cause. */
  readonly failure?: string;
};

/** Events of one trace; more are counted in `dropped`. Effects and denials are kept before reads. */
export const traceEventsMax = 256;
export const traceChangesMax = 1_024;
/** Characters of one text of an event. */
export const traceTextCharactersMax = 512;

/** Kind of the question for a trace; content `{server, call?}`. */
export const traceQuestionKind = "effect-trace";

/** Asks for the trace of a call; `call` undefined = events outside of calls since the last such question. */
export function traceQuestion(mechanism: string, server: string, call: string | undefined): Question {
  const key = traceKey(server, call);
  const content = { server, ...(call === undefined ? {} : { call }) };
  return { key, mechanism, kind: traceQuestionKind, content, mode: "required", unavailable: "deny" };
}

/** Key of `traceQuestion`. */
export function traceKey(server: string, call: string | undefined): string {
  return `${traceQuestionKind} ${server} ${call ?? ""}`;
}
