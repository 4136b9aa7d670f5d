/** What is kept of a long history says of calls in doubt what all of it says. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { RunEvent } from "../../../core/event.ts";
import { option } from "../../../../test/kit/gateway/log-records.ts";
import { doubtsIn } from "../in-doubt.ts";
import { joinedCause } from "../restrictive-images.ts";
import { unsettledEvents } from "./unsettled-events.ts";

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
