/** A projection that records what it is asked, and answers as a test says. */
import type { EffectEvent, EffectTrace } from "../../../src/core/isolation/effect-trace.ts";
import { type Result, ok } from "../../../src/core/result.ts";
import type { Conclusion, Projection } from "../../../src/gateway/ports/projection.ts";

export function traceOf(events: readonly Partial<EffectEvent>[] = [], more: Partial<EffectTrace> = {}): EffectTrace {
  const places = { home: "/home/ada", workspace: ["/project"], code: [], scratch: [] };
  const whole = events.map((event, index): EffectEvent => {
    const plain = { at: 0, action: "file-read", outcome: "success", grade: "kernel", phase: "call", count: 1 } as const;
    return { sequence: index, ...plain, ...event };
  });
  return { tier: "A", complete: true, dropped: 0, places, events: whole, changes: [], ...more };
}

export class FakeProjection implements Projection {
  tier: Projection["tier"] = "A";
  notes: readonly string[] = [];
  readonly did: string[] = [];
  begins: Result<void, string> | Promise<Result<void, string>> = ok(undefined);
  traces: (call: string | undefined) => EffectTrace = () => traceOf();
  concludes: Result<Conclusion, string> = ok({ committed: [], held: [] });
  flushes: Result<Conclusion, string> = ok({ committed: [], held: [] });
  background: () => void = () => undefined;
  overdue: (call: string) => void = () => undefined;

  begin(call: string, tool: string, scope: string): Result<void, string> | Promise<Result<void, string>> {
    this.did.push(`begin ${tool} ${scope}`);
    this.lastCall = call;
    return this.begins;
  }
  lastCall = "";
  end(): void {
    this.did.push("end");
  }
  async trace(call: string | undefined): Promise<EffectTrace> {
    this.did.push(call === undefined ? "background" : "trace");
    return this.traces(call);
  }
  async conclude(_call: string, how: string): Promise<Result<Conclusion, string>> {
    this.did.push(how);
    return this.concludes;
  }
  async flush(): Promise<Result<Conclusion, string>> {
    this.did.push("flush");
    return this.flushes;
  }
  onBackground(listener: () => void): void {
    this.background = listener;
  }
  onOverdue(listener: (call: string) => void): void {
    this.overdue = listener;
  }
  kill(reason: string): void {
    this.did.push(`kill: ${reason}`);
  }
}
