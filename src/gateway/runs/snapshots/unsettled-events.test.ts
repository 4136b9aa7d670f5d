/** What is kept of a long history says of calls in doubt what all of it says. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { harmsTwice } from "../../../core/contract.ts";
import type { RunEvent } from "../../../core/event.ts";
import { option } from "../../../../test/kit/gateway/log-records.ts";
import { doubtsIn, leavesDoubt } from "../in-doubt.ts";
import { joinedCause } from "../restrictive-images.ts";
import { UnsettledEvents } from "./unsettled-events.ts";

function unsettledEvents(events: Iterable<RunEvent>): readonly RunEvent[] {
  const unsettled = new UnsettledEvents();
  for (const event of events) unsettled.add(event);
  return unsettled.list();
}

type Step = {
  readonly digest: string;
  readonly consent: boolean;
  readonly harms: boolean;
  readonly ends: readonly string[];
};

/** The events of calls, one after the other, each with the endings that are wanted. */
function eventsOf(steps: readonly Step[]): readonly RunEvent[] {
  return steps.flatMap(({ digest, consent, harms, ends }, index): readonly RunEvent[] => {
    const call = `call-${index}`;
    const at = index;
    const effects = harms ? option.contract.effects : ({ must: ["read.local"], may: ["read.local"] } as const);
    const contract = { ...option.contract, effects, consequential: harms };
    const sent = {
      kind: "dispatched",
      at,
      call,
      method: "tools/call",
      digest,
      arguments: {},
      option: { ...option, contract },
    } as const;
    const label = option.contract.output.label;
    const told = { kind: "released", at, call, server: "mail", tool: "send", label, fields: [] } as const;
    const endings: Readonly<Record<string, RunEvent>> = {
      succeeded: { kind: "succeeded", at, call },
      failed: { kind: "failed", at, call, noEffect: false },
      lost: { kind: "unknown", at, call, cause: "the gateway stopped" },
      cancelled: { kind: "unknown", at, call, cause: "cancelled" },
      joined: { kind: "unknown", at, call, cause: joinedCause },
      passed: { ...told, how: "pass" },
      withheld: { ...told, how: "withhold" },
    };
    return [consent ? { ...sent, consent: "approval-1" } : sent, ...ends.flatMap((end) => endings[end] ?? [])] as const;
  });
}

const ends = [
  ["succeeded", "passed"],
  ["succeeded", "withheld"],
  ["succeeded", "withheld", "passed"],
  ["failed", "passed"],
  ["lost"],
  ["lost", "passed"],
  ["cancelled"],
  ["joined"],
  [],
  ["succeeded"],
] as const;

const step: fc.Arbitrary<Step> = fc.record({
  digest: fc.constantFrom("a", "b", "c"),
  consent: fc.boolean(),
  harms: fc.boolean(),
  ends: fc.constantFrom(...ends),
});

it("B14: what is kept says of calls in doubt what the whole history says, with whatever follows", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(80), (steps, cut) => {
      const events = eventsOf(steps);
      const kept = [...unsettledEvents(events.slice(0, cut)), ...events.slice(cut)];
      expect([...doubtsIn(kept)]).toEqual([...doubtsIn(events)]);
      expect(unsettledEvents(unsettledEvents(events))).toEqual(unsettledEvents(events));
    }),
    { numRuns: 150 },
  );
});

it("keeps little of a run of many calls, all alike or all different, with or without results", () => {
  for (const all of [["succeeded", "passed"], ["succeeded"], ["joined"], ["failed", "passed"]]) {
    for (const digests of [1, 3_000]) {
      const steps = Array.from({ length: 3_000 }, (_, index) => ({
        digest: `${index % digests}`,
        consent: false,
        harms: true,
        ends: all,
      }));
      expect(unsettledEvents(eventsOf(steps)).length).toBeLessThanOrEqual(2_100);
    }
  }
});

/** The same in plain words: after each event the list of its digest is looked through as a whole. */
function plainly(events: readonly RunEvent[]): readonly RunEvent[] {
  type Open = { events: RunEvent[]; calls: Map<string, number>; doubt: boolean; withheld: string | undefined };
  const byDigest = new Map<string, Open>();
  const digests = new Map<string, string>();
  let count = 0;
  const settle = (digest: string, open: Open): void => {
    if (open.doubt || open.withheld !== undefined) return;
    open.calls = new Map([...open.calls].filter(([, since]) => count - since <= 1_000));
    open.events = open.events.filter((event) => "call" in event && open.calls.has(event.call ?? ""));
    if (open.calls.size === 0) byDigest.delete(digest);
  };
  for (const event of events) {
    if (!("call" in event) || event.call === undefined) continue;
    const { call } = event;
    if (event.kind === "dispatched") {
      count += 1;
      digests.set(call, event.digest);
    }
    const digest = digests.get(call);
    if (digest === undefined) continue;
    const open: Open = byDigest.get(digest) ?? { events: [], calls: new Map(), doubt: false, withheld: undefined };
    byDigest.set(digest, open);
    open.events.push(event);
    const harms = open.events.some(
      (one) => one.kind === "dispatched" && one.call === call && harmsTwice(one.option.contract),
    );
    if (event.kind === "dispatched") {
      if (event.consent !== undefined) open.doubt = false;
      open.withheld = undefined;
      open.calls.set(call, count);
    } else if (event.kind === "unknown") {
      if (leavesDoubt(event.cause) && harms) open.doubt = true;
      open.calls.delete(call);
    } else if (event.kind === "released") {
      if (harms) open.doubt = false;
      if (event.how === "withhold") open.withheld = call;
      else if (open.withheld === call) open.withheld = undefined;
      open.calls.delete(call);
    }
    settle(digest, open);
  }
  for (const [digest, open] of byDigest) settle(digest, open);
  const kept = new Set([...byDigest.values()].flatMap((open) => open.events));
  return events.filter((event) => kept.has(event));
}

/** Calls beside each other: the events of each in their order, those of all in any. */
function interleaved(events: readonly RunEvent[], order: readonly number[]): readonly RunEvent[] {
  const queues = [...Map.groupBy(events, (event) => ("call" in event ? event.call : "")).values()];
  const mixed: RunEvent[] = [];
  for (let turn = 0; mixed.length < events.length; turn += 1) {
    const open = queues.filter(({ length }) => length > 0);
    const next = open[(order[turn % order.length] ?? 0) % Math.min(open.length, 5)]?.shift();
    if (next !== undefined) mixed.push(next);
  }
  return mixed;
}

it("B14: event by event it keeps what a look through the whole list keeps", () => {
  const order = fc.array(fc.nat(4), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), order, (steps, turns) => {
      const events = interleaved(eventsOf(steps), turns);
      expect(unsettledEvents(events)).toEqual(plainly(events));
    }),
    { numRuns: 300 },
  );
});

it("B14: and after a thousand calls, where results that never came are given up", () => {
  for (const first of [["succeeded"], ["succeeded", "withheld"], ["lost"], []]) {
    const wanted = (digest: string, all: readonly string[]): Step => ({
      digest,
      consent: false,
      harms: true,
      ends: all,
    });
    const many = Array.from({ length: 1_005 }, () => wanted("b", ["succeeded", "passed"]));
    const events = eventsOf([wanted("a", first), wanted("a", []), ...many, wanted("a", ["succeeded"])]);
    for (const cut of [1_000, 1_003, 2_000, events.length]) {
      expect(unsettledEvents(events.slice(0, cut))).toEqual(plainly(events.slice(0, cut)));
    }
  }
});

it("B14: each event costs the same work, however many calls have no result yet", () => {
  const readsOf = (calls: number): number => {
    let reads = 0;
    const steps = Array.from({ length: calls }, () => ({ digest: "a", consent: false, harms: true, ends: [] }));
    const counted = eventsOf(steps).map(
      (event) => new Proxy(event, { get: (target, name) => ((reads += 1), Reflect.get(target, name) as unknown) }),
    );
    const unsettled = new UnsettledEvents();
    for (const event of counted) unsettled.add(event);
    unsettled.list();
    return reads / calls;
  };
  expect(readsOf(2_000)).toBeLessThanOrEqual(readsOf(20) + 1);
});
