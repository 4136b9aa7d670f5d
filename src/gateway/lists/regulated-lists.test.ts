// The list of a run is a function of its state: what is shown, who is told of a change, and when nobody is.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Opinion } from "../../core/opinion.ts";
import {
  type FakeMechanism,
  type PolicyChanges,
  fakePolicy,
  fakeState,
  lattice,
} from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import { listQuietMs } from "../ports/limits.ts";

/** Entries whose name starts so are hidden once the run holds anything secret. */
function hidingWhenSecret(prefix: string): FakeMechanism {
  return {
    consider: ({ moment }, run): Opinion => {
      const hit =
        moment.kind === "expose" && moment.contract.tool.startsWith(prefix) && fakeState(run.q).held !== lattice.bottom;
      const reason = { mechanism: "fake", code: "SG-HIDDEN", verdict: "deny", facts: {} } as const;
      return { kind: "settled", verdict: hit ? "deny" : "allow", reasons: hit ? [reason] : [], obligations: [] };
    },
  };
}

/** A policy under which lists follow the state; what starts so is hidden from a run that holds secrets. */
function regulated(prefix = "send", more: PolicyChanges = {}): LoadedPolicy {
  return fakePolicy([hidingWhenSecret(prefix)], { regulation: {}, ...more });
}

const tools = ["read_secret", "read_file", "send_mail"].map((name) => ({ name, inputSchema: { type: "object" } }));

const answers: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {} }, serverInfo: { name: "s" } },
  "server/discover": { resultType: "complete", capabilities: { tools: {} }, supportedVersions: ["2026-07-28"] },
  "tools/list": { tools },
  "resources/list": { resources: [{ uri: "file:///a", name: "a" }] },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "file:///{p}", name: "t" }] },
  "tools/call": { content: [] },
};

/** Lets the servers answer, and the quiet time pass. */
async function settle(stage: Stage): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await stage.settle();
    for (const server of stage.servers) {
      for (const { id, method } of server.got.splice(0).map(plain)) {
        const result = typeof method === "string" ? answers[method] : undefined;
        if (id === undefined || id === null) continue;
        server.say(result === undefined ? { id, error: { code: -32601, message: "no" } } : { id, result });
      }
    }
  }
  stage.clock.pass(listQuietMs);
  await stage.settle();
}

const initialize = { id: "i", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } };

async function ask(stage: Stage, message: JsonObject, client: FakeClient = stage.client): Promise<JsonObject> {
  client.say(message);
  await settle(stage);
  const index = client.got.map(plain).findIndex((one) => one["id"] === message["id"]);
  const [answer] = client.got.splice(index, 1);
  return answer === undefined ? {} : plain(answer);
}

const list = (method: string, id = "l"): JsonObject => ({ id, method });
const call = (name: string, id: string | number = 1): JsonObject => ({ id, method: "tools/call", params: { name } });
const said = (client: FakeClient): readonly JsonObject[] => client.got.splice(0).map(plain);
const namesOf = (answer: JsonObject): unknown =>
  ((answer["result"] as { tools?: { name: string }[] }).tools ?? []).map(({ name }) => name);

describe("a legacy client", () => {
  it("is told once that a tool is gone after it read what hides it, and calling it is refused", async () => {
    const stage = new Stage({ policy: regulated() });
    const said1 = await ask(stage, initialize);
    expect(said1).toMatchObject({
      result: { capabilities: { tools: { listChanged: true }, resources: { listChanged: true } } },
    });
    expect(namesOf(await ask(stage, list("tools/list")))).toContain("send_mail");
    await ask(stage, call("read_file"));
    expect(said(stage.client)).toEqual([]);
    await ask(stage, call("read_secret", 2));
    expect(said(stage.client)).toEqual([{ method: "notifications/tools/list_changed" }]);
    // A client that keeps using its old list is as safe: the call is judged, not the list.
    expect(await ask(stage, call("send_mail", 3))).toMatchObject({ result: { isError: true } });
    expect(namesOf(await ask(stage, list("tools/list", "l2")))).toEqual(["read_secret", "read_file"]);
    await ask(stage, call("read_secret", 4));
    expect(said(stage.client)).toEqual([]);
  });

  it.each([true, false])(
    "hears what another client of its user hides, also where it folds that later (%s)",
    async (now) => {
      const policy = { ...regulated(), remembersLists: now };
      const stage = new Stage({ policy, facts: { process: { pid: 7, startedAt: "1" } } });
      const other = stage.connect({ process: { pid: 8, startedAt: "1" } });
      for (const client of [stage.client, other]) {
        await ask(stage, initialize, client);
        expect(namesOf(await ask(stage, list("tools/list"), client))).toContain("send_mail");
      }
      await ask(stage, call("read_secret", 2), other);
      expect(said(stage.client)).toEqual([{ method: "notifications/tools/list_changed" }]);
      expect(namesOf(await ask(stage, list("tools/list", "l2")))).toEqual(["read_secret", "read_file"]);
    },
  );

  it("hears nothing before it asked for a list, and nothing that was not declared", async () => {
    const stage = new Stage({ policy: regulated() });
    await ask(stage, initialize);
    await ask(stage, call("read_secret"));
    expect(said(stage.client)).toEqual([]);
    const silent = new Stage({ policy: regulated() });
    await ask(silent, list("tools/list"));
    await ask(silent, call("read_secret"));
    expect(said(silent.client)).toEqual([]);
  });

  it("is not told of a list that it is just being given", async () => {
    const stage = new Stage({ policy: regulated() });
    await ask(stage, initialize);
    await ask(stage, list("tools/list"));
    stage.client.say(call("read_secret", 2));
    await stage.settle();
    const [sent] = stage.server.got.splice(0).map(plain);
    stage.client.say(list("tools/list", "l2"));
    await stage.settle();
    stage.server.say({ id: sent?.["id"] ?? 0, result: { content: [] } });
    await stage.settle();
    stage.clock.pass(listQuietMs);
    await settle(stage);
    expect(said(stage.client).map(({ method }) => method)).toEqual([undefined, undefined]);
  });

  it("hears of resources and templates in one notice", async () => {
    const stage = new Stage({ policy: regulated("resources/read") });
    await ask(stage, initialize);
    expect(await ask(stage, list("resources/list"))).toMatchObject({ result: { resources: [{ name: "a" }] } });
    await ask(stage, list("resources/templates/list", "t"));
    await ask(stage, call("read_secret"));
    expect(said(stage.client)).toEqual([{ method: "notifications/resources/list_changed" }]);
    expect(await ask(stage, list("resources/list", "l2"))).toMatchObject({ result: { resources: [] } });
  });

  it("is told when the run that hid something ends", async () => {
    const stage = new Stage({ policy: regulated() });
    await ask(stage, initialize);
    await ask(stage, call("read_secret"));
    expect(namesOf(await ask(stage, list("tools/list")))).toEqual(["read_secret", "read_file"]);
    for (const live of Array.from(stage.gateway.runs.all())) await stage.gateway.runs.end(live, "operator");
    expect(said(stage.client)).toEqual([{ method: "notifications/tools/list_changed" }]);
    expect(namesOf(await ask(stage, list("tools/list", "l2")))).toContain("send_mail");
  });

  it("is told nothing new under a policy whose lists stay the same, whatever its server can do", async () => {
    const stage = new Stage({ policy: fakePolicy([hidingWhenSecret("send")]) });
    expect(await ask(stage, initialize)).toMatchObject({ result: answers["initialize"] });
    await ask(stage, list("tools/list"));
    await ask(stage, call("read_secret"));
    expect(said(stage.client)).toEqual([]);
  });
});

describe("a modern client", () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const listen = {
    id: "s",
    method: "subscriptions/listen",
    params: { _meta, notifications: { toolsListChanged: true } },
  };
  const notice = {
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": "s" } },
  };

  it("gets every list private and stale at once, and hears on its stream of lists shown elsewhere", async () => {
    const stage = new Stage({ policy: regulated(), facts: { transport: "http" } });
    const first = await ask(stage, { ...list("tools/list"), params: { _meta } });
    expect(first).toMatchObject({ result: { ttlMs: 0, cacheScope: "private", tools } });
    const stream = stage.connect();
    stream.say(listen);
    await settle(stage);
    // The server knows no subscriptions: the gateway acknowledges what it can do itself.
    expect(said(stream)).toMatchObject([
      {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { toolsListChanged: true }, ...notice.params },
      },
    ]);
    await ask(stage, { ...call("read_secret"), params: { name: "read_secret", _meta } });
    expect(said(stream)).toMatchObject([notice]);
    expect(said(stage.client)).toEqual([]);
    stream.abandoners.forEach((gone) => gone());
    await ask(stage, { ...list("tools/list", "l2"), params: { _meta } });
    stage.load(regulated("nothing", { digest: "policy-2" }));
    await settle(stage);
    expect(said(stream)).toEqual([]);
  });

  it("a second stream under a taken id is none, and the first one still hears", async () => {
    const stage = new Stage({ policy: regulated(), facts: { transport: "http" } });
    await ask(stage, { ...list("tools/list"), params: { _meta } });
    const stream = stage.connect();
    for (let times = 0; times < 2; times += 1) {
      stream.say(listen);
      await settle(stage);
    }
    expect(said(stream)).toMatchObject([{ method: "notifications/subscriptions/acknowledged" }, { error: {} }]);
    await ask(stage, { ...call("read_secret"), params: { name: "read_secret", _meta } });
    expect(said(stream)).toMatchObject([notice]);
  });

  it("is promised on the server's own acknowledgement what the gateway adds", async () => {
    const stage = new Stage({ policy: regulated(), facts: { transport: "http" } });
    stage.client.say(listen);
    await stage.settle();
    const [asked] = stage.server.got.splice(0).map(plain);
    const acknowledged = { notifications: {}, _meta: { "io.modelcontextprotocol/subscriptionId": asked?.["id"] ?? 0 } };
    stage.server.say({ method: "notifications/subscriptions/acknowledged", params: acknowledged });
    await settle(stage);
    expect(said(stage.client)).toMatchObject([{ params: { notifications: { toolsListChanged: true } } }]);
  });
});

describe("the merged endpoint", () => {
  it("tells of all its servers at once, and shows each server's entries by the state of the run", async () => {
    const facts = { server: undefined } as never;
    const stage = new Stage({ policy: regulated(), servers: ["files", "mail"], facts });
    expect(await ask(stage, initialize)).toMatchObject({ result: { capabilities: { tools: { listChanged: true } } } });
    expect(namesOf(await ask(stage, list("tools/list")))).toHaveLength(6);
    await ask(stage, call("files__read_secret"));
    stage.clock.pass(listQuietMs);
    expect(said(stage.client)).toEqual([{ method: "notifications/tools/list_changed" }]);
    expect(namesOf(await ask(stage, list("tools/list", "l2")))).toEqual([
      "files__read_secret",
      "files__read_file",
      "mail__read_secret",
      "mail__read_file",
    ]);
    // The name that a client remembers still means the same tool, and the refusal says why.
    expect(await ask(stage, call("mail__send_mail", 2))).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining("`mail.send_mail` is hidden") }] },
    });
  });
});
