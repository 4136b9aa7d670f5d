// `gateway` on the real command line: what it refuses to be asked, and what it leaves behind.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { deskServer } from "../process/fixture/desk.ts";
import { Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const desk = { command: process.execPath, args: [deskServer] };
const config = terminal.file("gateway.json", { version: 1, servers: { desk } });

test("`--cert-dir` without a check that proves is refused, since it would keep nothing", async () => {
  const ran = await terminal.run("gateway", "--config", config, "--check", "--cert-dir", terminal.root);
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toContain("add --check and --require-proof");
});

test("a check leaves no open run", async () => {
  expect(await terminal.run("gateway", "--config", config, "--check")).toMatchObject({ code: 0 });
  const { value } = await terminal.json("audit", "tail");
  const { records } = value as { records: { run: string; kind: string }[] };
  expect(records.filter(({ run }) => run.startsWith("check/")).at(-1)?.kind).toBe("ended");
});

test("a check tells which answers do not fit the protocol, and passes over no refusal", async () => {
  const odd = { command: process.execPath, args: [fileURLToPath(new URL("odd-server.js", import.meta.url))] };
  const file = terminal.file("odd.json", { version: 1, servers: { odd } });
  const ran = await terminal.run("gateway", "--config", file, "--check");
  expect(ran.code).toBe(0);
  expect(ran.stdout.split("\n")).toEqual([
    "odd: 2 tools",
    "  its answer to tools/list does not fit the protocol at /tools/1/inputSchema (invalid_type): clients may refuse it",
    "  resources/templates/list: The list of `odd` has no end, broke off or is not a list. Ask the operator to check the server.",
    "  prompts/list: none \\u{1b}[31mtoday",
    "",
  ]);
});

test("C21: servers that cannot start are named when the gateway starts, and no other", async () => {
  const servers = {
    desk,
    ghost: { command: "/no/such/server" },
    lost: { command: process.execPath, cwd: "no-such-folder" },
    web: { url: "http://127.0.0.1:9/mcp" },
  };
  const ran = await terminal.run("gateway", "--config", terminal.file("ghost.json", { version: 1, servers }));
  const said = ran.stderr.split("\n").filter((line) => line.includes("cannot start"));
  expect(said).toEqual([
    expect.stringMatching(/^Server `ghost` cannot start: The command `\/no\/such\/server` was not found/),
    expect.stringMatching(/^Server `lost` cannot start: The folder .*no-such-folder. does not exist/),
  ]);
});

test("the socket of a gateway that was killed is removed by the next one", async () => {
  const folder = join(terminal.root, "run");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const left = join(folder, "gateway-1.sock");
  const listen = `require("net").createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, "SIGKILL"))`;
  await new Promise((resolve) => spawn(process.execPath, ["-e", listen]).on("close", resolve));
  expect(existsSync(left)).toBe(true);
  expect(await terminal.run("gateway", "--config", config)).toMatchObject({ code: 0 });
  expect(existsSync(left)).toBe(false);
});

test("a server is found as in the user's shell, and gets what is usual there and nothing else", async () => {
  const folder = join(terminal.root, "own-programs");
  mkdirSync(folder);
  const tell = 'printf "%s\\n" "$HOME ${SLUICEGATE_HOME:-closed} ${GIVEN:-none}" >&2; exit 3';
  writeFileSync(join(folder, "own-server"), `#!/bin/sh\n${tell}\n`, { mode: 0o755 });
  const own = { command: "own-server", env: { GIVEN: "given" } };
  const file = terminal.file("own.json", { version: 1, servers: { own } });
  const path = process.env["PATH"] ?? "";
  process.env["PATH"] = `${folder}:${path}`;
  try {
    const ran = await terminal.run("gateway", "--config", file, "--check");
    expect(ran.stderr).toContain(`${terminal.root} closed given`);
  } finally {
    process.env["PATH"] = path;
  }
});
