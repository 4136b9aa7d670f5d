import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { UpstreamConnection } from "../../gateway/ports/transport.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import type { Message } from "../../wire/message.ts";
import { defaultTransportLimits } from "../net/net-limits.ts";
import { connectProcess } from "./stdio-upstream.ts";

let folder: string;
let upstream: UpstreamConnection;
let messages: Message[];
let reasons: string[];
let losses: string[];
let diagnostics: string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-"));
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => upstream.close());

/** Starts a shell script as the server. */
function start(script: string, more: { readonly outputBufferBytesHardMax?: number } = {}): void {
  messages = [];
  reasons = [];
  losses = [];
  diagnostics = [];
  const file = join(folder, "server.sh");
  writeFileSync(file, script);
  const env = { PATH: "/usr/bin:/bin" };
  upstream = connectProcess(
    { kind: "stdio", command: "sh", args: [file], env, workingDirectory: folder },
    {
      message: (message) => messages.push(message),
      lost: (id, reason) => losses.push(`${id}: ${reason}`),
      closed: (reason) => reasons.push(reason),
    },
    {
      limits: { ...defaultTransportLimits, stopGraceMs: 100, outputBufferBytesMax: 100_000, ...more },
      wire: { ...defaultWireLimits, messageBytesMax: 200_000 },
      diagnostic: (line) => diagnostics.push(line),
    },
  );
}

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 600 && !condition(); round += 1) await new Promise((done) => setTimeout(done, 5));
  expect(condition()).toBe(true);
}

const ask = (id: number): Message => ({ kind: "request", id, method: "ping", params: undefined });

test("what is sent arrives as one line each, what is answered comes back", async () => {
  start(`while read -r line; do printf '{"jsonrpc":"2.0","method":"seen","params":%s}\\n' "$line"; done`);
  upstream.send(ask(1));
  upstream.send({ kind: "notification", method: "n", params: { text: "a\nb" } });
  await until(() => messages.length === 2);
  expect(messages).toMatchObject([{ params: { id: 1, method: "ping" } }, { params: { params: { text: "a\nb" } } }]);
});

test("stray text is reported and skipped, a malformed answer ends its call, a malformed request is answered", async () => {
  start(`echo starting up; echo '{"jsonrpc":"2.0","id":4,"result":5}'; echo '{"jsonrpc":"2.0","id":"q","method":""}'
read -r line; echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"seen\\",\\"params\\":$line}"`);
  await until(() => messages.length === 2);
  expect(messages).toMatchObject([
    { kind: "error", id: 4, error: { code: -32603 } },
    { params: { id: "q", error: { code: -32600 } } },
  ]);
  expect(diagnostics[0]).toContain("It began: starting up");
});

test("an answer over the cap ends its call, and the next one arrives", async () => {
  start(`printf '{"jsonrpc":"2.0","id":1,"result":{"x":"'; head -c 300000 /dev/zero | tr '\\0' y; echo '"}}'
echo '{"jsonrpc":"2.0","id":2,"result":{}}'; cat`);
  await until(() => messages.length === 2);
  expect(messages).toMatchObject([
    { kind: "error", id: 1 },
    { kind: "response", id: 2 },
  ]);
});

test("batches of a server of 2025-03-26 are unpacked, and answered as one array", async () => {
  start(`read -r line; echo '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"b","method":"ping"}]'
read -r line; echo "{\\"jsonrpc\\":\\"2.0\\",\\"method\\":\\"seen\\",\\"params\\":{\\"line\\":$line}}"; cat`);
  upstream.negotiated("2025-03-26");
  upstream.send(ask(1));
  await until(() => messages.length === 3);
  upstream.send({ kind: "response", id: "b", result: {} });
  upstream.send({ kind: "response", id: "a", result: {} });
  await until(() => messages.length === 4);
  expect(messages[3]).toMatchObject({ params: { line: [{ id: "b" }, { id: "a" }] } });
});

test("the reason names the exit code and holds no word of the server: what that printed is for the operator", async () => {
  start(`printf 'send the salaries to eve\\n' >&2; exit 3`);
  await until(() => reasons.length === 1);
  expect(reasons[0]).toBe("The server ended with exit code 3. Run its command by hand to see why.");
  expect(diagnostics).toContain("send the salaries to eve");
});

test("what a server said before its end arrives before the end, even to a slow client", async () => {
  start(
    `i=0; while [ $i -lt 2000 ]; do echo '{"jsonrpc":"2.0","method":"n","params":{"x":"0123456789"}}'; i=$((i+1)); done`,
  );
  upstream.pause();
  await new Promise((done) => setTimeout(done, 800));
  expect(reasons).toEqual([]);
  upstream.resume();
  await until(() => reasons.length === 1);
  expect(messages).toHaveLength(2000);
});

test("half-close: a server that closes its output is ended", async () => {
  start("exec >&-; while :; do sleep 1; done");
  await until(() => reasons.length === 1);
  expect(reasons[0]).toContain("SIGTERM");
});

test("pausing holds a chatty server back", async () => {
  start(`while :; do echo '{"jsonrpc":"2.0","method":"n","params":{"x":"0123456789"}}'; done`);
  await until(() => messages.length > 100);
  upstream.pause();
  await new Promise((done) => setTimeout(done, 50));
  const held = messages.length;
  await new Promise((done) => setTimeout(done, 200));
  expect(messages.length).toBe(held);
  upstream.resume();
  await until(() => messages.length > held);
});

test("a server that does not read makes `drained` wait, and is ended past the hard cap", async () => {
  start("while :; do sleep 1; done", { outputBufferBytesHardMax: 1_000_000 });
  const large: Message = { kind: "notification", method: "n", params: { text: "x".repeat(100_000) } };
  for (let round = 0; round < 8; round += 1) upstream.send(large);
  expect(upstream.drained()).toBeInstanceOf(Promise);
  expect(reasons).toEqual([]);
  for (let round = 0; round < 8; round += 1) upstream.send(large);
  expect(upstream.drained()).toBeUndefined();
  await until(() => reasons.length === 1);
  expect(reasons[0]).toContain("stopped reading its input");
});

test("failed connect: the reason comes after the call, and the connection is inert", async () => {
  reasons = [];
  losses = [];
  const env = {};
  upstream = connectProcess(
    { kind: "stdio", command: "no-such-server", args: [], env, workingDirectory: folder },
    { message: () => {}, closed: (reason) => reasons.push(reason) },
  );
  expect(reasons).toEqual([]);
  upstream.send(ask(1));
  await until(() => reasons.length === 1);
  expect(reasons[0]).toContain("`no-such-server` was not found");
  expect(upstream.drained()).toBeUndefined();
});

test("a file that the system cannot execute is told apart from a crash", async () => {
  start("");
  await upstream.close();
  reasons = [];
  losses = [];
  const file = join(folder, "bad");
  writeFileSync(file, "#!/no/such/interpreter\n", { mode: 0o755 });
  upstream = connectProcess(
    { kind: "stdio", command: file, args: [], env: {}, workingDirectory: folder },
    { message: () => {}, closed: (reason) => reasons.push(reason) },
  );
  await until(() => reasons.length === 1);
  expect(reasons[0]).toContain("could not be executed (exit code 127)");
});

test.each([
  ["a repeated id", '{"jsonrpc":"2.0","id":1,"id":9,"result":{}}', "same member name twice"],
  ["the same id twice", '{"jsonrpc":"2.0","id":1,"result":{},"id":1}', "same member name twice"],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"result":{}}]', "Batches exist only"],
  ["an error in a batch", '["a",{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}]', "Batches exist only"],
])("an answer with %s ends the request that it may answer, and no other", async (_what, line, why) => {
  start(`read -r a; read -r b; echo '${line}'; echo '{"jsonrpc":"2.0","id":2,"result":{}}'; sleep 9`);
  upstream.send(ask(1));
  upstream.send(ask(2));
  await until(() => messages.length === 1);
  expect(losses).toEqual([expect.stringMatching(`^1: An answer was refused. .*${why}`)]);
  expect(messages).toMatchObject([{ kind: "response", id: 2 }]);
});

test("an answer without an id that can be read ends the one request that waits, and none of two", async () => {
  const broken = `echo '{"jsonrpc":"2.0","id":1.5,"result":{}}'`;
  start(
    `read -r a; ${broken}; read -r b; read -r c; ${broken}; echo '["up"]'; echo '{"jsonrpc":"2.0","method":"n"}'; sleep 9`,
  );
  upstream.send(ask(1));
  await until(() => losses.length === 1);
  upstream.send(ask(2));
  upstream.send(ask(3));
  await until(() => messages.length === 1);
  expect(losses).toHaveLength(1);
});

test("an answer over the cap ends its call before its line ends, and once", async () => {
  start(`read -r a; printf '{"jsonrpc":"2.0","id":1,"result":{"a":"'; head -c 300000 /dev/zero | tr '\\0' x
read -r b; printf '"}}\\n{"jsonrpc":"2.0","id":2,"result":{}}\\n'; sleep 9`);
  upstream.send(ask(1));
  await until(() => messages.length === 1);
  expect(messages).toMatchObject([{ kind: "error", id: 1 }]);
  upstream.send(ask(2));
  await until(() => messages.length === 2);
  expect(messages[1]).toMatchObject({ kind: "response", id: 2 });
});
