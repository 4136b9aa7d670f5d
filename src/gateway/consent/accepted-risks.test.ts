// What a consent accepts beside the call: risks by name, on every way of consenting, and none that the card did not name.
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../core/event.ts";
import { type JsonObject, member } from "../../core/json.ts";
import type { Opinion } from "../../core/opinion.ts";
import { type FakeMechanism, fakePolicy, fakeState } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, Stage, type StageOptions } from "../../../test/kit/gateway/playbook.ts";
import { approvalIn, callTool, serve } from "../../../test/kit/gateway/served.ts";
import { ruleApproval } from "./approvals.ts";

const risk = "leak host.send";

/** At a moment, what starts so asks with risks until they are accepted; `extra` names one more from then on. */
function looms(kind: "call" | "release", prefix: string, extra: { risk?: string } = {}): FakeMechanism {
  return {
    consider: ({ moment }, run): Opinion => {
      const hit = moment.kind === kind && "contract" in moment && moment.contract.tool.startsWith(prefix);
      const open = [risk, ...(extra.risk === undefined ? [] : [extra.risk])].filter(
        (one) => !fakeState(run.q).risks.includes(one),
      );
      if (!hit || open.length === 0) return { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
      const facts = { moves: ["host.send"], risks: open };
      const reason = { mechanism: "fake", code: "SG-LOOMING", verdict: "confirm", facts } as const;
      return { kind: "settled", verdict: "confirm", reasons: [reason], obligations: [] };
    },
  };
}

function stageOf(mechanism: FakeMechanism, more: Partial<StageOptions> = {}): Stage {
  return new Stage({ policy: fakePolicy([mechanism], { regulation: {} }), ...more });
}

function accepts(events: readonly RunEvent[]): readonly unknown[] {
  return events.flatMap((event) => (event.kind === "granted" && event.grant.kind === "accept" ? [event.grant] : []));
}

function risksOf(stage: Stage): readonly string[] {
  return [...stage.gateway.runs.all()].flatMap(({ state }) => fakeState(state.q).risks);
}

async function approve(stage: Stage, id: string): Promise<void> {
  await ruleApproval(stage.log.port, stage.clock, { id, choice: "once", by: "alice", role: "operator" });
}

describe("a consent to a call with risks", () => {
  it("by the command line: the card names them, and they are on record with the call, before it", async () => {
    const stage = stageOf(looms("call", "send"));
    const asked = await callTool(stage, stage.client, "send_mail");
    expect(asked.text).toContain("nothing can stop that the client sends what it holds");
    const id = approvalIn(asked);
    const card = JSON.parse(new TextDecoder().decode(stage.log.approvals.get(id)?.card)) as JsonObject;
    expect(card["lines"]).toContain(
      "Approving means: from then on `host.send` (the client sends what it holds) may cause hazard `leak` in this run.",
    );
    await approve(stage, id);
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(false);
    expect(accepts(stage.log.events())).toEqual([
      {
        kind: "accept",
        hazard: "leak",
        move: "host.send",
        purpose: `approval ${id}`,
        principal: "alice",
        expiresAt: Number.MAX_SAFE_INTEGER,
      },
    ]);
    const entry = stage.log.entries.find(({ events }) => events.some(({ kind }) => kind === "dispatched"));
    expect(entry?.events.map(({ kind }) => kind)).toEqual(["granted", "dispatched"]);
    expect(risksOf(stage)).toEqual([risk]);
    // Accepted for the rest of the run: nothing is asked again.
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(false);
  });

  it("by a form in the legacy era", async () => {
    const stage = stageOf(looms("call", "send"), {});
    const capabilities = { elicitation: {} };
    stage.client.say({ id: "i", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities } });
    await serve(stage);
    stage.client.got.splice(0);
    stage.client.say({ id: "c", method: "tools/call", params: { name: "send_mail", arguments: {} } });
    await serve(stage);
    const [form] = stage.client.got.splice(0).map(plain);
    expect(member(form?.["params"], "message")).toContain("may cause hazard `leak` in this run");
    const id = String(form?.["id"] as string);
    stage.client.say({ id, result: { action: "accept", content: { decision: "approve once" } } });
    await serve(stage);
    expect(risksOf(stage)).toEqual([risk]);
  });

  it("by a question inside the result in the modern era", async () => {
    const stage = stageOf(looms("call", "send"));
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const params = { name: "send_mail", arguments: {}, _meta };
    stage.client.say({ id: 1, method: "tools/call", params });
    await serve(stage);
    const result = plain(stage.client.got.splice(0)[0] as never)["result"] as JsonObject;
    expect(JSON.stringify(result["inputRequests"])).toContain("may cause hazard `leak` in this run");
    const inputResponses = {
      "sluicegate-consent": { action: "accept", content: { decision: "approve once" } },
    };
    const requestState = result["requestState"] ?? "";
    stage.client.say({ id: 2, method: "tools/call", params: { ...params, inputResponses, requestState } });
    await serve(stage);
    expect(risksOf(stage)).toEqual([risk]);
  });

  it("covers no risk that came up since: it is asked about anew", async () => {
    const extra: { risk?: string } = {};
    const stage = stageOf(looms("call", "send", extra));
    const id = approvalIn(await callTool(stage, stage.client, "send_mail"));
    await approve(stage, id);
    extra.risk = "spread host.execute";
    const again = await callTool(stage, stage.client, "send_mail");
    expect(again.refused).toBe(true);
    expect(approvalIn(again)).not.toBe(id);
    expect(risksOf(stage)).toEqual([]);
    await approve(stage, approvalIn(again));
    expect((await callTool(stage, stage.client, "send_mail")).refused).toBe(false);
    expect(risksOf(stage)).toEqual([risk, "spread host.execute"]);
  });

  it("an open approval that names fewer risks is not offered for more", async () => {
    const extra: { risk?: string } = {};
    const stage = stageOf(looms("call", "send", extra));
    const id = approvalIn(await callTool(stage, stage.client, "send_mail"));
    expect(approvalIn(await callTool(stage, stage.client, "send_mail"))).toBe(id);
    extra.risk = "spread host.execute";
    expect(approvalIn(await callTool(stage, stage.client, "send_mail"))).not.toBe(id);
  });
});

describe("a call that is no move of the model", () => {
  const facts = { client: "c", principal: "os:1000", process: { pid: 7, startedAt: "1" } };

  it("leaves no risk accepted, in the state or on record", async () => {
    const stage = stageOf(looms("call", "no_move"));
    await approve(stage, approvalIn(await callTool(stage, stage.client, "no_move")));
    expect((await callTool(stage, stage.client, "no_move")).refused).toBe(true);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-NO-MOVE"] });
    expect([risksOf(stage), accepts(stage.log.events())]).toEqual([[], []]);
  });

  it("leaves none where its client has executed it", async () => {
    const stage = stageOf(looms("call", "no_move"));
    const use = { tool: "no_move", arguments: {} };
    await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use });
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...use, result: "ok", failed: false });
    expect(stage.log.kinds()).toContain("refused");
    expect([risksOf(stage), accepts(stage.log.events())]).toEqual([[], []]);
  });
});

describe("a consent in the client, for a tool of its own", () => {
  const facts = { client: "c", principal: "os:1000", process: { pid: 7, startedAt: "1" } };
  const use = { tool: "send_web", arguments: {} };

  it("is asked for with the risk in words, which is accepted when the tool has run", async () => {
    const stage = stageOf(looms("call", "send"));
    const asked = await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use });
    expect(asked).toMatchObject({
      verdict: "ask",
      sentence: expect.stringContaining("may cause hazard `leak` in this run (decision "),
    });
    expect(risksOf(stage)).toEqual([]);
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...use, result: "ok", failed: false });
    expect(risksOf(stage)).toEqual([risk]);
    expect(accepts(stage.log.events())).toMatchObject([{ purpose: "approval in the client", principal: "os:1000" }]);
  });

  it("is not asked for where its sentence cannot hold every risk", async () => {
    const stage = stageOf(looms("call", "send", { risk: "spread host.execute" }));
    expect(await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use })).toMatchObject({ verdict: "deny" });
  });

  it("is not asked for where the sentence would end before the hazard is named", async () => {
    const long = `${"h".repeat(40)} fire ${"s".repeat(40)} ${"g".repeat(40)}`;
    const mechanism: FakeMechanism = {
      consider: ({ moment }): Opinion => {
        const hit = moment.kind === "call";
        const reason = { mechanism: "fake", code: "SG-LOOMING", verdict: "confirm", facts: { risks: [long] } } as const;
        return { kind: "settled", verdict: hit ? "confirm" : "allow", reasons: hit ? [reason] : [], obligations: [] };
      },
    };
    const stage = stageOf(mechanism);
    expect(await stage.gateway.hostEvent(facts, { kind: "before-tool", ...use })).toMatchObject({ verdict: "deny" });
    await stage.gateway.hostEvent(facts, { kind: "after-tool", ...use, result: "ok", failed: false });
    expect(risksOf(stage)).toEqual([]);
  });
});

describe("a consent to a result with risks", () => {
  it("accepts them before the result is released, without another call", async () => {
    const stage = stageOf(looms("release", "read_secret"));
    const withheld = await callTool(stage, stage.client, "read_secret");
    expect(withheld.text).toMatch(/^The call was executed/);
    await approve(stage, approvalIn(withheld));
    expect((await callTool(stage, stage.client, "read_secret")).text).toBe("ok");
    const kinds = stage.log.kinds();
    expect(kinds.filter((kind) => kind === "dispatched")).toHaveLength(1);
    expect(kinds.slice(-2)).toEqual(["granted", "released"]);
    expect(risksOf(stage)).toEqual([risk]);
  });

  it("is decided again when it is opened: what is refused by then stays closed", async () => {
    const state = { deny: false };
    const mechanism: FakeMechanism = {
      consider: ({ moment }): Opinion => {
        const verdict = state.deny ? "deny" : "confirm";
        const hit = moment.kind === "release";
        const reason = { mechanism: "fake", code: "SG-TEST", verdict, facts: {} } as const;
        return { kind: "settled", verdict: hit ? verdict : "allow", reasons: hit ? [reason] : [], obligations: [] };
      },
    };
    const stage = stageOf(mechanism);
    await approve(stage, approvalIn(await callTool(stage, stage.client, "read_secret")));
    state.deny = true;
    expect((await callTool(stage, stage.client, "read_secret")).text).toContain("was stopped by policy");
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "released", how: "reject" });
  });

  it("asks anew where its card lacks a risk", async () => {
    const extra: { risk?: string } = {};
    const stage = stageOf(looms("release", "read_secret", extra));
    const id = approvalIn(await callTool(stage, stage.client, "read_secret"));
    await approve(stage, id);
    extra.risk = "spread host.execute";
    const again = await callTool(stage, stage.client, "read_secret");
    expect(again.text).toMatch(/^The call was executed; its result waits/);
    await approve(stage, approvalIn(again));
    expect((await callTool(stage, stage.client, "read_secret")).text).toBe("ok");
  });
});
