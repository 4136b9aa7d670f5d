// B13: which clients share a connection to a server, and when it ends.
import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import type { ServerTarget } from "../ports/transport.ts";

const local: ServerTarget = { kind: "stdio", command: "files", args: [], env: {}, workingDirectory: "/" };
const remote: ServerTarget = { kind: "http", url: "http://files.example/mcp", flavour: "auto", headers: {} };
const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const staged = (target: ServerTarget): Stage =>
  new Stage({
    policy: fakePolicy(),
    facts: { transport: "http", process: undefined } as never,
    setup: { servers: [{ name: "files", target: () => target }] },
  });

async function token(stage: Stage, principal = "os:1000"): Promise<{ readonly run: string; readonly token: string }> {
  const minted = await stage.gateway.beginRun({ principal, urlBase: "" });
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
}

/** One request of the modern era, which is a connection of its own. */
async function asks(stage: Stage, runToken: string | undefined, principal = "os:1000"): Promise<FakeClient> {
  const client = stage.connect({ principal, ...(runToken === undefined ? {} : { runToken }) });
  client.say({ id: 1, method: "tools/list", params: { _meta } });
  await stage.settle();
  return client;
}

/** Answers everything and ends the connections, as the era does after each request. */
async function over(stage: Stage, ...clients: readonly FakeClient[]): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    for (const server of stage.servers) {
      for (const { id } of server.got.splice(0).map(plain)) {
        if (id !== undefined) server.say({ id, result: { tools: [] } });
      }
    }
    await stage.settle();
  }
  for (const client of clients) client.handler.closed("answered");
  await stage.settle();
}

describe("B13: modern clients of a local server", () => {
  it("share its process within a run, and within none beyond", async () => {
    const stage = staged(local);
    const [one, two] = [await token(stage), await token(stage)];
    await over(stage, await asks(stage, one.token), await asks(stage, one.token));
    expect(stage.servers).toHaveLength(1);
    await over(stage, await asks(stage, two.token));
    expect(stage.servers).toHaveLength(2);
    await over(stage, await asks(stage, undefined));
    await over(stage, await asks(stage, undefined));
    expect(stage.servers).toHaveLength(3);
    await over(stage, await asks(stage, undefined, "os:2000"));
    expect(stage.servers).toHaveLength(4);
  });

  it("share the connection to a remote server, whose process is not ours", async () => {
    const stage = staged(remote);
    const [one, two] = [await token(stage), await token(stage)];
    await over(stage, await asks(stage, one.token), await asks(stage, two.token));
    expect(stage.servers).toHaveLength(1);
  });

  it("leave no process behind when their run ends, and the next run under its key has another", async () => {
    const stage = staged(local);
    await over(stage, await asks(stage, undefined));
    const live = stage.gateway.runs.find("os:1000/any");
    if (live === undefined) throw new Error("no run");
    await stage.gateway.runs.end(live, "closed");
    await stage.gateway.expire();
    expect(stage.servers.map(({ closed }) => closed)).toEqual([true]);
    await over(stage, await asks(stage, undefined));
    expect(stage.servers).toHaveLength(2);
  });

  it("keep it while a request of the run is still open", async () => {
    const stage = staged(local);
    const open = await asks(stage, undefined);
    const live = stage.gateway.runs.find("os:1000/any");
    if (live === undefined) throw new Error("no run");
    await stage.gateway.runs.end(live, "closed");
    await stage.gateway.expire();
    expect(stage.servers.map(({ closed }) => closed)).toEqual([false]);
    await over(stage, open);
    await stage.gateway.expire();
    expect(stage.servers.map(({ closed }) => closed)).toEqual([true]);
  });
});
