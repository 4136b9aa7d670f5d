import { describe, expect, it } from "vitest";
import type { ToolContract } from "../../core/contract.ts";
import type { CallOption } from "../../core/moment.ts";
import type { RunEvent } from "../../core/event.ts";
import { doubtsIn } from "./in-doubt.ts";
import { doubtsMax } from "../ports/limits.ts";
import { joinedCause } from "./restrictive-images.ts";

/** The beginning of a call; the digest stands for what it does. */
function allowed(
  call: string,
  digest: string,
  more: { effect?: string; consent?: string; at?: number } = {},
): RunEvent {
  const effects = { must: [], may: [more.effect ?? "write.local"] };
  const contract = { consequential: true, effects, cases: [] } as unknown as ToolContract; // all that a doubt looks at
  const option = { contract } as CallOption;
  const consent = more.consent === undefined ? {} : { consent: more.consent };
  return {
    kind: "dispatched",
    at: more.at ?? 5,
    call,
    method: "tools/call",
    option,
    arguments: {},
    digest,
    ...consent,
  };
}

const unknown = (call: string, cause = "crash"): RunEvent => ({ kind: "unknown", at: 9, call, cause });

function released(call: string, how: "pass" | "withhold" | "reject"): RunEvent {
  const label = { lo: 0, hi: 0 } as never; // labels have no part in this
  return { kind: "released", at: 9, call, server: "s", tool: "t", how, label, fields: [] };
}

describe("doubts of a history", () => {
  it.each([
    ["a call without an outcome", [allowed("1", "d"), unknown("1")], [["d", 5]]],
    ["a result that waits for consent", [allowed("1", "d"), released("1", "withhold")], []],
    ["a result that came late", [allowed("1", "d"), unknown("1"), released("1", "pass")], []],
    ["a call made again with consent", [allowed("1", "d"), unknown("1"), allowed("2", "d", { consent: "a" })], []],
    ["a call that was answered", [allowed("1", "d"), released("1", "pass")], []],
    ["a call that its client gave up", [allowed("1", "d"), unknown("1", "cancelled")], []],
    // Once each call of a further session's relatives asked first, as if it might have happened.
    ["a call that another run told of", [allowed("1", "d"), unknown("1", joinedCause)], []],
    ["a call that only reads", [allowed("1", "d", { effect: "read.local" }), unknown("1")], []],
  ] as const)("%s", (_, events, doubts) => expect([...doubtsIn(events)]).toEqual(doubts));

  it("keeps the newest within the limit", () => {
    const calls = Array.from({ length: doubtsMax + 2 }, (_, index) => `c${index}`);
    const doubts = doubtsIn(calls.flatMap((call) => [allowed(call, call), unknown(call)]));
    expect(doubts.size).toBe(doubtsMax);
    expect(doubts.has("c0")).toBe(false);
  });
});
