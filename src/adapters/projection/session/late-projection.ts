/**
 * The projection of a server that is still being launched. It is there with the connection, so that the gateway cannot
 * mistake a server that starts for one without isolation: a call waits here until the server is in its projection, and
 * is refused when it never gets there.
 */
import type { EffectTrace } from "../../../core/isolation/effect-trace.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { Conclusion, Projection } from "../../../gateway/ports/projection.ts";

type WriteVerdict = Parameters<Projection["conclude"]>[1];

const nothingDone: Conclusion = { committed: [], held: [] };

export class LateProjection implements Projection {
  #inner: Projection | undefined;
  #refusal: string | undefined;
  /** Resolves when the server runs, or never will. */
  readonly #settled: Promise<void>;
  #settle: () => void = () => undefined;
  /** Calls that wait for the server, less those that were given up. */
  readonly #waiting = new Set<string>();
  readonly #background = new Set<() => void>();
  readonly #overdue = new Set<(call: string) => void>();

  constructor() {
    this.#settled = new Promise((resolve) => (this.#settle = resolve));
  }

  get tier(): Projection["tier"] {
    return this.#inner?.tier ?? "none";
  }

  get notes(): readonly string[] {
    return this.#inner?.notes ?? [this.#refusal ?? "The server is still being started in its projection."];
  }

  get wanted(): Projection["wanted"] {
    return this.#inner?.wanted;
  }

  /** Call when the server runs. Calls that came meanwhile begin now; an earlier kill still takes effect. */
  launched(inner: Projection): void {
    if (this.#inner !== undefined) return;
    this.#inner = inner;
    for (const listener of this.#background) inner.onBackground(listener);
    for (const listener of this.#overdue) inner.onOverdue?.(listener);
    if (this.#refusal !== undefined) inner.kill(this.#refusal);
    this.#settle();
  }

  /** Call when the server will not run; the reason is a sentence. */
  failed(reason: string): void {
    this.#refusal ??= reason;
    this.#settle();
  }

  begin(call: string, tool: string, scope: string): Result<void, string> | Promise<Result<void, string>> {
    if (this.#refusal !== undefined) return err(this.#refusal);
    return this.#inner === undefined ? this.#beginLater(call, tool, scope) : this.#inner.begin(call, tool, scope);
  }

  end(call: string): void {
    if (!this.#waiting.delete(call)) this.#inner?.end(call);
  }

  async trace(call: string | undefined): Promise<EffectTrace> {
    // Before the server runs there are no events; a handshake must not wait for that answer.
    if (call === undefined && this.#inner === undefined && this.#refusal === undefined) return nothingYet;
    await this.#settled;
    return this.#inner === undefined ? untold(this.#refusal ?? untoldText) : this.#inner.trace(call);
  }

  async conclude(call: string, how: WriteVerdict): Promise<Result<Conclusion, string>> {
    await this.#settled;
    return this.#inner === undefined ? ok(nothingDone) : this.#inner.conclude(call, how);
  }

  async flush(): Promise<Result<Conclusion, string>> {
    return (await this.#inner?.flush?.()) ?? ok(nothingDone);
  }

  onBackground(listener: () => void): void {
    this.#background.add(listener);
    this.#inner?.onBackground(listener);
  }

  onOverdue(listener: (call: string) => void): void {
    this.#overdue.add(listener);
    this.#inner?.onOverdue?.(listener);
  }

  kill(reason: string): void {
    this.#refusal ??= reason;
    this.#inner?.kill(reason);
    this.#settle();
  }

  async #beginLater(call: string, tool: string, scope: string): Promise<Result<void, string>> {
    this.#waiting.add(call);
    await this.#settled;
    const wanted = this.#waiting.delete(call);
    if (this.#refusal !== undefined || this.#inner === undefined) return err(this.#refusal ?? untoldText);
    return wanted ? this.#inner.begin(call, tool, scope) : err(abandonedText);
  }
}

const nothingYet: EffectTrace = {
  tier: "none",
  complete: true,
  dropped: 0,
  places: { home: "", workspace: [], code: [], scratch: [] },
  events: [],
  changes: [],
};

function untold(failure: string): EffectTrace {
  return { ...nothingYet, complete: false, failure };
}

const untoldText = "The server did not start, so nothing can be said of what it did. Restart the session.";
const abandonedText = "Not executed: the call was given up while its server started.";
