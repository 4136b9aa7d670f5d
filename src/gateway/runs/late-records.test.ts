/** Reads that are sent before they are on record (docs/decisions/0008): whatever happens next, the log stays whole. */
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { callOf, setup, verdictAt } from "../../../test/kit/gateway/first-calls.ts";
import { lateRecordMsMax } from "../ports/limits.ts";

const dispatch = ["dispatched"];
const done = ["succeeded", "released"];

async function stageOf(mechanisms: Parameters<typeof fakePolicy>[0] = []): Promise<Stage> {
  const stage = new Stage({ policy: fakePolicy(mechanisms, { late: "read" }) });
  await play(stage, [...setup]);
  expect(stage.log.kinds()).toEqual(["begun"]);
  return stage;
}

const result = (id: number) => ({ id, result: { content: [{ type: "text", text: "words" }] } });

/** Everything after `begun`, and the number of appends that brought it. */
function recorded(stage: Stage): readonly string[] {
  return stage.log.kinds().slice(1);
}

describe("a read that is sent before it is on record", () => {
  it("is recorded with its outcome, ahead of it", async () => {
    const stage = await stageOf();
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    expect(stage.server.got.at(-1)).toMatchObject({ method: "tools/call" });
    expect(recorded(stage)).toEqual([]);
    stage.server.say(result(1));
    await stage.settle();
    expect(recorded(stage)).toEqual([...dispatch, ...done]);
    expect(stage.log.entries.slice(1).map(({ late, decision }) => [late, decision?.verdict])).toEqual([
      [true, "allow"],
      [undefined, "allow"],
    ]);
    expect(stage.client.got.at(-1)).toMatchObject(result(1));
  });

  it("is taken along by the next event of its run, in the order of folding", async () => {
    const stage = await stageOf();
    stage.client.say(callOf(1, "read_file"));
    stage.client.say(callOf(2, "read_secret"));
    await stage.settle();
    stage.client.say(callOf(3, "send_mail"));
    await stage.settle();
    const calls = stage.log
      .events()
      .flatMap((event: RunEvent) => (event.kind === "dispatched" ? [event.option.class.tool] : []));
    expect(calls).toEqual(["read_file", "read_secret", "send_mail"]);
    expect(recorded(stage)).toEqual([...dispatch, ...dispatch, ...dispatch]);
    stage.server.say(result(2));
    await stage.settle();
    expect(recorded(stage).slice(3)).toEqual(done);
  });

  it.each([
    [
      "is cancelled",
      (stage: Stage) => stage.client.say({ method: "notifications/cancelled", params: { requestId: 1 } }),
    ],
    ["loses its server", (stage: Stage) => stage.server.handler.closed("it crashed")],
    ["loses its client", (stage: Stage) => stage.client.handler.closed("gone")],
    ["loses its answer", (stage: Stage) => stage.server.handler.lost?.(1, "cut")],
  ])("is on record when it %s", async (_what, happens) => {
    const stage = await stageOf();
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    happens(stage);
    await stage.settle();
    expect(recorded(stage)).toEqual([...dispatch, "unknown"]);
  });

  it("is on record when its run ends, and when the gateway stops", async () => {
    const stage = await stageOf();
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    for (const live of stage.gateway.runs.all()) await stage.gateway.runs.end(live, "closed");
    expect(recorded(stage)).toEqual([...dispatch, "unknown", "ended"]);
    const other = await stageOf();
    other.client.say(callOf(1, "read_file"));
    await other.settle();
    await other.gateway.runs.flushDeferred();
    expect(recorded(other)).toEqual(dispatch);
    await other.gateway.close();
  });

  it("is on record after a while without an answer, and before its run is folded again", async () => {
    const stage = await stageOf();
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    stage.clock.pass(lateRecordMsMax);
    await stage.settle();
    expect(recorded(stage)).toEqual(dispatch);
    stage.client.say(callOf(2, "read_file"));
    await stage.settle();
    await stage.gateway.runs.refold(() => fakePolicy([], { digest: "policy-2" }));
    expect(recorded(stage)).toEqual([...dispatch, ...dispatch]);
    stage.server.say(result(2));
    await stage.settle();
    expect(recorded(stage).slice(2)).toEqual(done);
    // The clock that was set for the second has nothing left to do.
    stage.clock.pass(lateRecordMsMax);
    await stage.settle();
    expect(recorded(stage)).toHaveLength(4);
  });

  it("waits for its record where it is no plain read, or where the log has stopped", async () => {
    const plain = await stageOf();
    plain.client.say(callOf(1, "send_mail"));
    await plain.settle();
    expect(recorded(plain)).toEqual(dispatch);
    const asked = await stageOf([verdictAt("call", "read_secret", "confirm")]);
    asked.client.say(callOf(1, "read_secret"));
    await asked.settle();
    expect(recorded(asked)).toEqual(["refused"]);
    const stopped = await stageOf();
    stopped.log.port.health = () => ({
      kind: "failed",
      failure: { kind: "full", place: "memory", sentence: "The disk is full." },
    });
    stopped.log.failing = true;
    stopped.client.say(callOf(1, "read_file"));
    await stopped.settle();
    expect(stopped.server.got.filter((message) => "method" in message && message.method === "tools/call")).toEqual([]);
    expect(JSON.stringify(stopped.client.got.at(-1))).toContain("isError");
  });
});
