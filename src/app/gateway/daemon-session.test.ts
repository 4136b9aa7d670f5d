import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import type { RunHello, ProcessIdentity } from "../../adapters/daemon/protocol.ts";
import type { OpenSession, SideChannel } from "../../adapters/daemon/services.ts";
import { identify } from "../../adapters/daemon/process-identity.ts";
import { ok } from "../../core/result.ts";
import type { ClientConnection, Exchange, UpstreamConnection, UpstreamHandler } from "../../gateway/ports/transport.ts";
import type { RequestId } from "../../wire/message.ts";
import { type SessionGateway, type SessionSetup, gatewayServices, serverName } from "./daemon-session.ts";

/** A gateway that decides nothing: every message goes on as it is. */
function transparent(seen: SessionSetup[]): SessionGateway {
  return {
    open: (setup) => {
      seen.push(setup);
      const accept = (client: ClientConnection) => {
        // The gateway finds a session by the identity of its facts; a copy would lose the policy of the session.
        expect(client.facts).toBe(setup.facts);
        const open = new Map<RequestId | null, Exchange>();
        const upstream: UpstreamConnection = setup.connector.connect(setup.target, {
          message: (message) => {
            if (message.kind === "response" || message.kind === "error") open.get(message.id)?.respond(message);
            else client.send(message);
          },
          closed: () => undefined,
        });
        return {
          request: (exchange: Exchange) => {
            open.set(exchange.request.id, exchange);
            upstream.send(exchange.request);
          },
          message: () => undefined,
          closed: () => void upstream.close(),
        };
      };
      return Promise.resolve(ok({ accept, run: "r1" }));
    },
    control: (request) => Promise.resolve(ok(request)),
    left: () => undefined,
    drain: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

const script = `process.stderr.write("hello\\n");require("readline").createInterface({input:process.stdin}).on("line",l=>{
  const m=JSON.parse(l);if(m.method==="die")process.exit(3);console.log(JSON.stringify({jsonrpc:"2.0",id:m.id,result:{a:process.argv[1]}}))})`;

const hello: RunHello = {
  kind: "run",
  version: "1",
  home: "/",
  session: "s2",
  resume: "s1",
  argv: [process.execPath, "-e", script, "x y"],
  cwd: process.cwd(),
  env: { PATH: process.env["PATH"] ?? "" },
  umask: 0o22,
  client: identify(process.pid),
  above: [],
};

type Run = {
  opened: OpenSession;
  groups: ProcessIdentity[];
  stderr: string[];
  ask: (method: string) => Promise<string>;
  end: () => void;
};

async function start(seen: SessionSetup[] = []): Promise<Run> {
  const groups: ProcessIdentity[] = [];
  const stderr: string[] = [];
  const side: SideChannel = {
    stderr: (chunk) => void stderr.push(Buffer.from(chunk).toString()),
    processGroup: (leader) => void groups.push(leader),
  };
  const opened = await gatewayServices(transparent(seen)).open(hello, side);
  if (!opened.ok) throw new Error(opened.error);
  const waiting: ((line: string) => void)[] = [];
  const wire = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _, done) => {
      for (const line of chunk.toString().split("\n").filter(Boolean)) waiting.shift()?.(line);
      done();
    },
  });
  opened.value.attach(wire);
  let id = 0;
  const ask = (method: string): Promise<string> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      wire.push(`${JSON.stringify({ jsonrpc: "2.0", id: (id += 1), method })}\n`);
    });
  return { opened: opened.value, groups, stderr, ask, end: () => wire.push(null) };
}

const alive = (group: ProcessIdentity | undefined): boolean => identify(group?.pid ?? 0).startedAt === group?.startedAt;

test("a session passes messages, stderr and the process group, and ends with the client", async () => {
  const seen: SessionSetup[] = [];
  const run = await start(seen);
  expect(JSON.parse(await run.ask("ping"))).toMatchObject({ id: 1, result: { a: "x y" } });
  expect(seen[0]).toMatchObject({ session: "s2", resume: "s1", policy: undefined, facts: { transport: "stdio" } });
  expect(run.opened.run).toBe("r1");
  expect(run.groups).toHaveLength(1);
  expect(run.stderr.join("")).toBe("[node] hello\n");
  run.end();
  expect(await run.opened.ended).toEqual({ exitCode: 0, sentence: "" });
});

test("a server that ends takes its session with it, and the reason is told", async () => {
  const run = await start();
  await run.ask("ping");
  void run.ask("die");
  const end = await run.opened.ended;
  expect(end.exitCode).toBe(1);
  expect(end.sentence).toMatch(/3/);
});

test("a closed session leaves no process, and a signal reaches the server", async () => {
  const closed = await start();
  await closed.ask("ping");
  await closed.opened.close("the shim is gone");
  expect(await closed.opened.ended).toMatchObject({ exitCode: 0 });
  const signalled = await start();
  await signalled.ask("ping");
  signalled.opened.signal("SIGTERM");
  expect((await signalled.opened.ended).exitCode).toBe(1);
  for (let round = 0; round < 100 && (alive(closed.groups[0]) || alive(signalled.groups[0])); round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect([alive(closed.groups[0]), alive(signalled.groups[0])]).toEqual([false, false]);
});

test("a server's name is what the configuration says, else its command", () => {
  expect(serverName({ server: "files", argv: ["/x/y"] })).toBe("files");
  expect(serverName({ argv: ["/x/y", "z"] })).toBe("y");
  expect(serverName({ argv: ["/x/mcp.sh"] }), "a dot would end the server's name in a policy").toBe("mcp-sh");
});

test("every callback of the gateway reaches the server's transport", async () => {
  const setups: SessionSetup[] = [];
  const below: UpstreamHandler[] = [];
  const inner: UpstreamConnection = {
    send: () => undefined,
    abandon: () => undefined,
    negotiated: () => undefined,
    drained: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  };
  const services = gatewayServices(transparent(setups), undefined, (_target, handler) => (below.push(handler), inner));
  const opened = await services.open(hello, { stderr: () => undefined, processGroup: () => undefined });
  const got: unknown[] = [];
  setups[0]?.connector.connect(setups[0].target, {
    message: (message, relatedTo) => got.push(message.kind, relatedTo),
    lost: (id, reason) => got.push(id, reason),
    runOf: (id) => `run of ${id}`,
    unplaced: (question, runs) => got.push(question.method, ...runs),
    closed: (reason) => got.push(reason),
  });
  const request = { kind: "request", id: 1, method: "roots/list", params: undefined } as const;
  below[0]?.message(request, 7);
  below[0]?.lost?.(2, "cut");
  below[0]?.unplaced?.(request, ["a", "b"]);
  expect(below[0]?.runOf?.(3)).toBe("run of 3");
  below[0]?.closed("over");
  expect(got).toEqual(["request", 7, 2, "cut", "roots/list", "a", "b", "over"]);
  if (opened.ok) await opened.value.close("end");
});

test("each session is told on its standard error that the log cannot be believed", async () => {
  const stderr: string[] = [];
  const side: SideChannel = {
    stderr: (chunk) => void stderr.push(Buffer.from(chunk).toString()),
    processGroup: () => undefined,
  };
  const gateway = { ...transparent([]), notice: () => "The log is altered." };
  const opened = await gatewayServices(gateway).open(hello, side);
  expect(opened.ok).toBe(true);
  expect(stderr).toEqual(["sluicegate: The log is altered.\n"]);
});

test("C21: a client that was started in `/` or in its home has no workspace, and its server starts there all the same", async () => {
  const seen: SessionSetup[] = [];
  const side: SideChannel = { stderr: () => undefined, processGroup: () => undefined };
  const services = gatewayServices(transparent(seen));
  for (const cwd of ["/", "/srv/ann", "/srv/ann/work"]) {
    await services.open({ ...hello, cwd, env: { ...hello.env, HOME: "/srv/ann" } }, side);
  }
  expect(seen.map(({ facts }) => facts.workingDirectory)).toEqual([undefined, undefined, "/srv/ann/work"]);
  expect(seen[0]?.target).toMatchObject({ workingDirectory: "/" });
});
