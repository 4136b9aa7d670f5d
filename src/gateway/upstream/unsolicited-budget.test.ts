// A server that says more beside its answers than anybody could read.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { FakeClock, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import type { JsonObject } from "../../core/json.ts";
import { UnsolicitedBudget } from "./unsolicited-budget.ts";
import {
  chatterCharactersMax,
  chatterCharactersPerSecond,
  chatterOverheadCharacters,
  chatterRecordMs,
} from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";

const tools = [{ name: "read_file", inputSchema: { type: "object" } }];
const large = "x".repeat(chatterCharactersMax / 8);
const log = (data: string): JsonObject => ({ method: "notifications/message", params: { level: "info", data } });

/** A stage with a call in flight, whose client asked for its progress. */
async function calling(): Promise<Stage> {
  const stage = new Stage({ policy: fakePolicy() });
  stage.client.say({ id: "l", method: "tools/list" });
  await stage.settle();
  stage.server.say({ id: "l", result: { tools } });
  await stage.settle();
  const params = { name: "read_file", arguments: {}, _meta: { progressToken: "p" } };
  stage.client.say({ id: 1, method: "tools/call", params });
  await stage.settle();
  stage.client.got.splice(0);
  stage.server.got.splice(0);
  return stage;
}

/** What each record of dropped messages says. */
function dropped(stage: Stage): readonly unknown[] {
  return stage.log.entries.flatMap(({ decision }) =>
    (decision?.reasons ?? []).filter(({ code }) => code === "SG-CHATTER").map(({ facts }) => facts["messages"]),
  );
}

describe("a server that says too much beside its answers", () => {
  it("has the rest dropped and counted, and its answers delivered", async () => {
    const stage = await calling();
    for (let said = 0; said < 12; said += 1) stage.server.say(log(large));
    await stage.settle();
    expect(stage.client.got).toHaveLength(7);
    expect(dropped(stage)).toEqual([1]);
    expect(stage.notices).toEqual([expect.stringContaining("SG-CHATTER")]);
    stage.clock.pass(chatterRecordMs);
    expect(dropped(stage)).toEqual([1, 4]);
    // Nothing of what was dropped was released, so no label of it is missing.
    const released = stage.log.events().filter((event) => event.kind === "released" && event.how === "pass");
    expect(released).toHaveLength(7);
    stage.server.say({ id: 1, result: { content: [] } });
    await stage.settle();
    expect(stage.client.got.map(plain).at(-1)).toEqual({ id: 1, result: { content: [] } });
  });

  it("is answered when it asks, gets its numbers through, and may speak again after a while", async () => {
    const stage = await calling();
    const rest = chatterCharactersMax / 8 - 4_096;
    for (const data of [...Array<string>(7).fill(large), large.slice(0, rest)]) stage.server.say(log(data));
    await stage.settle();
    stage.client.got.splice(0);
    const text = "y".repeat(8_192);
    const params = { message: text, requestedSchema: { type: "object" } };
    stage.server.say({ id: 9, method: "elicitation/create", params });
    stage.server.say({ method: "notifications/progress", params: { progressToken: "p", progress: 1, message: text } });
    await stage.settle();
    expect(stage.client.got.map(plain)).toEqual([
      { method: "notifications/progress", params: { progressToken: "p", progress: 1 } },
    ]);
    expect(stage.server.got.map(plain)).toMatchObject([{ id: 9, error: { message: expect.stringContaining("ask") } }]);
    stage.clock.pass(1_000);
    stage.server.say(log(text));
    await stage.settle();
    expect(stage.client.got).toHaveLength(2);
  });

  it("and goes leaves on record what was dropped until then, also in a run that has ended", async () => {
    const stage = await calling();
    for (let said = 0; said < 12; said += 1) stage.server.say(log(large));
    await stage.settle();
    const [live] = [...stage.gateway.runs.all()];
    if (live === undefined) throw new Error("no run");
    await stage.gateway.runs.end(live, "operator");
    stage.server.handler.closed("It ended.");
    await stage.settle();
    expect(dropped(stage)).toEqual([1, 4]);
  });
});

it("law: an account never gives more than it holds and earns, and refuses nothing that fits", () => {
  const message = fc.record({ size: fc.nat(chatterCharactersMax / 4), gapMs: fc.nat(600_000) });
  const run: LiveRun = { key: "r" } as never;
  fc.assert(
    fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
      const clock = new FakeClock();
      let [count, spent, left] = [0, 0, chatterCharactersMax];
      const budget = new UnsolicitedBudget(clock, (counts) => (count += counts.get(run) ?? 0));
      const begun = clock.now;
      let refused = 0;
      for (const { size, gapMs } of messages) {
        clock.pass(gapMs);
        left = Math.min(chatterCharactersMax, left + (gapMs / 1_000) * chatterCharactersPerSecond);
        const raw = { length: size } as Uint8Array;
        const taken = budget.take({ kind: "notification", method: "m", params: undefined, raw }, run);
        const cost = size + chatterOverheadCharacters;
        if (cost < left - 1) expect(taken).toBe(true);
        if (cost > left + 1) expect(taken).toBe(false);
        if (taken) [spent, left] = [spent + cost, left - cost];
        else refused += 1;
        const earned = ((clock.now - begun) / 1_000) * chatterCharactersPerSecond;
        expect(spent).toBeLessThanOrEqual(chatterCharactersMax + earned + 1);
      }
      budget.flush();
      expect(count).toBe(refused);
    }),
  );
});
