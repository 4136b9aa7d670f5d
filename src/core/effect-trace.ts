/**
 * What a server did, as seen from outside of it (lifecycle.md 2): the evidence that a result is judged with. Names of
 * fields in records are those of ECS and OpenTelemetry where they have one (`effect-record.ts`).
 *
 * How far an event can be believed is its `grade`. `kernel` and `broker` are ground truth: the server cannot forge
 * them. A `hint` is what a tracer read of the server's memory, which another thread may have changed meanwhile; `self`
 * comes from the server's own process. Hints may raise an alarm and explain nothing away.
 */
import type { Question } from "./opinion.ts";
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

/** True for what leaves the file system other than it was. */
export function changesFiles({ action }: { readonly action: EffectAction }): boolean {
  return action.startsWith("file-") && action !== "file-read";
}

/** `denied`: stopped by the projection. `failed`: the system said no for another reason, such as a missing file. */
export const effectOutcomes = ["success", "denied", "failed", "unknown"] as const;
export type EffectOutcome = (typeof effectOutcomes)[number];

export const effectGrades = ["kernel", "broker", "hint", "self"] as const;
export type EffectGrade = (typeof effectGrades)[number];

/** `ambiguous`: in the windows of several calls, so it counts for each of them. */
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
  /** The file may never be written by a server: hooks of version control, rules for agents, shell start-up files. */
  readonly guarded: boolean;
};

/** Where a projection has what patterns of a scope speak of; absolute paths. */
export type ProjectionPlaces = {
  readonly home: string;
  readonly workspace: readonly string[];
  /** The server's own program and packages, and the runtime it needs. */
  readonly code: readonly string[];
  /** Private folders that vanish with the projection (`/tmp`, its home). */
  readonly scratch: readonly string[];
};

export type EffectTrace = {
  readonly tier: IsolationTier | "remote";
  /** False when something may be missing: the tracer fell behind or ended. Then nothing follows from absence. */
  readonly complete: boolean;
  /** Events that were not kept, beyond the limit of one trace. */
  readonly dropped: number;
  readonly places: ProjectionPlaces;
  readonly events: readonly EffectEvent[];
  readonly changes: readonly WorkspaceChange[];
  /** Why the projection can vouch for nothing any more. */
  readonly failure?: string;
};

/** Events of one trace; what is beyond is counted in `dropped`, effects and denials are kept before reads. */
export const traceEventsMax = 256;
export const traceChangesMax = 1_024;
/** Characters of one text of an event. */
export const traceTextCharactersMax = 512;

export const traceQuestionKind = "effect-trace";

/** Asks what a call did; `call` undefined = what the server did outside of calls since that was asked last. */
export function traceQuestion(mechanism: string, server: string, call: string | undefined): Question {
  const key = traceKey(server, call);
  const content = { server, ...(call === undefined ? {} : { call }) };
  return { key, mechanism, kind: traceQuestionKind, content, mode: "required", unavailable: "deny" };
}

export function traceKey(server: string, call: string | undefined): string {
  return `${traceQuestionKind} ${server} ${call ?? ""}`;
}
