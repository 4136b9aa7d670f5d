// Results behind consent when the gateway dies (gateway.md 3): the agent was told to repeat the call to get them, so the
// repeated call must not be executed a second time, whatever became of the result.
import { expect, it } from "vitest";
import type { Verdict } from "../../src/core/verdict.ts";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { type FakeMechanism, fakePolicy } from "../kit/gateway/fake-policy.ts";
import { plain, Stage } from "../kit/gateway/playbook.ts";
import { stageTools } from "../kit/gateway/stage-tools.ts";

/** What the fixture of contracts calls consequential is what is not called `read...`. */
const secretly: FakeMechanism = {
  consider: ({ moment }) => {
    const asks = moment.kind === "release" && moment.contract.tool.endsWith("secret");
    const verdict: Verdict = asks ? "confirm" : "allow";
    return { kind: "settled", verdict, reasons: [], obligations: [] };
  },
};

type Told = { readonly text: string; readonly executed: boolean };

class Life {
  readonly stage: Stage;
  #ids = 0;

  constructor(log: FakeLog, payload: "clear" | "digests" = "clear", more: readonly FakeMechanism[] = []) {
    this.stage = new Stage({ log, policy: fakePolicy([secretly, ...more], { settings: { payload } }) });
  }

  /** Makes a call; the server answers with how often it was asked in this life. */
  async call(name: string, answer: Record<string, unknown> = {}): Promise<Told> {
    const { client } = this.stage;
    this.#ids += 1;
    client.say({ id: this.#ids, method: "tools/call", params: { name, arguments: { about: "quince" } } });
    let executed = false;
    for (let turn = 0; turn < 4; turn += 1) {
      await this.stage.settle();
      for (const message of this.stage.servers.flatMap(({ got }) => got.splice(0))) {
        if (message.kind !== "request") continue;
        const content = [{ type: "text", text: `secret words of ${name}` }];
        if (message.method === "tools/list") this.stage.server.say({ id: message.id, result: { tools: stageTools } });
        else {
          executed = true;
          this.stage.server.say({ id: message.id, result: { content }, ...answer } as never);
        }
      }
    }
    return { text: JSON.stringify(client.got.splice(0).map(plain).at(-1)), executed };
  }
}

function approve(log: FakeLog): void {
  for (const { id, status } of log.approvals.values()) if (status === "pending") log.approve(id);
}

/** A log in which the result of a call waits for consent. */
async function withWithheld(tool: string, payload: "clear" | "digests" = "clear"): Promise<FakeLog> {
  const log = new FakeLog();
  const told = await new Life(log, payload).call(tool);
  expect(told.executed).toBe(true);
  expect(told.text).toContain("repeat the same call to get the stored result");
  return log;
}

it.each(["send_secret", "read_secret"])("the repeated call of %s gets the stored result, not another", async (tool) => {
  const log = await withWithheld(tool);
  approve(log);
  const told = await new Life(log).call(tool);
  expect(told.executed).toBe(false);
  expect(told.text).toContain(`secret words of ${tool}`);
  expect(log.events().at(-1)).toMatchObject({ kind: "released", how: "pass" });
});

it("without consent it asks again, over as many restarts as there are", async () => {
  const log = await withWithheld("send_secret");
  await new Life(log).call("read_file");
  const life = new Life(log);
  const asked = await life.call("send_secret");
  expect(asked).toMatchObject({ executed: false, text: expect.stringContaining("its result waits for approval") });
  approve(log);
  expect(await life.call("send_secret")).toMatchObject({
    executed: false,
    text: expect.stringContaining("secret words"),
  });
  // It was shown now: the same call is a new one, in this life and in the next, and no doubt is left about it.
  expect((await life.call("send_secret")).executed).toBe(true);
});

it("an error that was withheld is an error when it is shown", async () => {
  const log = new FakeLog();
  const error = { code: -32000, message: "secret failure", data: { why: "x" } };
  const failing = { result: undefined, error };
  await new Life(log).call("send_secret", failing);
  approve(log);
  const told = await new Life(log).call("send_secret");
  expect(told).toMatchObject({ executed: false });
  expect(JSON.parse(told.text)).toMatchObject({ error });
});

it("a result that was opened before the restart leaves nothing behind", async () => {
  const log = await withWithheld("send_secret");
  approve(log);
  const life = new Life(log);
  await life.call("send_secret");
  expect((await new Life(log).call("send_secret")).executed).toBe(true);
});

const lost = /approval required: the same call was made at \d\d:\d\d UTC, and a restart lost its result/;

it("where the result was not kept, a consequential call is refused with that reason, and needs a person", async () => {
  const log = await withWithheld("send_secret", "digests");
  approve(log);
  const life = new Life(log, "digests");
  expect(await life.call("send_secret")).toMatchObject({ executed: false, text: expect.stringMatching(lost) });
  approve(log);
  expect((await life.call("send_secret")).executed).toBe(true);
  // Its second result waits like the first one did.
  expect(await life.call("send_secret")).toMatchObject({ executed: false, text: expect.stringContaining("waits") });
});

it("where the result was not kept, a plain read is made again", async () => {
  const log = await withWithheld("read_secret", "digests");
  expect((await new Life(log, "digests").call("read_secret")).executed).toBe(true);
});

it("a call that asks anyway says what has happened before it is approved", async () => {
  const log = await withWithheld("send_secret", "digests");
  const asking: FakeMechanism = {
    consider: ({ moment }) => ({
      kind: "settled",
      verdict: moment.kind === "call" ? "confirm" : "allow",
      reasons: [],
      obligations: [],
    }),
  };
  const life = new Life(log, "digests", [asking]);
  expect(await life.call("send_secret")).toMatchObject({ executed: false, text: expect.stringMatching(lost) });
  expect(life.stage.cards.at(-1)?.lines.join()).toContain("SG-RESULT-LOST");
});

it("a kept result that is not what was withheld counts as lost", async () => {
  const log = await withWithheld("send_secret");
  const index = log.entries.findIndex(({ notes }) => notes?.["moment"] === "withheld");
  const entry = log.entries[index];
  if (entry === undefined) throw new Error("nothing was kept");
  const message = { result: { content: [{ type: "text", text: "words of somebody else" }] } };
  log.entries[index] = { ...entry, details: { ...entry.details, message } };
  approve(log);
  expect(await new Life(log).call("send_secret")).toMatchObject({ executed: false, text: expect.stringMatching(lost) });
});

it("where the run itself cannot be read back, nothing that waited is made again unasked", async () => {
  const log = await withWithheld("read_secret");
  log.unreadable = true;
  const told = await new Life(log).call("read_secret");
  expect(told).toMatchObject({
    executed: false,
    text: expect.stringContaining("the same call was made, and a restart"),
  });
});

it("the end of the run ends it all", async () => {
  const log = await withWithheld("send_secret", "digests");
  const life = new Life(log, "digests");
  await life.call("read_file");
  for (const live of Array.from(life.stage.gateway.runs.all())) await life.stage.gateway.runs.end(live, "closed");
  expect((await life.call("send_secret")).executed).toBe(true);
});
