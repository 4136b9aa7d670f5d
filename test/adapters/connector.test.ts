import { expect, test } from "vitest";
import { systemConnector } from "../../src/adapters/connector.ts";
import { until } from "./http-harness.ts";
import { json, Recorder, request, TestServer } from "../kit/server/test-server.ts";

test("a remote target: what is sent while the client loads arrives in order", async () => {
  const server = await new TestServer((asked, response) => {
    const { id, method } = JSON.parse(asked.body) as { id: number; method: string };
    json(response, { jsonrpc: "2.0", id, result: { method } });
  }).start();
  const seen = new Recorder();
  const upstream = systemConnector().connect(
    { kind: "http", url: server.url, flavour: "streamable", headers: {} },
    seen,
  );
  upstream.pause();
  upstream.send(request(1, "a"));
  upstream.abandon(9);
  upstream.resume();
  upstream.negotiated("2025-11-25");
  upstream.send(request(2, "b"));
  expect(await seen.answer(2)).toMatchObject({ result: { method: "b" } });
  expect(upstream.drained()).toBeUndefined();
  await upstream.close();
  expect(seen.reasons).toHaveLength(1);
  server.stop();
});

test("a local target: stderr goes to the diagnostic with its target", async () => {
  const lines: string[] = [];
  const connector = systemConnector({ diagnostic: (target, line) => lines.push(`${target.kind} ${line}`) });
  const seen = new Recorder();
  const target = { kind: "stdio", command: "sh", args: ["-c", "echo hi >&2"], env: {}, workingDirectory: "/" } as const;
  const upstream = connector.connect(target, seen);
  await until(() => seen.reasons.length === 1);
  expect(lines).toEqual(["stdio hi"]);
  expect(upstream.processGroup).toBeGreaterThan(1);
  await upstream.close();
});
