import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { configuredServers, scanConfig, serverOfWords, withoutComments } from "./client-config.ts";

const folder = mkdtempSync(join(tmpdir(), "sluicegate-clients-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(content: string, name = "config.json"): ReturnType<typeof configuredServers> {
  const file = join(folder, name);
  writeFileSync(file, content);
  return configuredServers(file);
}

/** Name, line, and the target or the reason of each server. */
function told(content: object | string, name?: string): readonly (readonly [string, number, unknown])[] {
  const servers = read(typeof content === "string" ? content : JSON.stringify(content), name);
  if (!servers.ok) throw new Error(servers.error.sentence);
  return servers.value.map(({ name, line, config }) => [name, line, config.ok ? config.value.target : config.error]);
}

const command = {
  kind: "stdio",
  command: "node",
  args: ["s.js"],
  env: {},
  workingDirectory: folder,
  workspace: folder,
};

describe("a client's configuration", () => {
  it("is read in the form of each client", () => {
    const plain = { command: "node", args: ["s.js"] };
    expect(told({ mcpServers: { a: plain } })).toEqual([["a", 1, command]]);
    expect(told({ servers: { a: { type: "stdio", ...plain } } })).toEqual([["a", 1, command]]);
    expect(told({ mcp: { servers: { a: plain } } })).toEqual([["a", 1, command]]);
    expect(told({ mcp: { a: { type: "local", command: ["node", "s.js"], environment: { K: "v" } } } })).toEqual([
      ["a", 1, { ...command, env: { K: "v" } }],
    ]);
    expect(told({ context_servers: { a: { command: { path: "node", args: ["s.js"] } } } })).toEqual([
      ["a", 1, command],
    ]);
    expect(told({ projects: { "/p": { mcpServers: { a: plain } }, "/q": 1 } })).toEqual([["a", 1, command]]);
    const remote = { kind: "http", url: "https://a.example/mcp", flavour: "auto" };
    expect(
      told({ mcpServers: { a: { httpUrl: remote.url, headers: { A: "b" } }, b: { serverUrl: remote.url } } }),
    ).toEqual([
      ["a", 1, { ...remote, headers: { A: "b" } }],
      ["b", 1, { ...remote, headers: {} }],
    ]);
  });

  it("is read as TOML where Codex keeps it", () => {
    process.env["SLUICEGATE_SCAN_TEST"] = "set";
    const text = `model = "x" # comment
[mcp_servers.a]
command = "node"
args = ["s.js"]
startup_timeout_sec = 5
[mcp_servers.a.env]
K = "v"
[mcp_servers."b c"]
url = "https://a.example/mcp"
http_headers = { X = "y" }
bearer_token_env_var = "SLUICEGATE_SCAN_TEST"
`;
    const headers = { X: "y", authorization: "Bearer set" };
    expect(told(text, "config.toml")).toEqual([
      ["a", 2, { ...command, env: { K: "v" } }],
      ["b c", 8, { kind: "http", url: "https://a.example/mcp", flavour: "auto", headers }],
    ]);
    expect(read(`${"[".repeat(500)}`, "config.toml")).toMatchObject({ error: { kind: "unread" } });
    expect(read(`a = ${"[".repeat(5_000)}`, "config.toml")).toMatchObject({ error: { kind: "unread" } });
    expect(read(`[x]\ny = 1`, "config.toml")).toMatchObject({ error: { kind: "none" } });
  });

  it("is read where Goose and Continue keep it, without parts of their own", () => {
    const goose = `GOOSE_MODEL: x
extensions:
  developer: {type: builtin, name: developer, enabled: true}
  a:
    type: stdio
    cmd: node
    args: [s.js]
    envs: {K: v}
  b: {type: streamable_http, uri: "https://a.example/mcp"}
`;
    const remote = { kind: "http", url: "https://a.example/mcp", flavour: "auto", headers: {} };
    expect(told(goose, "config.yaml")).toEqual([
      ["a", 4, { ...command, env: { K: "v" } }],
      ["b", 9, remote],
    ]);
    const listed = "models: []\nmcpServers:\n  - name: a\n    command: node\n    args: [s.js]\n";
    expect(told(listed, "config.yaml")).toEqual([["a", 3, command]]);
    expect(told({ "amp.mcpServers": { a: { command: "node", args: ["s.js"] } } })).toEqual([["a", 1, command]]);
  });

  it("may have comments, and names the line of each server", () => {
    const text =
      '{ // list\n  "mcpServers": {\n    /* two\n lines */ "u": {},\n    "a": { "url": "https://x.example//y" }\n} }';
    expect(told(text).map(([name, line]) => [name, line])).toEqual([
      ["u", 1],
      ["a", 5],
    ]);
    expect(withoutComments('"a//b" // c')).toBe('"a//b"  ');
  });

  it("may start servers through this program", () => {
    const wrapped = { command: "npx", args: ["-y", "sluicegate@1", "run", "--server", "x", "--", "node", "s.js"] };
    expect(told({ mcpServers: { a: wrapped } })).toEqual([["a", 1, command]]);
  });

  it("has variables of the environment filled in, in both spellings, or names the one that is not set", () => {
    process.env["SLUICEGATE_SCAN_TEST"] = "set";
    const env = { A: "${SLUICEGATE_SCAN_TEST}", B: "x${env:SLUICEGATE_SCAN_TEST}" };
    expect(told({ mcpServers: { a: { command: "node", args: ["s.js"], env } } })).toEqual([
      ["a", 1, { ...command, env: { A: "set", B: "xset" } }],
    ]);
    expect(told({ mcpServers: { a: { command: "node", env: { K: "${env:SLUICEGATE_NOT_SET}" } } } })).toEqual([
      ["a", 1, expect.stringContaining("env.K needs the variable SLUICEGATE_NOT_SET")],
    ]);
  });

  it("may hold entries that are wrong: each is a fault of that server alone", () => {
    const reasons = told({ mcpServers: { a: 5, b: {}, c: { command: "node", args: [1] }, d: { url: "ftp://x" } } });
    expect(reasons.map(([, , reason]) => reason)).toEqual([
      "its entry is not a map with `command` or `url`",
      expect.stringContaining("command"),
      expect.stringContaining("args must be a list of texts"),
      expect.stringContaining("url must be an http or https address"),
    ]);
  });

  it("is refused where it is no configuration, with what it would have to be", () => {
    expect(read("{")).toMatchObject({
      ok: false,
      error: { kind: "unread", sentence: expect.stringContaining("neither JSON, YAML nor TOML") },
    });
    for (const other of ["[]", "{}", '{"servers": {"mail": {"tools": []}}}']) {
      expect(read(other), other).toMatchObject({
        ok: false,
        error: { kind: "none", sentence: expect.stringContaining("names no servers") },
      });
    }
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`s${at}`, {}]));
    expect(read(JSON.stringify({ servers: many }))).toMatchObject({
      ok: false,
      error: { kind: "unread", sentence: expect.stringContaining("256") },
    });
    expect(configuredServers(join(folder, "none"))).toMatchObject({
      ok: false,
      error: { kind: "unread", sentence: expect.stringContaining("none") },
    });
  });
});

describe("a server named on the command line", () => {
  it("is a command, called after what it is about", () => {
    const { name, config } = serverOfWords(["node", "/x/server-files/dist/index.js", "--root"], folder);
    expect(name).toBe("server-files");
    expect(config).toMatchObject({ ok: true, value: { target: { command: "node", workingDirectory: folder } } });
    expect(serverOfWords(["--x"], folder).name).toBe("server");
  });

  it("is an address, called after its host", () => {
    const { name, config } = serverOfWords(["https://mcp.example/x"], folder);
    expect(name).toBe("mcp.example");
    expect(config).toMatchObject({ ok: true, value: { target: { kind: "http", url: "https://mcp.example/x" } } });
    expect(serverOfWords(["https://"], folder).config.ok).toBe(false);
  });
});

it("an argument that cannot be a path is no workspace", () => {
  writeFileSync(join(folder, "file"), "");
  const args = [join(folder, "file", "below"), `/${"x".repeat(5_000)}`, "/nul\0byte", folder];
  const { config } = serverOfWords(["node", ...args], folder);
  if (!config.ok) throw new Error(config.error);
  const { servers } = scanConfig(new Map([["a", config.value]]), "policy.yaml", "/empty");
  expect(servers.get("a")).toMatchObject({ target: { workspace: folder } });
});
