import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { callTool } from "../../../test/kit/gateway/served.ts";

describe("a shared row that a run writes", () => {
  it.each([
    { top: true, value: { shared: 0 } },
    { top: false, value: {} },
  ])("stays lost for every policy when it was (%j)", async (lost) => {
    const stage = new Stage({ policy: fakePolicy() });
    await callTool(stage, stage.client, "read_file");
    const owner = [...stage.gateway.runs.all()][0]?.principal ?? "";
    for (const live of stage.gateway.runs.all()) await stage.gateway.runs.end(live, "closed");
    stage.log.shared.set(owner, { owner, policyDigest: "other", ...lost });
    await callTool(stage, stage.client, "write_store");
    expect(stage.log.shared.get(owner)).toMatchObject({ owner, policyDigest: "policy-1", top: true });
  });
});
