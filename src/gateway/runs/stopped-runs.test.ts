// `onUnsafe: end-run`: the call is refused and the run is over; only a trusted act starts a clean one in its place.
import { describe, expect, it } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { Stage } from "../../../test/kit/gateway/playbook.ts";
import { callTool, serve } from "../../../test/kit/gateway/served.ts";

function ending(kind: "call" | "release", verdict: "allow" | "deny" = "deny"): FakeMechanism {
  return {
    consider: ({ moment }): Opinion => {
      const hit = moment.kind === kind && "contract" in moment && moment.contract.tool.startsWith("send");
      const reason = { mechanism: "fake", code: "SG-FORESIGHT", verdict, facts: {}, way: "take another step" } as const;
      if (!hit) return { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
      return { kind: "settled", verdict, reasons: [reason], obligations: [{ kind: "end-run", rule: "regulation" }] };
    },
  };
}

const stageOf = (mechanism: FakeMechanism, log?: FakeLog): Stage =>
  new Stage({ policy: fakePolicy([mechanism]), ...(log === undefined ? {} : { log }) });

describe("a policy that ends an unsafe run", () => {
  it.each(["allow", "deny"] as const)(
    "refuses the call, whatever the verdict (%s), and says how to start anew",
    async (verdict) => {
      const stage = stageOf(ending("call", verdict));
      await callTool(stage, stage.client, "read_file");
      const refused = await callTool(stage, stage.client, "send_mail");
      expect(refused.text).toContain("The run has ended; start anew with `sluicegate runs new`.");
      expect(refused.text.startsWith("Not executed")).toBe(true);
      expect(stage.log.kinds().slice(-2)).toEqual(["refused", "ended"]);
      expect(stage.log.events().at(-1)).toMatchObject({ kind: "ended", cause: "unsafe" });
    },
  );

  it("does not begin a clean run with the next message, but after a trusted act", async () => {
    const stage = stageOf(ending("call"));
    await callTool(stage, stage.client, "send_mail");
    expect((await callTool(stage, stage.client, "read_file")).text).toContain("The run has ended");
    for (const live of Array.from(stage.gateway.runs.all())) await stage.gateway.runs.end(live, "operator");
    expect((await callTool(stage, stage.client, "read_file")).text).toBe("ok");
  });

  it("stays ended over a restart", async () => {
    const log = new FakeLog();
    const before = stageOf(ending("call"), log);
    await callTool(before, before.client, "send_mail");
    const stage = stageOf(ending("call"), log);
    await stage.gateway.restore();
    expect((await callTool(stage, stage.client, "read_file")).text).toContain("The run has ended");
  });

  it("another session of the same conversation is no way around it", async () => {
    const facts = { transport: "http", process: undefined, sessionId: "s1" };
    const stage = new Stage({ policy: fakePolicy([ending("call")]), facts: facts as never });
    await callTool(stage, stage.client, "send_mail");
    const other = stage.connect({ sessionId: "s2" });
    expect((await callTool(stage, other, "read_file")).text).toContain("The run has ended");
  });

  it("a result that ends the run is rejected", async () => {
    const stage = stageOf(ending("release"));
    const refused = await callTool(stage, stage.client, "send_mail");
    expect(refused.text).toMatch(/^The call was executed and must not be repeated/);
    expect(stage.log.kinds().slice(-2)).toEqual(["released", "ended"]);
  });

  it("observing ends nothing", async () => {
    const stage = new Stage({ policy: fakePolicy([ending("call")], { settings: { mode: "observe" } }) });
    expect((await callTool(stage, stage.client, "send_mail")).text).toBe("ok");
    expect(stage.log.kinds()).not.toContain("ended");
  });

  it("holds for the client's own tools as well", async () => {
    const stage = stageOf(ending("call"));
    const facts = { client: "c", principal: "os:1000", process: { pid: 7, startedAt: "1" } };
    const use = { kind: "before-tool", tool: "send_web", arguments: {} } as const;
    const first = await stage.gateway.hostEvent(facts, use);
    expect(first).toMatchObject({
      verdict: "deny",
      sentence: expect.stringContaining("The run has ended; start anew"),
    });
    expect(await stage.gateway.hostEvent(facts, { ...use, tool: "read" })).toMatchObject({ verdict: "deny" });
    expect((await callTool(stage, stage.client, "read_file")).text).toContain("The run has ended");
  });
});

describe("a policy under which no run may start", () => {
  const problem =
    "Hazard `leak` can happen by the client itself: gate it, or accept the hazard with `accepts: [leak]`.";

  it("refuses with its sentence, minted runs too; observing goes on", async () => {
    const regulation = { startProblem: problem };
    const stage = new Stage({ policy: fakePolicy([], { regulation }) });
    expect((await callTool(stage, stage.client, "read_file")).text).toContain("gate it, or accept the hazard");
    const minted = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "http://h" });
    expect(minted).toEqual({ ok: false, error: problem });
    await serve(stage);
    const observing = new Stage({ policy: fakePolicy([], { regulation, settings: { mode: "observe" } }) });
    expect((await callTool(observing, observing.client, "read_file")).text).toBe("ok");
  });
});

describe("a warning", () => {
  it("comes with the result and to the operator, and decides nothing", async () => {
    const warns: FakeMechanism = {
      consider: ({ moment }): Opinion => {
        const hit = moment.kind === "call" && moment.contract.tool.startsWith("read");
        const facts = { tools: ["mail.send"] };
        const way = "call mail.send first";
        const reason = { mechanism: "f", code: "SG-KEEP-LOST", verdict: "allow", observed: true, facts, way } as const;
        return { kind: "settled", verdict: "allow", reasons: hit ? [reason] : [], obligations: [] };
      },
    };
    const stage = stageOf(warns);
    const served = await callTool(stage, stage.client, "read_file");
    const text = "after `files.read_file`, `mail.send` cannot be used in this run any more; call mail.send first";
    expect(served.answer).toMatchObject({ result: { _meta: { "io.github.sluicegate/warning": [text] } } });
    expect(stage.notices).toEqual([`files.read_file: ${text}.`]);
    expect(stage.log.entries.flatMap(({ decision }) => decision?.reasons ?? [])).toMatchObject([
      { code: "SG-KEEP-LOST" },
    ]);
    expect((await callTool(stage, stage.client, "send_mail")).answer).toMatchObject({ result: { content: [{}] } });
    expect(stage.notices).toHaveLength(1);
    const facts = { client: "c", principal: "os:1000", process: { pid: 7, startedAt: "1" } };
    const use = { kind: "before-tool", tool: "read_disk", arguments: {} } as const;
    expect(await stage.gateway.hostEvent(facts, use)).toMatchObject({ verdict: "allow" });
    expect(stage.notices.at(-1)).toContain("read_disk: after `host:c.read_disk`, `mail.send` cannot be used");
  });
});
