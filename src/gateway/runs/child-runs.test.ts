// Children of a run, and theirs, over a restart of the gateway: what they read their ancestors hold (gateway.md 4).
import { describe, expect, it } from "vitest";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import type { FakeClient, Stage } from "../../../test/kit/gateway/playbook.ts";
import { fetches, restarted, stateOf, tell, who } from "../../../test/kit/gateway/resumed.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import type { MintedRun } from "./run-control.ts";

async function mint({ gateway }: Stage, parent?: MintedRun): Promise<MintedRun> {
  const above = parent === undefined ? {} : { parent: parent.run };
  const minted = await gateway.beginRun({ principal: "os:1000", urlBase: "", ...above });
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
}

const clientOf = (stage: Stage, { token }: MintedRun): FakeClient =>
  stage.connect({ transport: "http", runToken: token });

/** Three generations in a gateway that then stops. */
async function family(): Promise<{ readonly log: FakeLog; readonly runs: readonly [MintedRun, MintedRun, MintedRun] }> {
  const log = new FakeLog();
  const stage = await restarted(log);
  const parent = await mint(stage);
  const child = await mint(stage, parent);
  return { log, runs: [parent, child, await mint(stage, child)] };
}

describe("a child run after a restart of the gateway", () => {
  it.each([
    ["that was not taken up", false],
    ["that was taken up before", true],
  ] as const)("joins a parent %s, over generations", async (_how, first) => {
    const { log, runs } = await family();
    const stage = await restarted(log);
    const [parent, child, grandchild] = runs.map((run) => clientOf(stage, run));
    if (parent === undefined || child === undefined || grandchild === undefined) throw new Error("no family");
    if (first) expect((await callTool(stage, parent, "send_mail")).refused).toBe(false);
    await callTool(stage, grandchild, "read_secret");
    expect((await callTool(stage, child, "send_mail")).refused).toBe(true);
    expect((await callTool(stage, parent, "send_mail")).refused).toBe(true);
    const again = await restarted(log);
    expect((await callTool(again, clientOf(again, runs[0]), "send_mail")).refused).toBe(true);
    expect(stateOf(again, runs[0].run)?.allowed.filter((tool) => tool === "read_secret")).toHaveLength(1);
  });

  it("joins its ancestors although the run between has ended", async () => {
    const { log, runs } = await family();
    const before = await restarted(log);
    await callTool(before, clientOf(before, runs[1]), "read_file");
    const live = before.gateway.runs.find(runs[1].run);
    if (live !== undefined) await before.gateway.runs.end(live, "closed");
    const stage = await restarted(log);
    await callTool(stage, clientOf(stage, runs[2]), "read_secret");
    expect((await callTool(stage, clientOf(stage, runs[0]), "send_mail")).refused).toBe(true);
  });

  it("restricts no parent of another family, and a parent does not restrict its child", async () => {
    const { log, runs } = await family();
    const before = await restarted(log);
    const other = await mint(before);
    const stage = await restarted(log);
    await callTool(stage, clientOf(stage, runs[1]), "read_secret");
    expect((await callTool(stage, clientOf(stage, other), "send_mail")).refused).toBe(false);
    expect((await callTool(stage, clientOf(stage, runs[2]), "send_mail")).refused).toBe(false);
  });

  it("is not served while nobody can say who its parents are", async () => {
    const { log, runs } = await family();
    const row = log.runs.get(runs[0].run);
    log.runs.delete(runs[0].run);
    const stage = await restarted(log);
    const child = clientOf(stage, runs[1]);
    expect((await callTool(stage, child, "read_secret")).refused).toBe(true);
    expect(log.kinds(runs[1].run)).not.toContain("released");
    if (row !== undefined) log.runs.set(row.key, row);
    expect((await callTool(stage, child, "read_secret")).refused).toBe(false);
    expect((await callTool(stage, clientOf(stage, runs[0]), "send_mail")).refused).toBe(true);
  });

  it("of a run that has ended meanwhile as unsafe does not go on", async () => {
    const stage = await restarted(new FakeLog());
    const parent = await mint(stage);
    const live = stage.gateway.runs.find(parent.run);
    if (live !== undefined) stage.gateway.runs.stop(live);
    const child = await mint(stage, parent);
    expect((await callTool(stage, clientOf(stage, child), "read_file")).refused).toBe(true);
  });

  it("of which the store knows nothing is at its worst: its token is older than the store", async () => {
    const { runs } = await family();
    const stage = await restarted(new FakeLog());
    expect((await callTool(stage, clientOf(stage, runs[1]), "send_mail")).refused).toBe(true);
    expect(stateOf(stage, runs[1].run)).toMatchObject({ top: true });
  });

  it("restricts the conversation that began it, also when that is resumed elsewhere", async () => {
    const log = new FakeLog();
    const before = await restarted(log);
    await tell(before, who(7), "session-start");
    const child = await before.gateway.beginRun({
      principal: "os:1000",
      urlBase: "",
      parent: "os:1000/process:7@1/talk",
    });
    if (!child.ok) throw new Error(child.error);
    await tell(before, who(7), "session-end");
    await tell(before, who(8), "session-start");
    const stage = await restarted(log);
    await callTool(stage, clientOf(stage, child.value), "read_secret");
    await tell(stage, who(9), "session-start");
    for (const pid of [8, 9]) expect(await fetches(stage, who(pid))).toBe("deny");
  });
});
