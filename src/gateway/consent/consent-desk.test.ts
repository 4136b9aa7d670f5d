import { describe, expect, it } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import { exactly } from "../../core/label.ts";
import { type FakeMechanism, fakePolicy, lattice } from "../../../test/kit/gateway/fake-policy.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Stage, type StageOptions, plain, play } from "../../../test/kit/gateway/playbook.ts";
import {
  callOf,
  confirmSends,
  done,
  hello,
  list,
  listing,
  refusal,
  setup,
  stageWith,
} from "../../../test/kit/gateway/consent-scene.ts";
import { ruleApproval } from "./approvals.ts";

/** The form that the client gets for a call. */
async function formFor(stage: Stage, call: ReturnType<typeof callOf>): Promise<JsonObject> {
  stage.client.say(call);
  await stage.settle();
  const form = plain(stage.client.got.shift() ?? { kind: "response", id: 0, result: {} });
  expect(form).toMatchObject({ method: "elicitation/create" });
  return form;
}

describe("consent", () => {
  it("without anybody to ask: refused at once with an id; approved, the same call passes once, another never", async () => {
    const stage = stageWith();
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("sluicegate approve token") },
    ]);
    const [approval = ""] = stage.log.approvals.keys();
    const ruled = await ruleApproval(stage.log.port, stage.clock, {
      id: approval,
      choice: "once",
      by: "alice",
      role: "operator",
    });
    expect(ruled.ok).toBe(true);
    await play(stage, [
      { client: ">>", message: callOf(2, "eve") },
      { client: "<<", message: refusal("Not executed") },
      { client: ">>", message: callOf(3, "bob") },
      { server: "<<", message: callOf(3, "bob") },
      { server: ">>", message: done(3) },
      { client: "<<", message: done(3) },
      { client: ">>", message: callOf(4, "bob") },
      { client: "<<", message: refusal("Not executed") },
    ]);
    expect(stage.log.events().filter(({ kind }) => kind === "granted")).toHaveLength(1);
    expect(stage.log.events().find(({ kind }) => kind === "dispatched")).toMatchObject({ consent: approval });
  });

  it("an expired approval does not count", async () => {
    const stage = stageWith();
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("approve") },
    ]);
    const [approval = ""] = stage.log.approvals.keys();
    stage.log.approve(approval);
    stage.clock.pass(600_001);
    await play(stage, [
      { client: ">>", message: callOf(2, "bob") },
      { client: "<<", message: refusal("approve") },
    ]);
    const late = await ruleApproval(stage.log.port, stage.clock, {
      id: approval,
      choice: "once",
      by: "a",
      role: "operator",
    });
    expect(late).toMatchObject({ ok: false, error: expect.stringContaining("expired") });
  });

  it("a person who watches is asked, sees the exact call, and a refusal is final", async () => {
    const answers = ["once", "refuse"] as const;
    let asked = 0;
    const stage = stageWith({ human: async () => ({ choice: answers[asked++] ?? "refuse", by: "alice" }) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { server: "<<", message: callOf(1, "bob") },
      { server: ">>", message: done(1) },
      { client: "<<", message: done(1) },
      { client: ">>", message: callOf(2, "bob") },
      { client: "<<", message: refusal("does not permit") },
    ]);
    expect(stage.cards[0]).toMatchObject({ server: "files", tool: "send_mail", arguments: '{"to":"bob"}' });
    expect(stage.cards[0]?.lines.join()).toContain("mail leaves the house");
  });

  it("a legacy client with forms is asked by elicitation, and the answer counts", async () => {
    const stage = stageWith();
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    stage.client.say(callOf(1, "bob"));
    await stage.settle();
    const question = plain(stage.client.got.shift() ?? { kind: "response", id: 0, result: {} });
    expect(question).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
    await play(stage, [
      {
        client: ">>",
        message: { id: question["id"] ?? "", result: { action: "accept", content: { decision: "approve once" } } },
      },
      { server: "<<", message: callOf(1, "bob") },
      { server: ">>", message: done(1) },
      { client: "<<", message: done(1) },
    ]);
  });

  it("a form that nobody answers within the hold gives the refusal with an id", async () => {
    const stage = stageWith();
    await play(stage, [...hello({ elicitation: {} }), ...setup]);
    stage.client.say(callOf(1, "bob"));
    await stage.settle();
    stage.client.got.length = 0;
    stage.clock.pass(101);
    await play(stage, [
      { client: "<<", message: expect.objectContaining({ method: "notifications/cancelled" }) },
      { client: "<<", message: refusal("sluicegate approve") },
    ]);
  });

  it("a form is shown for what cannot be undone, and where another user must approve: it is no consent there", async () => {
    const approvals = { form: "reversible", by: "anyone", holdMsMax: 100, expiryMs: 600_000 } as const;
    for (const [settings, tool] of [
      [{ approvals }, "delete_all"],
      [{ approvals: { ...approvals, form: "all", by: "other" } }, "send_mail"],
    ] as const) {
      const stage = stageWith({ policy: fakePolicy([confirmSends], { settings }) });
      await play(stage, [...hello({ elicitation: {} }), ...listing("send_mail", "delete_all")]);
      for (const decision of ["approve once", "trust this value in this run", "I have answered there"]) {
        const form = await formFor(stage, callOf(1, "bob", tool));
        expect(form["params"]).toMatchObject({
          message: expect.stringMatching(/bob.*\n.*run `sluicegate approve token/s),
          requestedSchema: { properties: { decision: { enum: ["I have answered there", "refuse"] } } },
        });
        stage.client.say({ id: form["id"] ?? "", result: { action: "accept", content: { decision } } });
        await play(stage, [{ client: "<<", message: refusal("sluicegate approve") }]);
      }
      const form = await formFor(stage, callOf(1, "bob", tool));
      stage.client.say({ id: form["id"] ?? "", result: { action: "accept", content: { decision: "refuse" } } });
      await play(stage, [{ client: "<<", message: refusal("does not permit") }]);
    }
  });

  it("an approval that is given elsewhere while the form is open lets the call through", async () => {
    const stage = stageWith();
    await play(stage, [...hello({ elicitation: {} }), ...listing("delete_all")]);
    const form = await formFor(stage, callOf(1, "bob", "delete_all"));
    const [id = ""] = stage.log.approvals.keys();
    await ruleApproval(stage.log.port, stage.clock, { id, choice: "once", by: "alice", role: "operator" });
    const answered = { action: "accept", content: { decision: "I have answered there" } };
    await play(stage, [
      { client: ">>", message: { id: form["id"] ?? "", result: answered } },
      { server: "<<", message: callOf(1, "bob", "delete_all") },
      { server: ">>", message: done(1) },
      { client: "<<", message: done(1) },
    ]);
  });

  it("`form: none` shows no form", async () => {
    const approvals = { form: "none", by: "anyone", holdMsMax: 100, expiryMs: 600_000 } as const;
    const stage = stageWith({ policy: fakePolicy([confirmSends], { settings: { approvals } }) });
    await play(stage, [
      ...hello({ elicitation: {} }),
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("sluicegate approve") },
    ]);
  });

  it("`by: other`: the owner of the run cannot approve", async () => {
    const approvals = { form: "all", by: "other", holdMsMax: 100, expiryMs: 600_000 } as const;
    const stage = stageWith({ policy: fakePolicy([confirmSends], { settings: { approvals } }) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("approve") },
    ]);
    const [id = ""] = stage.log.approvals.keys();
    const own = await ruleApproval(stage.log.port, stage.clock, { id, choice: "once", by: "os:1000", role: "owner" });
    expect(own).toMatchObject({ ok: false, error: expect.stringContaining("requires a second person") });
    const other = await ruleApproval(stage.log.port, stage.clock, {
      id,
      choice: "once",
      by: "alice",
      role: "operator",
    });
    expect(other.ok).toBe(true);
  });

  it("a modern client gets `input_required` with sealed state; only the unchanged call with our state passes", async () => {
    const stage = stageWith();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const modern = (id: number, to: string, more = {}) => ({
      id,
      method: "tools/call",
      params: { _meta, name: "send_mail", arguments: { to }, ...more },
    });
    const ask = { ...list, params: { _meta } };
    const discover = { id: "d", method: "server/discover", params: { _meta } };
    const discovered = {
      id: "d",
      result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} },
    };
    await play(stage, [
      { client: ">>", message: discover },
      { server: "<<", message: discover },
      { server: ">>", message: discovered },
      { client: "<<", message: discovered },
      { client: ">>", message: ask },
      { server: "<<", message: ask },
      ...setup.slice(2),
    ]);
    stage.client.say(modern(1, "bob"));
    await stage.settle();
    const result = plain(stage.client.got.shift() ?? { kind: "response", id: 0, result: {} })["result"] as Record<
      string,
      string
    >;
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.stringContaining("sealed:") });
    const inputResponses = { "sluicegate-consent": { action: "accept", content: { decision: "approve once" } } };
    const requestState = result["requestState"] ?? "";
    const again = expect.objectContaining({ result: expect.objectContaining({ resultType: "input_required" }) });
    await play(stage, [
      { client: ">>", message: modern(2, "eve", { inputResponses, requestState }) },
      { client: "<<", message: again },
      { client: ">>", message: modern(3, "bob", { inputResponses, requestState: `${requestState}x` }) },
      { client: "<<", message: again },
      { client: ">>", message: modern(4, "bob", { inputResponses, requestState }) },
      { server: "<<", message: modern(4, "bob") },
      { server: ">>", message: { id: 4, result: { resultType: "complete", content: [] } } },
      { client: "<<", message: { id: 4, result: { resultType: "complete", content: [] } } },
      // One answer is one consent: the same state and answer again stand for nothing.
      { client: ">>", message: modern(5, "bob", { inputResponses, requestState }) },
      { client: "<<", message: again },
    ]);
  });

  it("endorsing one value grants exactly that digest", async () => {
    const untrusted: FakeMechanism = {
      ...confirmSends,
      label: () => new Map([["to", { range: exactly(lattice.top), digest: "d-bob", path: [] }]]),
    };
    const base = fakePolicy([untrusted]);
    const contractOfTool: typeof base.contractOfTool = (server, tool) => ({
      ...base.contractOfTool(server, tool),
      rest: { ...base.contractOfTool(server, tool).rest, role: "recipient" },
    });
    const stage = stageWith({
      policy: { ...base, contractOfTool },
      human: async () => ({ choice: "value", by: "alice" }),
    });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { server: "<<", message: callOf(1, "bob") },
    ]);
    const grants = stage.log.events().flatMap((event) => (event.kind === "granted" ? [event.grant] : []));
    expect(grants).toMatchObject([{ kind: "consent" }, { kind: "endorse", digest: "d-bob", role: "recipient" }]);
  });

  it("consent never lifts a deny that has come meanwhile", async () => {
    let deny = false;
    const late: FakeMechanism = {
      consider: (judged, run, memory, answers) => {
        if (!deny || judged.moment.kind !== "call")
          return confirmSends.consider?.(judged, run, memory, answers) as Opinion;
        const reason = { mechanism: "fake", code: "SG-LATE", verdict: "deny", facts: {} } as const;
        return { kind: "settled", verdict: "deny", reasons: [reason], obligations: [] };
      },
    };
    const human: StageOptions["human"] = async () => {
      deny = true;
      return { choice: "once", by: "alice" };
    };
    const stage = stageWith({ policy: fakePolicy([late]), human });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "bob") },
      { client: "<<", message: refusal("Not executed") },
    ]);
  });
});
