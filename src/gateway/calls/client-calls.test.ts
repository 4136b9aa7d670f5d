import { describe, expect, it } from "vitest";
import type { Reason } from "../../core/opinion.ts";
import { callOf, listed, setup, verdictAt } from "../../../test/kit/gateway/first-calls.ts";
import { type FakeMechanism, fakePolicy, fakeState } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";

const text = (words: string) => ({ content: [{ type: "text", text: words }] });

describe("refusals", () => {
  it("a denied call is a tool result that says that nothing happened, and reaches no server", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("call", "send", "deny", { way: "Draft it instead." })]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "send_mail", { to: "eve" }) },
      {
        client: "<<",
        message: {
          id: 1,
          result: {
            content: [
              { type: "text", text: expect.stringMatching(/^Not executed: .*Draft it instead\. \(decision .*\)$/) },
            ],
            isError: true,
            _meta: { "io.github.sluicegate/decision": expect.any(String) },
          },
        },
      },
    ]);
    expect(stage.log.kinds()).toEqual(["begun", "refused"]);
  });

  it("a refusal elsewhere is error -32010 with the decision, and a completion is empty", async () => {
    const deny = [verdictAt("call", "resources/read", "deny"), verdictAt("call", "completion", "deny")];
    const stage = new Stage({ policy: fakePolicy(deny) });
    await play(stage, [
      { client: ">>", message: { id: 1, method: "resources/read", params: { uri: "file:///a" } } },
      {
        client: "<<",
        message: {
          id: 1,
          error: { code: -32010, message: expect.any(String), data: { decision: expect.any(String), way: "" } },
        },
      },
      {
        client: ">>",
        message: { id: 2, method: "completion/complete", params: { ref: {}, argument: { name: "a", value: "b" } } },
      },
      { client: "<<", message: { id: 2, result: { completion: { values: [], total: 0, hasMore: false } } } },
    ]);
  });

  it("what is hidden is not listed, and cannot be called", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("expose", "send", "deny")]) });
    await play(stage, [
      ...setup.slice(0, 3),
      {
        client: "<<",
        message: { id: "l", result: { tools: listed.result.tools.filter(({ name }) => name !== "send_mail") } },
      },
      { client: ">>", message: callOf(1, "send_mail") },
      { client: "<<", message: expect.objectContaining({ result: expect.objectContaining({ isError: true }) }) },
    ]);
  });

  it("a tool whose calls need consent is marked in `_meta` only", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("expose", "send", "confirm")]) });
    const marked = listed.result.tools.map((tool) =>
      tool.name === "send_mail" ? { ...tool, _meta: { "io.github.sluicegate/consent": true } } : tool,
    );
    await play(stage, [...setup.slice(0, 3), { client: "<<", message: { id: "l", result: { tools: marked } } }]);
  });

  it("a call that is no move of the model is denied", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...setup.slice(0, 2),
      { server: ">>", message: { id: "l", result: { tools: [{ name: "no_move" }] } } },
      { client: "<<", message: { id: "l", result: { tools: [{ name: "no_move" }] } } },
      { client: ">>", message: callOf(1, "no_move") },
      { client: "<<", message: expect.objectContaining({ result: expect.objectContaining({ isError: true }) }) },
    ]);
  });

  it("an obligation that cannot be met denies", async () => {
    const isolate: FakeMechanism = {
      consider: ({ moment }) => ({
        kind: "settled",
        verdict: "allow",
        reasons: [],
        obligations: moment.kind === "call" ? [{ kind: "isolate", scope: "none" }] : [],
      }),
    };
    const stage = new Stage({ policy: fakePolicy([isolate]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "read_file") },
      { client: "<<", message: expect.objectContaining({ result: expect.objectContaining({ isError: true }) }) },
    ]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-OBLIGATION"] });
  });

  it("observe mode forwards what would have been stopped, and says so in the log", async () => {
    const policy = fakePolicy([verdictAt("call", "send", "deny")], { settings: { mode: "observe" } });
    const stage = new Stage({ policy });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "send_mail") },
      { server: "<<", message: callOf(1, "send_mail") },
      { server: ">>", message: { id: 1, result: text("sent") } },
      { client: "<<", message: { id: 1, result: text("sent") } },
    ]);
    const entry = stage.log.entries.find(({ decision }) => decision?.verdict === "deny");
    expect(entry?.notes).toMatchObject({ wouldHaveBeenStopped: "deny" });
  });
});

describe("releases", () => {
  it("a rejected result is replaced by constant text that says that the call was executed", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("release", "read_secret", "deny")]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "read_secret") },
      { server: "<<", message: callOf(1, "read_secret") },
      { server: ">>", message: { id: 1, result: text("password") } },
      {
        client: "<<",
        message: {
          id: 1,
          result: expect.objectContaining({
            content: [{ type: "text", text: expect.stringContaining("was executed and must not be repeated") }],
            isError: true,
          }),
        },
      },
    ]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "released", how: "reject" });
  });

  it("a withheld result is kept; the same call returns it after consent, without executing again", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("release", "read_secret", "confirm")]) });
    const withheld = { id: expect.any(Number), result: expect.objectContaining({ isError: true }) };
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "read_secret") },
      { server: "<<", message: callOf(1, "read_secret") },
      { server: ">>", message: { id: 1, result: text("password") } },
      { client: "<<", message: withheld },
      { client: ">>", message: callOf(2, "read_secret") },
      { client: "<<", message: withheld },
    ]);
    const [approval] = stage.log.approvals.keys();
    expect(stage.log.approvals.size).toBe(1);
    stage.log.approve(approval ?? "");
    await play(stage, [
      { client: ">>", message: callOf(3, "read_secret") },
      { client: "<<", message: { id: 3, result: text("password") } },
    ]);
  });

  it("redaction leaves a schema-valid blank", async () => {
    const redact: FakeMechanism = {
      consider: ({ moment }) => ({
        kind: "settled",
        verdict: "allow",
        reasons: [],
        obligations: moment.kind === "release" ? [{ kind: "redact", pointer: "/structuredContent/owner" }] : [],
      }),
    };
    const stage = new Stage({ policy: fakePolicy([redact]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "read_file") },
      { server: "<<", message: callOf(1, "read_file") },
      { server: ">>", message: { id: 1, result: { content: [], structuredContent: { owner: "bob", size: 3 } } } },
      { client: "<<", message: { id: 1, result: { content: [], structuredContent: { owner: "", size: 3 } } } },
    ]);
  });

  it("progress text that is withheld is dropped, its numbers pass; log text is dropped", async () => {
    const stage = new Stage({ policy: fakePolicy([verdictAt("release", "read", "deny")]) });
    const call = {
      ...callOf(1, "read_file"),
      params: { name: "read_file", arguments: {}, _meta: { progressToken: "p" } },
    };
    await play(stage, [
      ...setup,
      { client: ">>", message: call },
      { server: "<<", message: call },
      {
        server: ">>",
        message: { method: "notifications/progress", params: { progressToken: "p", progress: 1, message: "x" } },
      },
      { client: "<<", message: { method: "notifications/progress", params: { progressToken: "p", progress: 1 } } },
      { server: ">>", message: { method: "notifications/message", params: { level: "info", data: "secret" } } },
    ]);
  });
});

describe("order and races", () => {
  it("`dispatched` is durable before the call is sent, and the release before the result leaves", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, setup);
    let open = (): void => undefined;
    stage.log.gate = new Promise((resolve) => (open = resolve));
    stage.client.say(callOf(1, "read_file"));
    await stage.settle();
    expect(stage.log.kinds()).toContain("dispatched");
    expect(stage.server.got).toEqual([]);
    open();
    await stage.settle();
    expect(stage.server.got.map(plain)).toEqual([callOf(1, "read_file")]);
    stage.log.gate = new Promise((resolve) => (open = resolve));
    stage.server.say({ id: 1, result: text("a") });
    await stage.settle();
    expect(stage.log.kinds().slice(-2)).toEqual(["succeeded", "released"]);
    expect(stage.client.got).toEqual([]);
    open();
    await stage.settle();
    expect(stage.client.got).toHaveLength(1);
  });

  it("a log that cannot be written stops calls, says so, and puts the run in its worst state", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, setup);
    stage.log.failing = true;
    await play(stage, [
      { client: ">>", message: callOf(1, "send_mail") },
      {
        client: "<<",
        message: expect.objectContaining({
          result: expect.objectContaining({ content: [{ type: "text", text: expect.stringContaining("event log") }] }),
        }),
      },
    ]);
    expect([...stage.gateway.runs.all()][0]?.state.q).toMatchObject({ top: true });
  });

  it("a cancelled call is unknown; its late result is still judged and released", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "send_mail") },
      { server: "<<", message: callOf(1, "send_mail") },
      { client: ">>", message: { method: "notifications/cancelled", params: { requestId: 1, reason: "exfil: 123" } } },
      { server: "<<", message: { method: "notifications/cancelled", params: { requestId: 1 } } },
      { server: ">>", message: { id: 1, result: text("late") } },
      { client: "<<", message: { id: 1, result: text("late") } },
    ]);
    expect(stage.log.kinds().slice(-2)).toEqual(["unknown", "released"]);
  });

  it("the same call after an unknown outcome asks first: it may already have happened", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...setup,
      { client: ">>", message: callOf(1, "send_mail") },
      { server: "<<", message: callOf(1, "send_mail") },
    ]);
    stage.server.handler.closed("crashed");
    await stage.settle();
    expect(plain(stage.client.got.pop() ?? { kind: "response", id: 0, result: {} })).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining("may have happened") },
    });
    expect(stage.log.kinds().at(-1)).toBe("unknown");
    const [live] = stage.gateway.runs.all();
    expect(stage.gateway.state.inDoubt.size(live?.key ?? "")).toBe(1);
  });

  it("calls in parallel: the second is decided on what the first may have done already", async () => {
    const once: FakeMechanism = {
      consider: ({ moment }, run) => {
        const again = moment.kind === "call" && fakeState(run.q).allowed.includes(moment.contract.tool);
        const reason: Reason = { mechanism: "fake", code: "SG-ONCE", verdict: "deny", facts: {} };
        return { kind: "settled", verdict: again ? "deny" : "allow", reasons: again ? [reason] : [], obligations: [] };
      },
    };
    const stage = new Stage({ policy: fakePolicy([once]) });
    await play(stage, setup);
    stage.client.say(callOf(1, "send_mail"));
    stage.client.say(callOf(2, "send_mail"));
    await stage.settle();
    expect(stage.server.got.map(plain)).toEqual([callOf(1, "send_mail")]);
    expect(stage.client.got.map(plain)).toMatchObject([{ id: 2, result: { isError: true } }]);
  });

  it("trace context is rewritten, baggage and our keys never reach a server", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const _meta = { traceparent, baggage: "secret=1", "io.github.sluicegate/run": "x", keep: 1 };
    await play(stage, setup);
    stage.client.say({ id: 1, method: "tools/call", params: { name: "read_file", arguments: {}, _meta } });
    await stage.settle();
    const sent = plain(stage.server.got[0] ?? { kind: "response", id: 0, result: {} });
    expect(sent).toMatchObject({
      params: { _meta: { traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/) } },
    });
    expect(JSON.stringify(sent)).not.toMatch(/secret|sluicegate|aaaa|keep/);
  });
});
