/** Parts of a projection that see what a test says they see, and a clock that stands still until it is moved. */
import { PassThrough } from "node:stream";
import type { Sighting, Launched, WorkspaceProjection } from "../../../src/adapters/projection/parts.ts";
import type { ProcessEnd } from "../../../src/adapters/process/server-process.ts";
import type { WorkspaceChange } from "../../../src/core/isolation/effect-trace.ts";
import { type Result, ok } from "../../../src/core/result.ts";
import type { IsolationOrder, Scope } from "../../../src/core/isolation/scope.ts";
import type { Conclusion } from "../../../src/gateway/ports/projection.ts";
import { anyOrder } from "./isolation-order.ts";

export function sighting(more: Partial<Sighting> = {}): Sighting {
  return { at: 0, action: "file-read", outcome: "success", grade: "hint", path: "/project/a", ...more };
}

export class FakeTracer {
  lost = 0;
  failure: string | undefined;
  closed = false;
  readonly #seen: Sighting[] = [];
  see(...more: Partial<Sighting>[]): void {
    this.#seen.push(...more.map(sighting));
  }
  drain(): readonly Sighting[] {
    return this.#seen.splice(0);
  }
  close(): void {
    this.closed = true;
  }
}

export class FakeBroker extends FakeTracer {
  readonly granted = new Map<string, readonly string[]>();
  grant(call: string, destinations: readonly string[]): void {
    this.granted.set(call, destinations);
  }
  revoke(call: string): void {
    this.granted.delete(call);
  }
}

/** A workspace whose changes are a plain list; `did` tells the verdicts. */
export class FakeWorkspace implements WorkspaceProjection {
  readonly did: string[] = [];
  /** Calls whose writes were saved until the end of their run. */
  readonly saves: string[] = [];
  readonly pending = new Map<string, WorkspaceChange>();
  looks = 0;
  fails: string | undefined;
  write(path: string, bytes = 1): void {
    this.pending.set(path, { path, kind: "added", bytes, guarded: false });
  }
  async changes(): Promise<Result<readonly WorkspaceChange[], string>> {
    this.looks += 1;
    return this.fails === undefined ? ok([...this.pending.values()]) : { ok: false, error: this.fails };
  }
  async conclude(how: string, { call }: { readonly call: string }): Promise<Result<Conclusion, string>> {
    if (this.fails !== undefined) return { ok: false, error: this.fails };
    const paths = [...this.pending.keys()];
    this.pending.clear();
    if (paths.length > 0) this.did.push(`${how} ${call}: ${paths.join(" ")}`);
    return ok({
      committed: how === "commit" ? paths : [],
      held: how === "keep" ? paths.map((path) => ({ path })) : [],
    });
  }
  async save(paths: ReadonlySet<string>, { call }: { readonly call: string }): Promise<Result<void, string>> {
    if (this.fails !== undefined) return { ok: false, error: this.fails };
    this.saves.push(`${call}: ${[...paths].join(" ")}`);
    return ok(undefined);
  }
  async close(): Promise<void> {
    this.did.push("close");
  }
}

/** Time that a test moves. */
export class FakeClock {
  now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];
  monotonicMs = (): number => this.now;
  after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { at: this.now + delayMs, run };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((one) => one !== timer));
  };
  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.length;
  }
  move(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const [next] = this.#timers.toSorted((a, b) => a.at - b.at).filter((timer) => timer.at <= until);
      if (next === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.now = next.at;
      next.run();
    }
    this.now = until;
  }
}

export class FakeServer {
  readonly tracer = new FakeTracer();
  readonly broker = new FakeBroker();
  readonly limits = new FakeTracer();
  readonly workspace = new FakeWorkspace();
  readonly clock = new FakeClock();
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  killed = 0;
  #ended: (end: ProcessEnd) => void = () => undefined;
  readonly ended = new Promise<ProcessEnd>((resolve) => (this.#ended = resolve));

  exit(): void {
    this.#ended({ code: 0, signal: undefined, lastWords: "", guardianLost: false });
  }

  launched(more: Partial<Launched> = {}): Launched {
    const { tracer, broker, workspace, limits, stdin, stdout, ended } = this;
    const stop = async (): Promise<ProcessEnd> => {
      this.exit();
      return ended;
    };
    return {
      process: { processGroup: 0, stdin, stdout, ended, stop },
      tier: "A",
      notes: [],
      places: { home: "/home/ada", workspace: ["/project"], code: ["/opt/server"], scratch: ["/tmp"] },
      tracer,
      broker,
      workspace,
      limits,
      kill: () => {
        this.killed += 1;
        this.exit();
      },
      ...more,
    };
  }
}

export function orderWith(
  more: Partial<Scope> = {},
  workspace: Partial<Scope["files"]["workspace"]> = {},
): IsolationOrder {
  const { scope } = anyOrder;
  const files = { ...scope.files, workspace: { ...scope.files.workspace, ...workspace } };
  const limits = { ...scope.limits, callTimeoutMs: 120_000 };
  return { ...anyOrder, scope: { ...scope, files, limits, ...more } };
}

export function scopeText(allow: readonly string[] = [], serial = false): string {
  return JSON.stringify({ allow, order: anyOrder.digest, serial });
}
