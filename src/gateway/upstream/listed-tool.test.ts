import { expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const tool = { name: "query", inputSchema: { type: "object", properties: { region: { "x-mcp-header": "Region" } } } };
const list = (id: number) => ({ id, method: "tools/list", params: { _meta } });

it("a transport learns how a server listed a tool, once a client of the same user has asked", async () => {
  const stage = new Stage({ policy: fakePolicy(), facts: { transport: "http", process: undefined } as never });
  const { facts } = stage.client.connection;
  expect(stage.gateway.listedTool(facts, "query")).toBeUndefined();
  const discovered = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
  await play(stage, [
    { client: ">>", message: { id: 0, method: "server/discover", params: { _meta } } },
    { server: "<<", message: { id: 1, method: "server/discover", params: { _meta } } },
    { server: ">>", message: { id: 1, result: discovered } },
    { client: "<<", message: { id: 0, result: discovered } },
    { client: ">>", message: list(7) },
    { server: "<<", message: list(2) },
    { server: ">>", message: { id: 2, result: { resultType: "complete", tools: [tool] } } },
    { client: "<<", message: { id: 7, result: { resultType: "complete", tools: [tool] } } },
  ]);
  expect(stage.gateway.listedTool(facts, "query")).toEqual(tool);
  // The endpoint for everything is the server itself where there is only one.
  expect(stage.gateway.listedTool({ ...facts, server: undefined }, "query")).toEqual(tool);
  expect(stage.gateway.listedTool(facts, "other")).toBeUndefined();
  expect(stage.gateway.listedTool({ ...facts, principal: "somebody else" }, "query")).toBeUndefined();
});
