import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { configBytesMax, configOf, readConfig } from "./config.ts";

const good = { version: 1, servers: { files: { command: "server", args: ["x"], env: { A: "b" }, cwd: "w" } } };

describe("configuration", () => {
  it("reads commands and addresses, with paths relative to the file", () => {
    const read = configOf({ ...good, policy: "p.yaml", origins: ["https://a.example"] }, "/etc/sg/c.yaml");
    expect(read).toMatchObject({ ok: true, value: { policies: ["/etc/sg/p.yaml"] } });
    const server = read.ok ? read.value.servers.get("files") : undefined;
    expect(server?.target).toMatchObject({ kind: "stdio", command: "server", workingDirectory: "/etc/sg/w" });
    const http = configOf({ version: 1, servers: { web: { url: "https://h.example/mcp", headers: { k: "v" } } } }, "c");
    expect(http.ok && http.value.servers.get("web")?.target).toMatchObject({ kind: "http", flavour: "auto" });
  });

  it("D26: local servers work in the workspace of the gateway's clients, wherever their program starts", () => {
    const workspaceOf = (workspace?: string): unknown => {
      const read = configOf({ ...good, ...(workspace === undefined ? {} : { workspace }) }, "/etc/sg/c.yaml");
      if (!read.ok) throw new Error(read.error.sentence);
      const target = read.value.servers.get("files")?.target;
      expect(target).toMatchObject({ workingDirectory: "/etc/sg/w", workspace: read.value.workspace });
      return read.value.workspace;
    };
    expect(workspaceOf()).toBe("/etc/sg");
    expect(workspaceOf("../work/")).toBe("/etc/work");
    expect(workspaceOf("/srv/work")).toBe("/srv/work");
    expect(workspaceOf("~/work")).toBe(join(homedir(), "work"));
    expect(workspaceOf("~")).toBe(homedir());
    expect(workspaceOf("~ann")).toBe("/etc/sg/~ann");
    const tilde = { version: 1, policy: "~/p.yaml", servers: { files: { command: "server", cwd: "~/bin" } } };
    const read = configOf(tilde, "/etc/sg/c.yaml");
    expect(read).toMatchObject({ ok: true, value: { policies: [join(homedir(), "p.yaml")] } });
    expect(read.ok && read.value.servers.get("files")?.target).toMatchObject({
      workingDirectory: join(homedir(), "bin"),
      workspace: "/etc/sg",
    });
  });

  const servers = (entry: unknown) => ({ version: 1, servers: { a: entry } });
  // A bearer for one server must not reach another, over `/mcp` or by a slip of the client.
  const two = (auth: string) => {
    const url = "https://h.example/mcp";
    return { version: 1, servers: { a: { url, auth: "same-origin" }, b: { url, auth } } };
  };
  const bad: readonly (readonly [string, unknown])[] = [
    ["SG-CONFIG-SHAPE", []],
    ["SG-CONFIG-VERSION", { ...good, version: 2 }],
    ["SG-CONFIG-KEY", { ...good, polices: 1 }],
    ["SG-CONFIG-SERVERS", { version: 1, servers: {} }],
    [
      "SG-CONFIG-SERVERS",
      { version: 1, servers: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i}`, {}])) },
    ],
    ["SG-CONFIG-NAME", { version: 1, servers: { "A b": { command: "x" } } }],
    ["SG-CONFIG-SERVER", servers("x")],
    ["SG-CONFIG-SERVER", servers({ command: "x", url: "http://h" })],
    ["SG-CONFIG-KEY", servers({ command: "x", shell: true })],
    ["SG-CONFIG-COMMAND", servers({ command: 1 })],
    ["SG-CONFIG-ARGS", servers({ command: "x", args: "y" })],
    ["SG-CONFIG-ENV", servers({ command: "x", env: { A: 1 } })],
    ["SG-CONFIG-CWD", servers({ command: "x", cwd: 1 })],
    ["SG-CONFIG-URL", servers({ url: "ftp://h" })],
    ["SG-CONFIG-URL", servers({ url: "https://u:p@h.example/" })],
    ["SG-CONFIG-FLAVOUR", servers({ url: "https://h.example", flavour: "x" })],
    ["SG-CONFIG-HEADERS", servers({ url: "https://h.example", headers: [] })],
    ["SG-CONFIG-AUTH", servers({ command: "x", auth: "client" })],
    ["SG-CONFIG-AUTH", servers({ command: "x", auth: "resource" })],
    ["SG-CONFIG-AUTH", servers({ command: "x", auth: 1 })],
    ["SG-CONFIG-AUTH", servers({ command: "x", auth: "same-origin" })],
    ["SG-CONFIG-AUTH", servers({ url: "https://h.example", auth: "same-origin", headers: { AUTHORIZATION: "x" } })],
    ["SG-CONFIG-AUTH", two("static")],
    ["SG-CONFIG-AUTH", two("same-origin")],
    ["SG-CONFIG-HOSTS", { ...good, hosts: "api.example" }],
    ["SG-CONFIG-HOSTS", { ...good, hosts: ["api.example", "https://api.example"] }],
    ["SG-CONFIG-HOSTS", { ...good, hosts: ["api.example:443"] }],
    ["SG-CONFIG-HOSTS", { ...good, hosts: ["*.example"] }],
    ["SG-CONFIG-HOSTS", { ...good, hosts: ["."] }],
    ["SG-CONFIG-POLICY", { ...good, policy: 1 }],
    ["SG-CONFIG-WORKSPACE", { ...good, workspace: 1 }],
    ["SG-CONFIG-ORIGINS", { ...good, origins: "x" }],
    ["SG-CONFIG-MEMORY", { ...good, memoryMb: "1 GB" }],
    ["SG-CONFIG-MEMORY", { ...good, memoryMb: 63 }],
    ["SG-CONFIG-MEMORY", { ...good, memoryMb: 100.5 }],
  ];

  it.each(bad)("%s: a sentence with place and way on", (code, value) => {
    const read = configOf(value, "sluicegate.yaml");
    expect(read.ok).toBe(false);
    if (read.ok) return;
    expect(read.error.code).toBe(code);
    expect(read.error.sentence.length).toBeLessThanOrEqual(240);
    expect(read.error.sentence).toContain("sluicegate.yaml");
    expect(read.error.sentence).not.toContain("p@h");
  });

  it("takes the host names of a reverse proxy, in any case", () => {
    expect(configOf({ ...good, hosts: ["API.example", "[::1]"] }, "c.yaml")).toMatchObject({
      ok: true,
      value: { hosts: ["api.example", "[::1]"] },
    });
    expect(configOf(servers({ url: "https://h.example/mcp", auth: "same-origin" }), "c.yaml").ok).toBe(true);
  });

  it("says what is wrong with the file itself", () => {
    const folder = mkdtempSync(join(tmpdir(), "sg-config-"));
    const file = join(folder, "c.yaml");
    expect(readConfig(file)).toMatchObject({ error: { code: "SG-CONFIG-READ" } });
    writeFileSync(file, "a: [");
    expect(readConfig(file)).toMatchObject({ error: { code: "SG-CONFIG-SYNTAX" } });
    writeFileSync(file, "#".repeat(configBytesMax + 1));
    expect(readConfig(file)).toMatchObject({ error: { code: "SG-CONFIG-SIZE" } });
    writeFileSync(file, JSON.stringify(good));
    expect(readConfig(file).ok).toBe(true);
  });

  it("D26: a workspace that is not a folder is refused, and one behind a link keeps its name", () => {
    const folder = mkdtempSync(join(tmpdir(), "sg-config-"));
    const file = join(folder, "c.yaml");
    mkdirSync(join(folder, "work"));
    symlinkSync("work", join(folder, "link"));
    symlinkSync("gone", join(folder, "broken"));
    const read = (workspace: string) => {
      writeFileSync(file, JSON.stringify({ ...good, workspace }));
      return readConfig(file);
    };
    for (const workspace of ["gone", "broken", "c.yaml", "c.yaml/x", "\0"]) {
      expect(read(workspace), workspace).toMatchObject({ error: { code: "SG-CONFIG-WORKSPACE" } });
    }
    for (const workspace of [".", "work", "link", "/"]) expect(read(workspace).ok, workspace).toBe(true);
    expect(read("link")).toMatchObject({ value: { workspace: join(folder, "link") } });
  });

  it("C21: fills `${VAR}` of headers and env in from the environment, and refuses what it cannot fill in", () => {
    process.env["SG_TEST_TOKEN"] = "s3cret";
    process.env["SG_TEST_LINES"] = "a\r\nx: y";
    const headers = (text: string) => configOf(servers({ url: "https://h.example", headers: { k: text } }), "c");
    const targetOf = (read: ReturnType<typeof configOf>) => (read.ok ? read.value.servers.get("a")?.target : undefined);
    expect(targetOf(headers("Bearer ${SG_TEST_TOKEN}"))).toMatchObject({ headers: { k: "Bearer s3cret" } });
    expect(targetOf(headers("${SG_TEST_TOKEN}:${SG_TEST_TOKEN}"))).toMatchObject({ headers: { k: "s3cret:s3cret" } });
    expect(targetOf(headers("costs $5 {x}"))).toMatchObject({ headers: { k: "costs $5 {x}" } });
    const env = configOf(servers({ command: "x", env: { T: "${SG_TEST_TOKEN}" } }), "c");
    expect(targetOf(env)).toMatchObject({ env: { T: "s3cret" } });
    for (const text of [
      "${SG_TEST_NONE}",
      "${SG_TEST_LINES}",
      "${SG_TEST_TOKEN:-x}",
      "${env:SG_TEST_TOKEN}",
      "${",
      "${}",
    ]) {
      const read = headers(text);
      expect(read, text).toMatchObject({ ok: false, error: { code: "SG-CONFIG-HEADERS" } });
      expect(JSON.stringify(read)).not.toContain("s3cret");
    }
    expect(configOf(servers({ command: "x", env: { T: "${SG_TEST_NONE}" } }), "c")).toMatchObject({
      ok: false,
      error: { code: "SG-CONFIG-ENV" },
    });
    expect(configOf(servers({ url: "https://h.example/${SG_TEST_TOKEN}" }), "c").ok).toBe(false);
  });
});
