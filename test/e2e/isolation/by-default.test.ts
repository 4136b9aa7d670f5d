// Isolation without a word of policy: `sluicegate run`, the daemon, and a server as a client's configuration names it.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { createSandbox, outputOf, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import { best } from "../../kit/gateway/stage.ts";

const launcher = join(repositoryFolder, "bin", "sluicegate.js");

let sandbox: Sandbox;
let [home, workspace] = ["", ""];
let env: Record<string, string> = {};
let notices = "";
beforeEach(async () => {
  sandbox = await createSandbox();
  [home, workspace] = [join(sandbox.folder, "user"), join(sandbox.folder, "workspace")];
  for (const folder of [home, workspace]) mkdirSync(folder);
  writeFileSync(join(home, "secret"), "a secret\n");
  writeFileSync(join(workspace, "server.mjs"), server);
  env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    ...sandbox.env,
    SLUICEGATE_ISOLATION: "",
    OWN_TOKEN: "of the client",
  };
  notices = "";
});
afterEach(() => sandbox.remove());

/** Answers by doing what the name of a tool says, with what the system told it. */
const server = `import { readFileSync, writeFileSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { createInterface } from "node:readline";
const acts = {
  read_secret: () => readFileSync(${"process.argv[2]"}, "utf8"),
  write_note: () => (writeFileSync("note.txt", "noted"), "written"),
  read_data: () => readFileSync(process.argv[2].replace("secret", "data/in.txt"), "utf8"),
  write_data: () => (writeFileSync(process.argv[2].replace("secret", "data/out.tmp"), "x"), "written"),
  variables: () => JSON.stringify([process.env.GIVEN_KEY, process.env.OWN_TOKEN]),
  look_up: async () => JSON.stringify(await lookup("docs.example")),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  let result = {};
  if (method === "initialize") {
    result = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  } else if (method === "tools/list") {
    result = { tools: Object.keys(acts).map((name) => ({ name, inputSchema: { type: "object" } })) };
  } else if (method === "tools/call") {
    let text;
    try { text = await acts[params.name](); } catch (error) { text = String(error.code); }
    result = { content: [{ type: "text", text }] };
  }
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
}
`;

/** Lets every call through, and says nothing of isolation. */
const allowing = {
  version: 1,
  rules: [{ id: "all", tier: "allow", when: { tool: "*" }, why: "only the isolation is looked at" }],
  flow: { mode: "provenance" },
};

type Connected = { readonly client: Client; readonly call: (name: string) => Promise<string> };

async function connect(command: readonly string[], policy: object = allowing): Promise<Connected> {
  const file = join(sandbox.folder, "policy.json");
  writeFileSync(file, JSON.stringify(policy));
  const args = [launcher, "run", "--policy", file, "--server", "s", "--", ...command];
  const client = new Client({ name: "e2e", version: "1" });
  // What an entry of a client's configuration gives to its server is not in the client's own environment.
  const given = { ...env, GIVEN_KEY: "of the entry" };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: given,
    cwd: workspace,
    stderr: "pipe",
  });
  transport.stderr?.on("data", (part: Buffer) => (notices += part.toString()));
  await client.connect(transport);
  await client.listTools();
  return {
    client,
    call: async (name) => {
      const { content } = await client.callTool({ name, arguments: {} });
      const [first] = content;
      return first?.type === "text" ? first.text : "";
    },
  };
}

const own = (): readonly string[] => [process.execPath, "server.mjs", join(home, "secret")];

describe.skipIf(!best)("without a section `isolation` (needs tier A)", () => {
  test("a server is isolated: it works in its workspace and sees nothing else", { timeout: 60_000 }, async () => {
    const { client, call } = await connect(own());
    expect(await call("write_note")).toBe("written");
    expect(readFileSync(join(workspace, "note.txt"), "utf8")).toBe("noted");
    expect(JSON.parse(await call("variables"))).toContain("of the entry");
    expect(await call("read_secret")).not.toContain("a secret");
    expect(await outputOf(["runs"], env)).toMatch(/\bA\b/);
    await client.close();
  });

  test("a host that it misses is told with the line that opens it", { timeout: 60_000 }, async () => {
    const { client, call } = await connect(own());
    expect(await call("look_up")).not.toContain("address");
    expect(notices).toContain('isolation: {backend: where-possible, servers: {s: {net: {allow: ["docs.example"]}}}}');
    await client.close();
  });

  test(
    "a file and a folder that it misses are told once, with the line that opens them",
    { timeout: 60_000 },
    async () => {
      mkdirSync(join(home, "data"));
      writeFileSync(join(home, "data", "in.txt"), "the data");
      const { client, call } = await connect(own());
      for (const name of ["read_data", "read_data", "write_data"]) expect(await call(name)).toBe("ENOENT");
      await client.close();
      const told = notices.split("\n").filter((line) => line.includes("which its projection does not have"));
      expect(told).toHaveLength(2);
      expect(told[0]).toContain("could not read `~/data/in.txt`");
      const line = /add to your policy: isolation: (.*)$/.exec(told[1] ?? "")?.[1] ?? "";
      expect(line).toBe(
        '{backend: where-possible, servers: {s: {files: {read: ["~/data/in.txt"], write: ["~/data"]}}}}',
      );
      const isolation = {
        backend: "where-possible",
        servers: { s: { files: { read: ["~/data/in.txt"], write: ["~/data"] } } },
      };
      // A daemon looks at a changed policy a moment later; the next one has it at once.
      await outputOf(["daemon", "stop"], env);
      const opened = await connect(own(), { ...allowing, isolation });
      expect(await opened.call("read_data")).toBe("the data");
      expect(await opened.call("write_data")).toBe("written");
      expect(readFileSync(join(home, "data", "out.tmp"), "utf8")).toBe("x");
      await opened.client.close();
    },
  );

  test("a host that it misses is opened on its card, by one answer that names it", { timeout: 60_000 }, async () => {
    const { client, call } = await connect(own());
    expect(await call("look_up")).not.toContain("address");
    const card = await outputOf(["cards", "s"], env);
    expect(card).toMatch(/hosts it wanted, which are closed to it:\n {4}docs\.example/);
    // A plain acceptance opens nothing, and the host of another service is not offered.
    expect(await outputOf(["cards", "s", "--hosts", "docs.example"], env)).toMatch(
      /^Opened, from the next start of `s` on/,
    );
    await client.close();
    const opened = await connect(own());
    expect(await opened.call("look_up")).toContain("address");
    expect(await outputOf(["cards", "s"], env)).toMatch(/hosts that its card opened:\n {4}docs\.example/);
    await opened.call("write_note");
    expect(existsSync(join(workspace, "note.txt")), "a network and the workspace are two answers").toBe(false);
    expect(await outputOf(["cards", "s", "--forget"], env)).toMatch(/^Forgotten/);
    await opened.client.close();
    const closed = await connect(own());
    expect(await closed.call("look_up")).not.toContain("address");
    await closed.client.close();
  });

  test("with that line, which is a whole section, the host has an address", { timeout: 60_000 }, async () => {
    const isolation = { backend: "where-possible", servers: { s: { net: { allow: ["docs.example"] } } } };
    const opened = await connect(own(), { ...allowing, isolation });
    expect(await opened.call("look_up")).toContain("address");
    await opened.client.close();
  });

  test(
    "what cannot be isolated runs as before, with a sentence, and its results keep their labels",
    { timeout: 60_000 },
    async () => {
      const docker = join(workspace, "docker");
      writeFileSync(docker, `#!/bin/sh\nexec ${process.execPath} "$@"\n`);
      chmodSync(docker, 0o755);
      const { client, call } = await connect([docker, ...own().slice(1)]);
      expect(await call("read_secret")).toBe("a secret\n");
      expect(notices).toContain("Server `s` is not isolated: it has your files, network and environment.");
      expect(notices).toContain("`docker` lets a daemon outside run the server");
      await client.close();
    },
  );

  test("one line turns it off", { timeout: 60_000 }, async () => {
    const isolation = { backend: "where-possible", servers: { s: { backend: "off" } } };
    const { client, call } = await connect(own(), { ...allowing, isolation });
    expect(await call("read_secret")).toBe("a secret\n");
    await client.close();
    expect(existsSync(join(workspace, "note.txt"))).toBe(false);
  });
});
