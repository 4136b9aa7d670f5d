import { expect, test } from "vitest";
import { FakeServer, orderWith, scopeText } from "../../../test/kit/isolation/fake-parts.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { UpstreamConnection } from "../../gateway/ports/transport.ts";
import type { Message } from "../../wire/message.ts";
import { openProjection } from "../projection/session/projection-session.ts";
import { type LaunchedServer, connectProcess } from "./stdio-upstream.ts";

const target = { kind: "stdio", command: "server", args: [], env: {}, workingDirectory: "/" } as const;

type Stage = {
  readonly server: FakeServer;
  readonly upstream: UpstreamConnection;
  readonly messages: Message[];
  readonly reasons: string[];
  readonly groups: number[];
  readonly launch: (failure?: string) => void;
  onMessage: (message: Message) => void;
};

function stage(): Stage {
  const server = new FakeServer();
  let launched: (result: Result<LaunchedServer, string>) => void = () => undefined;
  const [messages, reasons, groups]: [Message[], string[], number[]] = [[], [], []];
  const on: Stage = {
    server,
    messages,
    reasons,
    groups,
    onMessage: () => undefined,
    launch: (failure) => {
      if (failure !== undefined) return launched(err(failure));
      const parts = server.launched();
      launched(ok({ process: parts.process, projection: openProjection(parts, orderWith(), { clock: server.clock }) }));
    },
    upstream: connectProcess(
      target,
      {
        message: (message) => {
          messages.push(message);
          on.onMessage(message);
        },
        closed: (reason) => reasons.push(reason),
      },
      { launch: () => new Promise((resolve) => (launched = resolve)), started: (group) => groups.push(group) },
    ),
  };
  return on;
}

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !condition(); round += 1) await new Promise((done) => setTimeout(done, 5));
  expect(condition()).toBe(true);
}

const ask = (id: number, method = "tools/call"): Message => ({ kind: "request", id, method, params: undefined });
const line = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}\n`;

test("messages wait for the launch, in their order; the projection is there before it", async () => {
  const { server, upstream, groups, launch } = stage();
  expect(upstream.projection?.tier).toBe("none");
  expect(upstream.processGroup).toBeUndefined();
  upstream.send(ask(1));
  upstream.send(ask(2));
  launch();
  let written = "";
  server.stdin.on("data", (chunk: Buffer) => (written += chunk.toString()));
  await until(() => written.split("\n").length === 3);
  expect(written).toMatch(/"id":1.*\n.*"id":2/);
  expect([upstream.projection?.tier, upstream.processGroup, groups]).toEqual(["A", 0, [0]]);
  await upstream.close();
  expect(server.killed).toBe(1);
});

test("a launch that fails refuses calls and closes, with one reason", async () => {
  const { upstream, reasons, launch } = stage();
  const begun = upstream.projection?.begin("a", "read", scopeText());
  launch("Tier A is not there.");
  expect(await begun).toEqual({ ok: false, error: "Tier A is not there." });
  await upstream.close();
  expect(reasons).toEqual(["Tier A is not there."]);
});

test("many messages before the launch ask those who send them to pause", async () => {
  const { upstream, launch } = stage();
  for (let id = 0; id < 255; id += 1) upstream.send(ask(id));
  expect(upstream.drained()).toBeUndefined();
  upstream.send(ask(255));
  const drained = upstream.drained();
  expect(drained).toBeInstanceOf(Promise);
  launch();
  await drained;
  await upstream.close();
});

test("law: what led to an answer is drained in the turn in which the answer is handed on, and not what came after", async () => {
  const on = stage();
  on.launch();
  await until(() => on.groups.length === 1);
  const { server, upstream } = on;
  await upstream.projection?.begin("a", "read", scopeText());
  server.tracer.see({ path: "/project/before" });
  on.onMessage = () => {
    upstream.projection?.end("a");
    server.tracer.see({ path: "/project/after" });
  };
  server.stdout.write(line(1) + line(2));
  await until(() => on.messages.length === 2);
  expect((await upstream.projection?.trace("a"))?.events.map(({ path }) => path)).toEqual(["/project/before"]);
  await upstream.close();
});

test("the first list of tools ends the start", async () => {
  const on = stage();
  on.launch();
  on.upstream.send(ask(1, "tools/list"));
  await until(() => on.groups.length === 1);
  on.server.tracer.see({ path: "/project/start" });
  on.server.stdout.write(line(1));
  await until(() => on.messages.length === 1);
  on.server.tracer.see({ path: "/project/idle" });
  const phases = (await on.upstream.projection?.trace(undefined))?.events.map(({ phase }) => phase);
  expect(phases).toEqual(["startup", "background"]);
  await on.upstream.close();
});

test("what ends the projection is the reason for which the connection closes", async () => {
  const on = stage();
  on.launch();
  await until(() => on.groups.length === 1);
  on.upstream.projection?.kill("it went out of its scope");
  await until(() => on.reasons.length === 1);
  expect(on.reasons).toEqual(["it went out of its scope"]);
  await on.upstream.close();
});
