import { describe, expect, it } from "vitest";
import type { Obligation, Opinion } from "../../core/opinion.ts";
import { type FakeMechanism, type FakeState, fakePolicy, fakeState } from "../../../test/kit/gateway/fake-policy.ts";
import { listing } from "../../../test/kit/gateway/consent-scene.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";

/** Puts an obligation on calls of `send_mail` as long as the state asks for it. */
function owing(when: (q: FakeState) => boolean, obligation: Obligation): FakeMechanism {
  return {
    consider: ({ moment }, run): Opinion => {
      const owes = moment.kind === "call" && moment.contract.tool === "send_mail" && when(fakeState(run.q));
      return { kind: "settled", verdict: "allow", reasons: [], obligations: owes ? [obligation] : [] };
    },
  };
}

const list = { id: "l", method: "tools/list" };
const tools = ["send_mail", "backup"].map((name) => ({ name, inputSchema: { type: "object" } }));
const listed = { id: "l", result: { tools } };
const setup = [
  { client: ">>", message: list },
  { server: "<<", message: list },
  { server: ">>", message: listed },
  { client: "<<", message: listed },
] as const;
const send = { id: 1, method: "tools/call", params: { name: "send_mail", arguments: { to: "bob" } } };
const done = { id: 1, result: { content: [] } };
const refused = expect.objectContaining({ result: expect.objectContaining({ isError: true }) });
const own = expect.stringMatching(/^sluicegate:/);
const perform = { kind: "perform", rule: "R1", server: "files", tool: "backup", arguments: { all: true } } as const;
const backup = { id: own, method: "tools/call", params: { name: "backup", arguments: { all: true } } };

describe("must by injection", () => {
  it("the injected call is made first, its result is not released, then the call goes out", async () => {
    const stage = new Stage({ policy: fakePolicy([owing(() => true, perform)]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: send },
      { server: "<<", message: backup },
      { server: ">>", message: { id: "sluicegate:1", result: { content: [{ type: "text", text: "secret" }] } } },
      { server: "<<", message: send },
      { server: ">>", message: done },
      { client: "<<", message: done },
    ]);
    const events = stage.log.events().filter(({ kind }) => kind === "dispatched" || kind === "released");
    expect(events).toMatchObject([
      { kind: "dispatched", option: { contract: { tool: "backup" } } },
      { kind: "released", how: "reject" },
      { kind: "dispatched", option: { contract: { tool: "send_mail" } } },
      { kind: "released", how: "pass" },
    ]);
  });

  it("its failure refuses the call", async () => {
    const stage = new Stage({ policy: fakePolicy([owing(() => true, perform)]) });
    await play(stage, [
      ...setup,
      { client: ">>", message: send },
      { server: "<<", message: backup },
      { server: ">>", message: { id: "sluicegate:1", result: { content: [], isError: true } } },
      { client: "<<", message: refused },
    ]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-MUST-FAILED"] });
  });

  it("its silence refuses the call, and counts as unknown", async () => {
    const stage = new Stage({ policy: fakePolicy([owing(() => true, perform)]) });
    await play(stage, [...setup, { client: ">>", message: send }, { server: "<<", message: backup }]);
    stage.clock.pass(60_001);
    await play(stage, [{ client: "<<", message: refused }]);
    expect(stage.log.kinds()).toContain("unknown");
  });

  it("one that asks instead of answering has not succeeded: nobody is there to answer", async () => {
    const stage = new Stage({ policy: fakePolicy([owing(() => true, perform)]) });
    const question = { method: "elicitation/create", params: { message: "sure?" } };
    const asking = { resultType: "input_required", inputRequests: { q: question }, requestState: "s" };
    await play(stage, [
      ...setup,
      { client: ">>", message: send },
      { server: "<<", message: backup },
      { server: ">>", message: { id: "sluicegate:1", result: asking } },
      { client: "<<", message: refused },
    ]);
    expect(stage.log.kinds()).toContain("unknown");
    expect(stage.log.kinds()).not.toContain("succeeded");
  });
});

describe("the outbox", () => {
  const hold = { kind: "hold", rule: "R2", since: 0 } as const;
  const backupCall = { id: 2, method: "tools/call", params: { name: "backup", arguments: {} } };
  const waits = owing((q) => q.succeeded.length === 0, hold);

  it("a held call is sent once what it waits for has succeeded; nobody gets its result", async () => {
    const stage = new Stage({ policy: fakePolicy([waits]) });
    await play(stage, [
      ...listing("send_mail", "backup"),
      { client: ">>", message: send },
      {
        client: "<<",
        message: expect.objectContaining({
          result: expect.objectContaining({ content: [{ type: "text", text: expect.stringContaining("outbox") }] }),
        }),
      },
      { client: ">>", message: backupCall },
      { server: "<<", message: backupCall },
      { server: ">>", message: { id: 2, result: { content: [] } } },
      { client: "<<", message: { id: 2, result: { content: [] } } },
      { server: "<<", message: { id: own, method: "tools/call", params: send.params } },
      { server: ">>", message: { id: "sluicegate:1", result: { content: [{ type: "text", text: "sent" }] } } },
    ]);
  });

  it("at the end of the run what is still held is dropped and reported", async () => {
    const stage = new Stage({ policy: fakePolicy([waits]) });
    await play(stage, [...setup, { client: ">>", message: send }, { client: "<<", message: refused }]);
    const [live] = stage.gateway.runs.all();
    if (live !== undefined) await stage.gateway.runs.end(live, "closed");
    expect(stage.notices).toEqual([expect.stringContaining("`send_mail` of `files` was held and never sent")]);
    expect(stage.log.kinds().at(-1)).toBe("ended");
  });
});

describe("notices", () => {
  it("are given, and the call goes on", async () => {
    const notify = { kind: "notify", rule: "R3", text: "mail goes out" } as const;
    const stage = new Stage({ policy: fakePolicy([owing(() => true, notify)]) });
    await play(stage, [...setup, { client: ">>", message: send }, { server: "<<", message: send }]);
    expect(stage.notices).toEqual(["mail goes out"]);
  });
});
