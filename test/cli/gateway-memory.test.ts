// B13: the local servers of all sessions of a gateway have a limit together, and each ends with its session.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { configOf } from "../../src/app/gateway/config.ts";
import { makeControlToken } from "../../src/app/gateway/control-token.ts";
import { listen, openGateway } from "../../src/app/gateway/http-gateway.ts";
import { until } from "../adapters/http-harness.ts";
import { stdioFixture } from "../kit/server/run-fixture.ts";

const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

async function started(memoryMb: number) {
  const home = mkdtempSync(join(tmpdir(), "sg-memory-"));
  ending.push(() => rmSync(home, { recursive: true, force: true }));
  const [command, ...args] = stdioFixture();
  const value = { version: 1, servers: { fixture: { command, args } }, memoryMb };
  const config = configOf(value, join(home, "gateway.yaml"));
  if (!config.ok) throw new Error(config.error.sentence);
  const opened = await openGateway(config.value, home, () => undefined);
  if (!opened.ok) throw new Error(opened.error);
  const composition = opened.value;
  ending.push(() => composition.close());
  const place = { host: "127.0.0.1", port: 0, control: makeControlToken(home) };
  const listening = await listen(composition, config.value, place);
  if (!listening.ok) throw new Error(listening.error);
  ending.push(() => listening.value.close());
  const url = `${listening.value.url}/mcp`;
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const open = async (): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
      }),
    });
  const end = async (session: string): Promise<Response> =>
    fetch(url, { method: "DELETE", headers: { "mcp-session-id": session } });
  return { open, end, servers: () => composition.memory.servers };
}

test("sessions start servers up to the limit; what is refused starts after another session has ended", async () => {
  // Each counts 48 MiB at least while it starts.
  const { open, end, servers } = await started(100);
  const one = await open();
  const two = await open();
  expect([one.status, two.status, servers()]).toEqual([200, 200, 2]);
  const refused = await open();
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain("memory for local servers");
  expect(servers()).toBe(2);
  expect((await end(one.headers.get("mcp-session-id") ?? "")).status).toBe(204);
  await until(() => servers() === 1);
  expect((await open()).status).toBe(200);
  expect(servers()).toBe(2);
}, 60_000);
