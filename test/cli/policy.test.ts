// `policy`, `labels` and `replay`: what needs no daemon, no server and no log.
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { listTools } from "../kit/policy/list-tools.ts";
import { repository, Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const example = (name: string): string => join(repository, "examples", name);

describe("policy check", () => {
  test("good policies load", async () => {
    expect(await terminal.json("policy", "check", "default")).toEqual({
      code: 0,
      value: { ok: true, diagnostics: [] },
    });
    expect((await terminal.run("policy", "check", example("calendar/policy.yaml"))).code).toBe(0);
  });

  test("regression: a shipped policy is accepted without a list of tools", { timeout: 120_000 }, async () => {
    for (const name of ["fetch", "github", "shell"])
      expect((await terminal.run("policy", "check", join(repository, `packs/policies/${name}.yaml`))).code, name).toBe(
        0,
      );
  });

  test("an error has file, line, column and remedy, and exit code 1", async () => {
    const file = terminal.file("bad.yaml", "version: 1\nrules:\n  - {id: R, teir: block, when: a, why: w}\n");
    const { code, value } = await terminal.json("policy", "check", file);
    expect(code).toBe(1);
    expect(value).toMatchObject({ ok: false });
    expect(value).toHaveProperty("diagnostics[0]", {
      code: "SG-POLICY-KEY",
      severity: "error",
      message: expect.stringContaining("teir"),
      file,
      line: 3,
      column: 13,
      remedy: "did you mean `tier`?",
    });
    const shown = (await terminal.run("policy", "check", file)).stdout;
    expect(shown).toContain("bad.yaml:3:13: ");
    expect(shown).toContain("The policy does not load");
  });

  test("the scope of each server is said in words, that of a pack's server too", async () => {
    const text = `version: 1
extends: [default]
servers: {tracker: {pack: github}}
isolation: {servers: {notes: {files: {write: ["~/notes"]}}}}
`;
    const file = terminal.file("isolated.yaml", text);
    const { code, value } = await terminal.json("policy", "check", file);
    expect({ code, value }).toMatchObject({
      code: 0,
      value: { ok: true, isolation: [{ server: "notes" }, { server: "tracker" }, { server: "*" }] },
    });
    const { stdout } = await terminal.run("policy", "check", file);
    expect(stdout).toContain("It writes ~/notes itself");
    expect(stdout).toContain("It connects to api.github.com:443, raw.githubusercontent.com:443,");
    expect(stdout).toContain("Every other server runs isolated, in the best tier there is.");
    const explained = await terminal.run("policy", "explain", file, "tracker.get_me");
    expect(explained.stdout).toContain("Of your environment it gets GITHUB_PERSONAL_ACCESS_TOKEN");
  });

  test("a hazard that nobody can prevent is an error until it is accepted", async () => {
    const text = (more: string): string => `version: 1
host: {send: {open: anyone}, read: {open: [diary]}}
stores: {diary: {audience: me, label: {confidentiality: private}}}
hazards:
  leak: {loss: L1, consent: never, never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
${more}`;
    const { code, value } = await terminal.json("policy", "check", terminal.file("open.yaml", text("")));
    expect(code).toBe(1);
    expect(value).toHaveProperty("diagnostics[0]", {
      code: "SG-POLICY-START",
      severity: "error",
      message: "hazard `leak` can happen by `host.send` alone, which the gateway does not decide",
      file: expect.stringContaining("open.yaml"),
      line: 2,
      column: 14,
      remedy: "change `host` or the store, or write `accepts: [leak]`",
    });
    const accepted = terminal.file("accepted.yaml", text("accepts: [leak]\n"));
    expect((await terminal.run("policy", "check", accepted)).code).toBe(0);
  });

  test("what cannot hold or start has its place, also in a policy that is extended", async () => {
    const base = `version: 1
labels: {a.x: {effects: read.local}}
expect:
  - {trace: [a.x], verdict: allow}
  - {trace: [a.x], verdict: deny}
`;
    terminal.file("base.yaml", base);
    const own = terminal.file(
      "own.yaml",
      "version: 1\nextends: [base.yaml]\nexpect: [{trace: [a.x], verdict: confirm}]\n",
    );
    const { value } = await terminal.json("policy", "check", own);
    expect(value).toMatchObject({
      diagnostics: [
        { code: "SG-POLICY-EXPECT", file: expect.stringContaining("base.yaml"), line: 5, column: 5 },
        { code: "SG-POLICY-EXPECT", file: expect.stringContaining("own.yaml"), line: 3, column: 10 },
      ],
    });
    const unread = `version: 1
stores:
  diary: {audience: me, label: {confidentiality: private}}
hazards:
  leak: {consent: never, never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
`;
    const host = "host: {send: {open: anyone}, read: {open: [diary]}}\n";
    terminal.file("host.yaml", `version: 1\n${host}`);
    const split = terminal.file("split.yaml", unread.replace("\n", "\nextends: [host.yaml]\n"));
    const looming = await terminal.json("policy", "check", split);
    const place = { file: expect.stringContaining("host.yaml"), line: 2, column: 14 };
    expect(looming.value).toMatchObject({ diagnostics: [{ code: "SG-POLICY-START", ...place }] });
  });

  test("a manifest finds misspelt tools; warnings count only when strict", async () => {
    const manifest = terminal.file("mail.json", { tools: [{ name: "send" }] });
    const wrong = terminal.file("wrong.yaml", "version: 1\nrules: [{id: R, tier: block, when: mail.sned, why: w}]\n");
    expect((await terminal.run("policy", "check", wrong)).code).toBe(0);
    const named = await terminal.run("policy", "check", wrong, "--manifest", manifest);
    expect(named).toMatchObject({ code: 1, stdout: expect.stringContaining("did you mean `send`?") });
    const odd = terminal.file("odd.yaml", "version: 1\nflow: {mode: handles}\n");
    const loose = await terminal.json("policy", "check", odd);
    expect(loose).toMatchObject({ code: 0, value: { ok: true, diagnostics: [{ severity: "warning" }] } });
    expect((await terminal.run("policy", "check", odd, "--strict")).code).toBe(1);
  });

  test("a file that is not there is no finding but a wrong use", async () => {
    const ran = await terminal.run("policy", "check", "none.yaml");
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("none.yaml cannot be read") });
  });
});

describe("policy explain and import", () => {
  test("says what a tool is believed to do and which rules speak", async () => {
    const policy = example("calendar/policy.yaml");
    expect(await terminal.json("policy", "explain", policy, "mail.")).toMatchObject({
      code: 2,
      value: { error: { code: "SG-TOOL", message: "`mail.` names no tool: write SERVER.TOOL." } },
    });
    const ran = await terminal.run("policy", "explain", policy, "send_email");
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("mail.send_email may do: write.external.send");
    expect(ran.stdout).toContain("Rule R1 (block)");
    expect(ran.stdout).toContain("Argument body is content and");
    const { value } = await terminal.json("policy", "explain", policy, "mail.send_email");
    expect(value).toMatchObject({ server: "mail", tool: "send_email", source: "operator" });
  });

  test("a misspelt tool is explained as unknown, with the one that was meant", async () => {
    const policy = example("calendar/policy.yaml");
    for (const word of ["send_emial", "mail.send_emial"]) {
      const ran = await terminal.run("policy", "explain", policy, word);
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("did you mean `mail.send_email`?") });
    }
  });

  test("Claude Code's permissions become rules that load, with what was left out", async () => {
    const file = terminal.file("settings.json", { permissions: { deny: ["mcp__mail__send"], allow: ["Bash(ls:*)"] } });
    const { code, value } = await terminal.json("policy", "import", "claude", file);
    expect(code).toBe(1);
    expect(value).toMatchObject({ imported: 1, left: [{ list: "allow", entry: "Bash(ls:*)" }] });
    const printed = (await terminal.run("policy", "import", "claude", file)).stdout;
    expect((await terminal.run("policy", "check", terminal.file("imported.yaml", printed))).code).toBe(0);
  });

  test("a word where a list belongs is told, since it may be what forbids", async () => {
    const file = terminal.file("word.json", { permissions: { deny: "mcp__mail__send" } });
    const { code, value } = await terminal.json("policy", "import", "claude", file);
    expect(code).toBe(1);
    expect(value).toMatchObject({ imported: 0, left: [{ list: "deny", reason: "it is not a list" }] });
  });

  test.each([
    ["claude", { mcpServers: {} }],
    ["claude", ["mcp__mail__send"]],
    ["claude-code", null],
    ["toolhive", { tools: [] }],
  ] as const)("a file that is nothing of %s is refused, and no empty policy", async (client, content) => {
    const { code, value } = await terminal.json("policy", "import", client, terminal.file("other.json", content));
    expect(code).toBe(2);
    expect(value).toMatchObject({
      error: { code: "SG-IMPORT", message: expect.stringContaining("other.json has none of") },
    });
  });

  test("a profile of another runtime becomes a scope, and what is printed is a policy", async () => {
    const outbound = { allow_host: ["api.example.com"], allow_port: [443] };
    const profile = { name: "notes", read: ["/data/notes", "/etc"], network: { outbound } };
    const file = terminal.file("profile.json", JSON.stringify(profile));
    const { code, stdout } = await terminal.run("policy", "import", "toolhive", file);
    expect(code).toBe(1);
    expect(stdout).toContain("# not imported: read /etc: it would open all of `/etc`");
    const checked = await terminal.run("policy", "check", terminal.file("profile.yaml", stdout));
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("It connects to api.example.com:443,") });
  });
});

describe("labels", () => {
  test.each([
    ["memory", []],
    ["filesystem", ["/tmp"]],
  ] as const)("the reference server %s has a pack, so every tool is known", async (name, args) => {
    const tools = await listTools(name, args);
    const { code, value } = await terminal.json("labels", terminal.file(`${name}.json`, { result: { tools } }));
    expect(code).toBe(0);
    const listed = (value as { tools: Record<string, unknown>[] }).tools;
    expect(listed.map((tool) => tool["name"])).toEqual(tools.map((tool) => tool["name"]));
    for (const tool of listed) {
      expect(tool).toMatchObject({
        source: "pack",
        effects: expect.any(Array),
        output: expect.any(String),
        args: expect.any(Object),
      });
    }
  });

  test("hostile names cannot move the cursor or turn the text around", async () => {
    const tools = [{ name: "a\u001b[2Jb\u202ec", inputSchema: { properties: { "x\ny": {} } } }];
    const ran = await terminal.run("labels", terminal.file("hostile.json", tools));
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("a\\u{1b}[2Jb\\u{202e}c");
    for (const raw of ["\u001b", "\u202e"]) expect(ran.stdout).not.toContain(raw);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(7);
  });

  test("the operator's policy comes first", async () => {
    const policy = terminal.file(
      "p.yaml",
      "version: 1\nlabels: {box.get: {effects: [read.local], output: {confidentiality: private}}}\n",
    );
    const manifest = terminal.file("box.json", [{ name: "get" }]);
    const { value } = await terminal.json("labels", manifest, "--policy", policy);
    expect(value).toMatchObject({ tools: [{ name: "get", effects: ["read.local"], source: "operator" }] });
    const other = await terminal.json("labels", manifest, "--policy", policy, "--server", "chest");
    expect(other.value).toMatchObject({ tools: [{ name: "get", source: "unknown" }] });
  });
});

describe("replay", () => {
  test.each(["calendar", "github"])("the %s case is stopped where it should be", async (name) => {
    const { code, value } = await terminal.json(
      "replay",
      example(`${name}/trace.json`),
      "--policy",
      example(`${name}/policy.yaml`),
    );
    expect(code).toBe(1);
    const { steps } = value as {
      steps: { tool: string; verdict: string; hidden: boolean; rules: string[]; path: unknown[] }[];
    };
    expect(steps.some((step) => step.verdict === "deny" && step.rules.length > 0 && step.path.length > 0)).toBe(true);
    expect(steps.some((step) => step.verdict === "allow")).toBe(true);
  });

  test("`default` is the built-in policy here as everywhere", async () => {
    const trace = example("github/trace.json");
    expect(await terminal.json("replay", trace, "--policy", "default")).toEqual(await terminal.json("replay", trace));
  });
});
