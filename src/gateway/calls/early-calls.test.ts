// Calls that a client makes before its hook names the conversation: the conversation begins with what they hold.
import { describe, expect, it } from "vitest";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { lattice } from "../../../test/kit/gateway/fake-policy.ts";
import { type Stage, plain } from "../../../test/kit/gateway/playbook.ts";
import { fetches, read, restarted, stateOf, tell, who } from "../../../test/kit/gateway/resumed.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";

const bare = "os:1000/process:7@1";
const named = `${bare}/talk`;

/** The client of process 7 has read a secret, and no hook has spoken yet. */
async function early(log = new FakeLog()): Promise<Stage> {
  const stage = await restarted(log);
  await callTool(stage, stage.client, "read_secret");
  expect(stateOf(stage, bare)).toMatchObject({ held: lattice.top });
  return stage;
}

describe("what a client did before its first hook", () => {
  it("restricts the conversation that the hook names, for its servers and its own tools", async () => {
    const stage = await early();
    await tell(stage, who(7), "session-start");
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(true);
    expect(await fetches(stage, who(7))).toBe("deny");
    expect(stateOf(stage, named)?.allowed).toEqual(["read_secret"]);
  });

  it("restricts it over a restart in between, also when the run of the process is not taken up", async () => {
    const log = new FakeLog();
    await early(log);
    const stage = await restarted(log);
    await tell(stage, who(7), "session-start");
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(true);
    expect(await fetches(await restarted(log), who(7))).toBe("deny");
  });

  it("restricts a conversation that is in the log already and that the client resumes", async () => {
    const log = new FakeLog();
    await tell(await restarted(log), who(7), "session-start");
    const before = await restarted(log);
    // As if nobody could say which conversation the process was in.
    for (const [key, row] of log.runs) log.runs.set(key, { ...row, resume: {} });
    const stage = await restarted(log);
    await callTool(stage, stage.client, "read_secret");
    expect(stateOf(stage, bare)).toMatchObject({ held: lattice.top });
    await tell(stage, who(7), "session-start");
    expect(await fetches(stage, who(7))).toBe("deny");
    expect(before.gateway.runs.find(named)).toBeUndefined();
  });

  it("counts also where its answer comes after the hook, and the answer still arrives", async () => {
    const stage = await restarted(new FakeLog());
    await callTool(stage, stage.client, "read_file");
    stage.client.say({ id: 90, method: "tools/call", params: { name: "read_secret", arguments: {} } });
    await stage.settle();
    await tell(stage, who(7), "session-start");
    expect(await fetches(stage, who(7))).toBe("allow");
    const sent = stage.server.got.splice(0).map(plain);
    for (const { id = null } of sent) stage.server.say({ id, result: { content: [] } });
    await stage.settle();
    expect(stage.client.got.splice(0).map(plain)).toEqual([{ id: 90, result: { content: [] } }]);
    expect(await fetches(stage, who(7))).toBe("deny");
    await stage.gateway.expire();
    expect(stage.gateway.runs.find(bare)).toBeUndefined();
  });

  it("is handed on once: after a clear nothing of it is left", async () => {
    const stage = await early();
    await tell(stage, who(7), "session-start");
    await tell(stage, who(7), "session-end");
    await tell(stage, who(7, "next"), "session-clear");
    expect(await fetches(stage, who(7, "next"))).toBe("allow");
    expect(stage.gateway.runs.find(bare)).toBeUndefined();
    expect(stage.log.runs.get(bare)?.endedWallMs).toBeDefined();
  });

  it("is gone with a clear that is the first that the hook says", async () => {
    const stage = await early();
    await tell(stage, who(7), "session-clear");
    expect(await fetches(stage, who(7))).toBe("allow");
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(false);
  });

  it.each([
    ["at once", false],
    ["over a restart", true],
  ])("holds what its children still read, %s", async (_when, restarts) => {
    const log = new FakeLog();
    let stage = await restarted(log);
    await callTool(stage, stage.client, "read_file");
    const child = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", parent: bare });
    if (!child.ok) throw new Error(child.error);
    if (restarts) stage = await restarted(log);
    const client = stage.connect({ transport: "http", runToken: child.value.token });
    await callTool(stage, client, "read_file");
    await tell(stage, who(7), "session-start");
    await stage.gateway.expire();
    await callTool(stage, client, "read_secret");
    expect(await fetches(stage, who(7))).toBe("deny");
  });

  it("stays with the process where its conversation ended before the answer came", async () => {
    const stage = await restarted(new FakeLog());
    await callTool(stage, stage.client, "read_file");
    stage.client.say({ id: 90, method: "tools/call", params: { name: "read_file", arguments: {} } });
    await stage.settle();
    await tell(stage, who(7), "session-start");
    await tell(stage, who(7), "session-end");
    await callTool(stage, stage.client, "read_secret");
    await stage.gateway.expire();
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(true);
    await tell(stage, who(7, "next"), "session-start");
    expect(await fetches(stage, who(7, "next"))).toBe("deny");
  });

  it("is of one process: another one's conversation knows nothing of it", async () => {
    const stage = await early();
    await tell(stage, who(8), "session-start");
    expect(await fetches(stage, who(8))).toBe("allow");
  });

  it("stops the conversation where the policy had stopped it", async () => {
    const stage = await restarted(new FakeLog());
    await callTool(stage, stage.client, "end_it");
    await tell(stage, who(7), "session-start");
    expect(await fetches(stage, who(7))).toBe("deny");
    await tell(stage, who(7, "next"), "session-clear");
    expect(await fetches(stage, who(7, "next"))).toBe("allow");
  });

  it("counts as everything where it cannot be read", async () => {
    const log = new FakeLog();
    const before = await restarted(log);
    await callTool(before, before.client, "read_file");
    const { store } = log.port;
    const run: typeof store.run = async (key) =>
      key === bare ? ({ ok: false, error: { kind: "unreachable" } } as never) : store.run(key);
    Object.defineProperty(log, "port", { value: { ...log.port, store: { ...store, run } } });
    const stage = await restarted(log);
    expect(await fetches(stage, who(7))).toBe("deny");
    expect(stateOf(stage, named)).toMatchObject({ top: true });
  });

  it("does not stand in the way of a conversation that had none of it", async () => {
    const stage = await restarted(new FakeLog());
    await read(stage, who(7), "read_file");
    expect(await fetches(stage, who(7))).toBe("allow");
    expect(stage.log.runs.has(bare)).toBe(false);
  });
});
