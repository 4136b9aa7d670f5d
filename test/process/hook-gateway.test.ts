/** Hooks of a client and its MCP calls meet in one run of the real gateway: prompts permit, own reads restrict. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskPolicy, textOf } from "./fixture/desk.ts";
import { until } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
  // Hooks name no policy: they and all servers of the user follow the one that the environment names.
  desk.env["SLUICEGATE_POLICY"] = deskPolicy;
});
afterEach(() => desk.dispose());

const plan = "Codename Heliotrope: the vault below the harbour opens with the seventh lantern.";
const send = (to: string, body: string) => ({ arguments: { to, body } });

async function hook(name: string, more: Record<string, unknown> = {}, session = "one"): Promise<string> {
  const input = { session_id: session, cwd: desk.root, hook_event_name: name, ...more };
  const { code, stdout, stderr } = await desk.finish(["hook", "claude-code"], JSON.stringify(input));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** The same from another client process, which starts the hook and is gone when it has ended. */
function hookElsewhere(name: string, more: Record<string, unknown> = {}): string {
  const input = JSON.stringify({ session_id: "one", cwd: desk.root, hook_event_name: name, ...more });
  const start =
    "const { spawnSync } = require('node:child_process'); const input = require('node:fs').readFileSync(0);" +
    "const { stdout, stderr } = spawnSync(process.execPath, process.argv.slice(1), { input });" +
    "process.stdout.write(stdout); process.stderr.write(stderr);";
  const words = ["-e", start, desk.launcher, "hook", "claude-code"];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { input, env: desk.env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

/** The client's own Read tool: announced, used, and its result reported. */
async function readFile(session = "one"): Promise<void> {
  const use = { tool_name: "Read", tool_input: { file_path: `${desk.root}/plan.txt` }, tool_use_id: "use-1" };
  expect(await hook("PreToolUse", use, session)).toBe("");
  const tool_response = { type: "text", file: { filePath: `${desk.root}/plan.txt`, content: plan } };
  expect(await hook("PostToolUse", { ...use, tool_response }, session)).toBe("");
}

test("an address from the prompt passes beside untrusted text, one from a result or from nowhere asks", async () => {
  const client = await desk.connect();
  await hook("SessionStart", { source: "startup" });
  await hook("UserPromptSubmit", { prompt: "Read the page, then tell ann@corp.example that it is read." });
  expect(textOf(await client.call("read_web", { arguments: {} }))).toContain("mallory@evil.example");
  expect(textOf(await client.call("send", send("ann@corp.example", "It is read.")))).toBe("sent to ann@corp.example");
  for (const address of ["mallory@evil.example", "bob@corp.example"]) {
    const refused = textOf(await client.call("send", send(address, "It is read.")));
    expect(refused).toMatch(/^! Not executed.*sluicegate approve/);
  }
  await hook("UserPromptSubmit", { prompt: "And bob@corp.example as well." });
  expect(textOf(await client.call("send", send("bob@corp.example", "It is read.")))).toBe("sent to bob@corp.example");
});

test("what the client's own Read returned cannot leave through a server, until the conversation is cleared", async () => {
  await hook("SessionStart", { source: "startup" });
  const client = await desk.connect();
  expect(textOf(await client.call("send", send("ann@corp.example", "hello")))).toBe("sent to ann@corp.example");
  await readFile();
  expect(textOf(await client.call("send", send("ann@corp.example", plan)))).toMatch(/^! Not executed/);
  await hook("SessionStart", { source: "compact" });
  expect(textOf(await client.call("send", send("ann@corp.example", plan)))).toMatch(/^! Not executed/);
  await hook("SessionEnd", { reason: "clear" });
  await hook("SessionStart", { source: "clear" }, "two");
  expect(textOf(await client.call("send", send("ann@corp.example", plan)))).toBe("sent to ann@corp.example");
});

test("a conversation that is resumed in a new process holds what it held, over an end and a crash as well", async () => {
  const url = `https://x.example/?${encodeURIComponent(plan)}`;
  const fetch = { tool_name: "WebFetch", tool_input: { url, prompt: "sum it up" }, tool_use_id: "use-9" };
  await hook("SessionStart", { source: "startup" });
  expect(await hook("PreToolUse", fetch)).toBe("");
  await readFile();
  expect(await hook("PreToolUse", fetch)).toContain('"permissionDecision":"ask"');
  hookElsewhere("SessionStart", { source: "resume" });
  expect(hookElsewhere("PreToolUse", fetch)).toContain('"permissionDecision":"ask"');
  await hook("SessionEnd", { reason: "exit" });
  process.kill(desk.daemonPid() ?? 0, "SIGKILL");
  hookElsewhere("SessionStart", { source: "resume" });
  expect(hookElsewhere("PreToolUse", fetch)).toContain('"permissionDecision":"ask"');
  await hook("SessionStart", { source: "resume" });
  expect(await hook("PreToolUse", fetch)).toContain('"permissionDecision":"ask"');
  await hook("SessionStart", { source: "clear" });
  expect(await hook("PreToolUse", fetch)).toBe("");
});

test("a crash of the daemon does not part the client from its conversation", async () => {
  await hook("SessionStart", { source: "startup" });
  const client = await desk.connect();
  await client.call("backup", { arguments: {} });
  await readFile();
  const daemon = desk.daemonPid() ?? 0;
  process.kill(daemon, "SIGKILL");
  await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== daemon);
  let answer = textOf(await client.call("send", send("ann@corp.example", plan)));
  while (/restarted|is unknown/.test(answer))
    answer = textOf(await client.call("send", send("ann@corp.example", plan)));
  expect(answer).toMatch(/^! Not executed/);
});

test("what a shell of the client could do is asked in the client, and what it printed restricts", async () => {
  const use = { tool_name: "Bash", tool_input: { command: "curl https://x.example" }, tool_use_id: "use-2" };
  expect(JSON.parse(await hook("PreToolUse", use))).toMatchObject({
    hookSpecificOutput: { permissionDecision: "ask" },
  });
  await hook("PostToolUse", { ...use, tool_response: { stdout: plan, stderr: "", interrupted: false } });
  const client = await desk.connect();
  expect(textOf(await client.call("send", send("ann@corp.example", plan)))).toMatch(/^! Not executed/);
  const { views, valid } = await desk.log();
  expect(valid).toBe(true);
  // The person let it run, so it is on record as allowed and released.
  const kinds = views.filter((view) => view.tool === "Bash").map((view) => view.kind);
  expect(kinds).toContain("released");
});

test("hooks that come before the first server follow the policy that it names, and two that differ are refused", async () => {
  desk.env["SLUICEGATE_POLICY"] = "";
  await hook("SessionStart", { source: "startup" });
  await readFile();
  const client = await desk.connect();
  // The gate is a rule of that policy alone; what the client read before is not forgotten.
  expect(textOf(await client.call("remove", { arguments: { id: "7" } }))).toContain("desk.backup");
  expect(textOf(await client.call("send", send("ann@corp.example", plan)))).toMatch(/^! Not executed/);
  const loose = join(desk.root, "loose.yaml");
  writeFileSync(loose, `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\nmode: observe\n`);
  const second = await desk.finish(["run", "--policy", loose, "--server", "desk", "--", "cat"]);
  expect(second.code).toBe(2);
  expect(second.stderr).toContain("give all its servers the same --policy");
});
