import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contract, option } from "../../../test/kit/policy/scene.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Lease } from "../../policy/sections/regulation.ts";
import { type Leases, leaseReasons, leasesAfter, leasesOf, leaseState, nextLeaseEnd, noLeases } from "./leases.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const run = contract("run");
const send = contract("send");
const allowed = (tool: typeof run, at = 0): RunEvent => ({
  at,
  kind: "dispatched",
  call: "c",
  method: "tools/call",
  option: option(tool),
  arguments: {},
  digest: "d",
});
const begun = (at: number): RunEvent => ({ at, kind: "begun", principal: "p" });
const after = (leases: readonly Lease[], ...events: readonly RunEvent[]): Leases =>
  events.reduce((memory, event) => leasesAfter(leases, memory, event), noLeases);
const tools = [{ server: "*", tool: "run" }];

describe("calls", () => {
  const leases: readonly Lease[] = [{ tools: [...tools, { server: "s", tool: "se*" }], callsMax: 2 }];

  it("are counted over all tools of a lease, from the moment they are allowed", () => {
    const memory = after(leases, begun(0), allowed(run), allowed(contract("other")));
    expect(leaseState(leases[0] as Lease, 0, memory, 5)).toEqual({ kind: "open", callsLeft: 1, until: undefined });
    const used = leasesAfter(leases, memory, allowed(send));
    expect(leaseState(leases[0] as Lease, 0, used, 5)).toEqual({ kind: "used-up" });
    expect(leaseReasons(leases, used, run, 5)).toEqual([
      {
        mechanism: "regulate",
        code: "SG-LEASE",
        verdict: "deny",
        facts: { ended: "used-up", limit: "2 calls" },
        way: "start a new run for it",
      },
    ]);
    expect(leaseReasons(leases, used, contract("other"), 5)).toEqual([]);
    expect(leaseReasons(leases, memory, send, 5)).toEqual([]);
  });

  it("that are only asked for, or fail, change nothing", () => {
    const memory = after(leases, begun(0), allowed(run));
    const refused: RunEvent = { at: 1, kind: "refused", call: "c", server: "s", tool: "t", digest: "d", codes: [] };
    expect(leasesAfter(leases, memory, refused)).toBe(memory);
    expect(leasesAfter(leases, memory, { at: 1, kind: "failed", call: "c", noEffect: true })).toBe(memory);
  });
});

describe("time", () => {
  const lease: Lease = { tools, forMs: 60_000 };

  it("ends exactly when it is over", () => {
    const memory = after([lease], begun(1_000));
    expect(leaseState(lease, 0, memory, 60_999)).toEqual({ kind: "open", callsLeft: undefined, until: 61_000 });
    expect(leaseState(lease, 0, memory, 61_000)).toEqual({ kind: "over" });
    expect(nextLeaseEnd([lease], memory, 60_999)).toBe(61_000);
    expect(nextLeaseEnd([lease], memory, 61_000)).toBeUndefined();
    expect(leaseReasons([lease], memory, run, 61_000)[0]?.facts).toEqual({
      ended: "over",
      limit: "60 s after the run began",
    });
  });

  it("runs from the first thing that is known of a run", () => {
    expect(leaseState(lease, 0, noLeases, 9)).toMatchObject({ until: 60_009 });
    expect(after([lease], allowed(run, 7), begun(3)).begunAt).toBe(3);
    expect(after([lease], allowed(run, 7), { at: 9, kind: "succeeded", call: "c" }).begunAt).toBe(7);
  });

  it("of several leases the first to end comes next, and a tool needs all of its leases", () => {
    const both: readonly Lease[] = [lease, { tools, forMs: 5_000 }, { tools, callsMax: 1 }];
    const memory = after(both, begun(0), allowed(run, 1));
    expect(nextLeaseEnd(both, memory, 1)).toBe(5_000);
    expect(leaseReasons(both, memory, run, 5_000).map(({ facts }) => facts)).toEqual([
      { ended: "over", limit: "5 s after the run began" },
      { ended: "used-up", limit: "1 call" },
    ]);
  });
});

it("a run whose history is lost has used all of them, for calls and for a time", () => {
  const leases: readonly Lease[] = [
    { tools, callsMax: 3 },
    { tools, forMs: 50 },
  ];
  const memory = after(leases, begun(0));
  expect(leaseReasons(leases, leasesOf(leases, memory, false), run, 1)).toEqual([]);
  expect(leaseReasons(leases, leasesOf(leases, memory, true), run, 1)).toHaveLength(2);
});

it("law: whatever happens, what has ended never opens again", () => {
  const leases: readonly Lease[] = [{ tools, callsMax: 3, forMs: 50 }];
  const steps = fc.array(fc.tuple(fc.nat(10), fc.constantFrom(run, send)), { maxLength: 20 });
  fc.assert(
    fc.property(steps, (given) => {
      let at = 0;
      let memory = after(leases, begun(0));
      let ended = false;
      let calls = 0;
      for (const [wait, tool] of given) {
        at += wait;
        const now = leaseReasons(leases, memory, run, at).length > 0;
        expect(now).toBe(calls >= 3 || at >= 50);
        expect(ended && !now).toBe(false);
        ended = now;
        memory = leasesAfter(leases, memory, allowed(tool, at));
        if (tool === run) calls += 1;
      }
    }),
    { numRuns: runs },
  );
});
