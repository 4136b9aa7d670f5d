// A child whose parent nobody has taken up since the gateway started: it begins with what the log says of the parent.
import { describe, expect, it } from "vitest";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { defaultSettings, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, Stage } from "../../../test/kit/gateway/playbook.ts";
import { restarted, rules, stateOf } from "../../../test/kit/gateway/resumed.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import type { MintedRun, NewRun } from "./run-control.ts";

const clientOf = (stage: Stage, { token }: MintedRun): FakeClient =>
  stage.connect({ transport: "http", runToken: token });

async function mint(stage: Stage, more: Partial<NewRun> = {}): Promise<MintedRun> {
  const minted = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", ...more });
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
}

/** A parent that has read a secret, in a gateway that then stops. */
async function parentIn(log: FakeLog, more: Partial<NewRun> = {}): Promise<MintedRun> {
  const stage = await restarted(log);
  const parent = await mint(stage, more);
  await callTool(stage, clientOf(stage, parent), "read_secret");
  return parent;
}

describe("a parent that is only in the log", () => {
  it("is taken up for its child, which begins with what it held", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const stage = await restarted(log);
    const child = await mint(stage, { parent: parent.run });
    expect((await callTool(stage, clientOf(stage, child), "send_mail")).refused).toBe(true);
    expect(stage.gateway.runs.dormant.find(parent.run)).toBeUndefined();
    expect((await callTool(stage, clientOf(stage, parent), "send_mail")).refused).toBe(true);
  });

  it("hears of what its child reads", async () => {
    const log = new FakeLog();
    const before = await restarted(log);
    const parent = await mint(before);
    const stage = await restarted(log);
    const child = await mint(stage, { parent: parent.run });
    expect((await callTool(stage, clientOf(stage, parent), "send_mail")).refused).toBe(false);
    await callTool(stage, clientOf(stage, child), "read_secret");
    expect((await callTool(stage, clientOf(stage, parent), "send_mail")).refused).toBe(true);
  });

  it("keeps the policy of its own client, whoever took it up", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log, { client: "strict", tag: "work" });
    const asked: unknown[] = [];
    const stage = new Stage({ policy: fakePolicy([rules]), log });
    const { services } = stage.gateway.state;
    const select = services.policies.select.bind(services.policies);
    Object.assign(services.policies, { select: (who: unknown) => (asked.push(who), select(who as never)) });
    await stage.gateway.restore();
    asked.length = 0;
    await mint(stage, { parent: parent.run });
    expect(asked).toContainEqual({ principal: "os:1000", client: "strict", tag: "work" });
    expect(stage.gateway.runs.find(parent.run)?.client).toEqual({ name: "strict", tag: "work" });
  });

  it("gets its workspace from the first connection that brings one", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const stage = await restarted(log);
    await mint(stage, { parent: parent.run });
    const client = stage.connect({ runToken: parent.token, workingDirectory: "/w" });
    await callTool(stage, client, "read_file");
    expect(stage.gateway.runs.find(parent.run)?.workspace).toEqual(["/w"]);
  });

  it.each([
    ["of somebody else", (parent: MintedRun) => ({ parent: parent.run, principal: "ann" })],
    ["of which the store knows nothing", () => ({ parent: "run-none" })],
  ])("%s begins no child", async (_who, wanted) => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const stage = await restarted(log);
    const child = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", ...wanted(parent) });
    expect(child).toMatchObject({ ok: false, error: expect.stringContaining("parent run is not open") });
    expect(stateOf(stage, parent.run)).toBeUndefined();
  });

  it("that has ended begins no child", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const before = await restarted(log);
    await before.gateway.runs.endDormant(parent.run, "closed");
    const stage = await restarted(log);
    const child = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", parent: parent.run });
    expect(child).toMatchObject({ ok: false, error: expect.stringContaining("parent run is not open") });
  });

  it("was idle for too long although nobody has ended it yet: it begins no child", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const stage = await restarted(log);
    stage.clock.now += defaultSettings.runIdleMs + 120_000;
    const child = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", parent: parent.run });
    expect(child).toMatchObject({ ok: false });
  });

  it("does not say which client it belongs to: it is taken up only under the policy that it had", async () => {
    const log = new FakeLog();
    const parent = await parentIn(log);
    const row = log.runs.get(parent.run);
    if (row === undefined) throw new Error("no row");
    const begun = async (policyDigest: string): Promise<boolean> => {
      log.runs.set(parent.run, { ...row, resume: {}, policyDigest });
      const stage = await restarted(log);
      return (await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", parent: parent.run })).ok;
    };
    expect(await begun("another")).toBe(false);
    expect(await begun(row.policyDigest)).toBe(true);
  });

  it("cannot be read: nobody says what it held, so there is no child", async () => {
    const log = new FakeLog();
    const child = await mint(await restarted(log), { parent: (await parentIn(log)).run }).catch(String);
    expect(child).toMatchObject({ run: expect.stringMatching(/^run-/) });
    const orphan = (child as MintedRun).run;
    log.runs.delete([...log.runs.keys()].find((key) => key !== orphan && key.startsWith("run-")) ?? "");
    const stage = await restarted(log);
    const grandchild = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "", parent: orphan });
    expect(grandchild).toMatchObject({ ok: false, error: expect.stringContaining("parent run is not open") });
  });
});
