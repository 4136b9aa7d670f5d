import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";
import { acceptRisk } from "./risk-acceptance.ts";

async function opened(): Promise<{ stage: Stage; run: string }> {
  const stage = new Stage({ policy: fakePolicy([], { regulation: {} }) });
  await callTool(stage, stage.client, "read_file");
  const [live] = [...stage.gateway.runs.all()];
  return { stage, run: live?.key ?? "" };
}

describe("accepting a risk by hand", () => {
  it("is on record with who did it, and holds for the run", async () => {
    const { stage, run } = await opened();
    const wanted = { run, hazard: "leak", move: "fire repo anyone", by: "os:1000" };
    expect(await acceptRisk(stage.gateway.state, wanted)).toEqual({ ok: true, value: undefined });
    const [live] = [...stage.gateway.runs.all()];
    expect(live?.state.q).toMatchObject({ risks: ["leak fire repo anyone"] });
    const { purpose, principal } = { purpose: "accepted by hand", principal: "os:1000" };
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "granted", grant: { kind: "accept", purpose, principal } });
    expect(stage.log.entries.at(-1)?.notes).toMatchObject({ by: "os:1000", role: "operator" });
  });

  it("is refused for a run that is not open, and for names that are none", async () => {
    const { stage, run } = await opened();
    const good = { run, hazard: "leak", move: "host.send", by: "os:1000" };
    const { state } = stage.gateway;
    expect(await acceptRisk(state, { ...good, run: "none" })).toMatchObject({ ok: false });
    expect(await acceptRisk(state, { ...good, hazard: "le ak" })).toMatchObject({ ok: false });
    expect(await acceptRisk(state, { ...good, move: "" })).toMatchObject({ ok: false });
    expect(await acceptRisk(state, { ...good, move: "x".repeat(161) })).toMatchObject({ ok: false });
    const unknown = await acceptRisk(state, { ...good, move: "host.sent" });
    expect(unknown).toMatchObject({ ok: false, error: expect.stringContaining("leak host.send") });
    stage.log.failing = true;
    expect(await acceptRisk(state, good)).toMatchObject({ ok: false, error: expect.stringContaining("log") });
    const [live] = [...stage.gateway.runs.all()];
    if (live !== undefined) stage.gateway.runs.stop(live);
    expect(await acceptRisk(state, good)).toMatchObject({ ok: false });
  });
});
