/**
 * How the gateway runs a server in isolation and learns what it did. The adapter knows the system; the gateway knows
 * which call is in flight. Nothing here decides: `trace` is evidence for the mechanisms, and `conclude` obeys them.
 */
import type { EffectTrace } from "../../core/isolation/effect-trace.ts";
import type { Result } from "../../core/result.ts";
import type { IsolationTier } from "../../core/isolation/scope.ts";

/** The outcome for the writes of a call. */
export type Conclusion = {
  /** Paths that reached the workspace, relative to it. */
  readonly committed: readonly string[];
  /** Paths that wait for an approver (`sluicegate changes`), with the reason where it is not the policy's wish. */
  readonly held: readonly { readonly path: string; readonly reason?: string }[];
};

/** One running server in its projection, or a stand-in that says that there is none. */
export interface Projection {
  readonly tier: IsolationTier | "remote";
  /** Features that the tier lacks on this machine and the way to get them, one sentence each; empty for the best. */
  readonly notes: readonly string[];
  /** Names of hosts that it wanted and that isolation by default closes to it. */
  readonly wanted?: ReadonlySet<string> | undefined;
  /**
   * A call is about to be sent: its window opens, and what it may reach beyond the server's scope is granted until
   * `end`. `scope` is the text of the obligation. Undefined = at once, else resolves when it may be sent (`serial`). An
   * error is a sentence; then nothing may be sent.
   */
  begin(call: string, tool: string, scope: string): Result<void, string> | Promise<Result<void, string>>;
  /** The answer of a call has arrived, or none will: its window closes, and its grants end. */
  end(call: string): void;
  /**
   * The trace of a call, complete up to `end`; undefined = of the effects outside of calls since the last such query.
   * Never rejects: a trace that is no longer available has `failure`.
   */
  trace(call: string | undefined): Promise<EffectTrace>;
  /**
   * Applies the verdict to the writes of a call: into the workspace, kept for an approver, or thrown away. After
   * `discard` of any write the projection has seen data that does not exist, and ends. An error is a sentence: the
   * writes are kept, not lost.
   */
  conclude(call: string, how: "commit" | "keep" | "discard"): Promise<Result<Conclusion, string>>;
  /**
   * The run ended: the verdict on writes that waited for it (`per: run`) falls now, as strict as the strictest of its
   * calls; writes for which no call was judged are kept for an approver. Absent where nothing can wait.
   */
  flush?(): Promise<Result<Conclusion, string>>;
  /** Calls back when a call is unanswered beyond the time of its scope. It stays open until `end`. */
  onOverdue?(listener: (call: string) => void): void;
  /** Calls back when something happened outside of calls that is not noise. */
  onBackground(listener: () => void): void;
  /** Ends the server and everything in the projection at once. */
  kill(reason: string): void;
}

/** Writes of a run that wait for an approver. */
export type HeldChange = {
  readonly id: string;
  readonly run: string;
  readonly server: string;
  readonly call: string;
  readonly wallMs: number;
  readonly files: readonly { readonly path: string; readonly kind: string; readonly bytes: number }[];
  readonly reason?: string;
};
