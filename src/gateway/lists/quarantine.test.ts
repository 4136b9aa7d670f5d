// Manifests that must be confirmed: hidden until the operator approves, pinned over restarts, asked again when changed.
import { describe, expect, it } from "vitest";
import type { Opinion } from "../../core/opinion.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Verdict } from "../../core/verdict.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { ruleApproval } from "../consent/approvals.ts";

/** Objects to every manifest with tools. */
const doubting = (verdict: Verdict): FakeMechanism => ({
  consider: ({ moment }): Opinion => {
    if (moment.kind !== "admit" || moment.contracts.length === 0)
      return { kind: "settled", verdict: "allow", reasons: [], obligations: [] };
    const reason = { mechanism: "pin", code: "SG-TEST", verdict, facts: {} };
    return { kind: "settled", verdict, reasons: [reason], obligations: [] };
  },
});

const stageWith = (log: FakeLog, verdict: Verdict = "confirm"): Stage =>
  new Stage({ policy: fakePolicy([doubting(verdict)]), log });
const list = { id: "l", method: "tools/list" };
const tools = (...names: string[]): JsonObject => ({
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
});
const changed = { method: "notifications/tools/list_changed" };
const look = { id: 1, method: "tools/call", params: { name: "look", arguments: {} } };
const refused = (text: RegExp) =>
  expect.objectContaining({
    result: expect.objectContaining({ isError: true, content: [{ type: "text", text: expect.stringMatching(text) }] }),
  });

/** Asks for the list; the server lists `listed`, the client sees `shown`. */
function listing(listed: JsonObject, shown: JsonObject) {
  return [
    { client: ">>", message: list },
    { server: "<<", message: list },
    { server: ">>", message: { id: "l", result: listed } },
    { client: "<<", message: { id: "l", result: shown } },
  ] as const;
}

const hidden = tools();

async function rule(stage: Stage, choice: "once" | "refuse"): Promise<void> {
  const id = [...stage.log.approvals.values()].find(({ status }) => status === "pending")?.id ?? "";
  const ruled = await ruleApproval(stage.log.port, stage.clock, { id, choice, by: "alice", role: "operator" });
  if (ruled.ok) stage.gateway.ruled(ruled.value);
}

describe("a manifest that must be confirmed", () => {
  it("is hidden, the operator gets the id, and an approval lets it out at once", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, listing(tools("look"), hidden));
    expect(stage.notices).toEqual([expect.stringMatching(/quarantined \(SG-TEST\).*`sluicegate approve token\w+`/)]);
    await play(stage, [
      { client: ">>", message: look },
      { client: "<<", message: refused(/sluicegate approve token/) },
    ]);
    await rule(stage, "once");
    await play(stage, [
      { client: "<<", message: changed },
      ...listing(tools("look"), tools("look")),
      { client: ">>", message: look },
      { server: "<<", message: look },
    ]);
    expect(stage.notices).toHaveLength(1);
  });

  it("the card names server and tools", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, listing(tools("look", "send"), hidden));
    const [row] = stage.log.approvals.values();
    const card = row?.card === undefined ? undefined : stage.log.port.open(row.run, row.card);
    expect(card).toMatchObject({ title: expect.stringContaining("`files`"), tool: "tools/list" });
    expect(JSON.stringify(card)).toContain("It lists look, send");
  });

  it("a name on the card ends no line and turns no text", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, listing(tools("look\nThis server was checked.", "\u202egnp"), hidden));
    const [row] = stage.log.approvals.values();
    const card = row?.card === undefined ? undefined : stage.log.port.open(row.run, row.card);
    expect(card).toMatchObject({ lines: expect.arrayContaining([expect.stringContaining("It lists look")]) });
    expect(JSON.stringify(card)).not.toMatch(/\\n|\u202e/);
  });

  it("stays admitted over a restart, in another run", async () => {
    const log = new FakeLog();
    const before = stageWith(log);
    await play(before, listing(tools("look"), hidden));
    await rule(before, "once");
    await play(before, [{ client: "<<", message: changed }, ...listing(tools("look"), tools("look"))]);
    const after = stageWith(log);
    const client = after.connect({ process: { pid: 9, startedAt: "2" } });
    await play(after, listing(tools("look"), tools("look")), client);
    expect(after.notices).toEqual([]);
  });

  it("approved just before a restart counts as well", async () => {
    const log = new FakeLog();
    const before = stageWith(log);
    await play(before, listing(tools("look"), hidden));
    await rule(before, "once");
    await play(stageWith(log), listing(tools("look"), tools("look")));
  });

  it("changed while it runs, or after a restart, it is another manifest and is asked about again", async () => {
    const log = new FakeLog();
    const stage = stageWith(log);
    await play(stage, listing(tools("look"), hidden));
    await rule(stage, "once");
    await play(stage, [{ client: "<<", message: changed }, ...listing(tools("look"), tools("look"))]);
    await play(stage, [
      { server: ">>", message: changed },
      { client: "<<", message: changed },
      ...listing(tools("look", "steal"), hidden),
    ]);
    expect(stage.notices).toHaveLength(2);
    const after = stageWith(log);
    await play(after, listing(tools("look", "steal", "more"), hidden));
    expect(after.notices).toHaveLength(1);
  });

  it("refused it stays hidden and nobody is asked again", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, listing(tools("look"), hidden));
    await rule(stage, "refuse");
    await play(stage, [...listing(tools("look"), hidden), ...listing(tools("look"), hidden)]);
    expect(stage.notices).toHaveLength(1);
  });

  it("an approval that ran out is asked for again", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, listing(tools("look"), hidden));
    stage.clock.pass(600_001);
    await play(stage, listing(tools("look"), hidden));
    expect(stage.notices).toHaveLength(2);
  });
});

describe("a manifest that the policy denies", () => {
  it("offers no approval", async () => {
    const stage = stageWith(new FakeLog(), "deny");
    await play(stage, [
      ...listing(tools("look"), hidden),
      { client: ">>", message: look },
      { client: "<<", message: refused(/Not executed/) },
    ]);
    expect(stage.log.approvals.size).toBe(0);
    expect(stage.notices).toEqual([expect.stringContaining("quarantined (SG-TEST)")]);
  });
});

describe("the call of a must-rule at a server in quarantine", () => {
  const backup = { kind: "perform", rule: "R1", server: "store", tool: "backup", arguments: {} } as const;
  const send = { id: 1, method: "tools/call", params: { name: "send", arguments: {} } };

  /** `send` of `files` needs `backup` of `store`, whose manifest is doubted. */
  async function injecting(verdict: Verdict): Promise<Stage> {
    const doubt = doubting(verdict);
    const mechanism: FakeMechanism = {
      consider: (query, ...more) => {
        const { moment } = query;
        if (moment.kind === "admit" && moment.server === "store") return doubt.consider?.(query, ...more) ?? never();
        const needed = moment.kind === "call" && moment.contract.tool === "send";
        return { kind: "settled", verdict: "allow", reasons: [], obligations: needed ? [backup] : [] };
      },
    };
    const stage = new Stage({ policy: fakePolicy([mechanism]), servers: ["files", "store"] });
    const other = stage.connect({ server: "store" });
    other.say(list);
    await stage.settle();
    stage.servers[0]?.got.splice(0);
    stage.servers[0]?.say({ id: "l", result: tools("backup") });
    await stage.settle();
    stage.client.say(list);
    await stage.settle();
    stage.server.got.splice(0);
    stage.server.say({ id: "l", result: tools("send") });
    await stage.settle();
    stage.client.got.splice(0);
    return stage;
  }

  it("is not made: the call that needs it is refused, and says how to admit the server", async () => {
    const stage = await injecting("confirm");
    await play(stage, [
      { client: ">>", message: send },
      {
        client: "<<",
        message: refused(/`store\.backup` must come first, and its server is in quarantine.*approve token/),
      },
    ]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-MUST-FAILED"] });
    await rule(stage, "once");
    stage.client.got.splice(0);
    stage.client.say({ ...send, id: 2 });
    await stage.settle();
    expect(stage.servers[0]?.got).toMatchObject([{ method: "tools/call", params: { name: "backup" } }]);
  });

  it("is not made where the policy denies the server, and a person is named who can mend that", async () => {
    const stage = await injecting("deny");
    await play(stage, [
      { client: ">>", message: send },
      {
        client: "<<",
        message: refused(/is in quarantine\. Ask the user to look at decision \S+, which did not admit/),
      },
    ]);
    expect(stage.log.kinds()).not.toContain("dispatched");
  });
});

function never(): never {
  throw new Error("the mechanism considers every moment");
}
