// Which folders and policies a daemon works with: those that its starter named, and no session takes others for granted.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskServer, shakeHands } from "./fixture/desk.ts";
import { Client } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const words = ["run", "--server", "desk", "--", process.execPath, deskServer];
const blocking = JSON.stringify({
  version: 1,
  extends: ["default"],
  rules: [{ id: "none", tier: "block", when: { tool: "desk.*" }, why: "the desk is closed" }],
});

function open(env: Record<string, string> = {}): Client {
  return new Client(desk.start(words, { env }));
}

test("folders and a policy that are named from the client's own folder are the daemon's, too", async () => {
  writeFileSync(join(desk.root, "strict.json"), blocking);
  const relative = { SLUICEGATE_HOME: "home", SLUICEGATE_RUNTIME_DIR: "run", SLUICEGATE_POLICY: "strict.json" };
  const client = open(relative);
  await shakeHands(client);
  expect(JSON.stringify(await client.call("read_private"))).toContain("the desk is closed");
  expect(existsSync(join(desk.home, "log.db"))).toBe(true);
  await client.close();
});

test("a session whose SLUICEGATE_POLICY the running daemon does not have is refused, and told the way", async () => {
  const first = open();
  await shakeHands(first);
  writeFileSync(join(desk.root, "strict.json"), blocking);
  const refused = await open({ SLUICEGATE_POLICY: "strict.json" }).close();
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("SLUICEGATE_POLICY names another policy than when the daemon started");
  expect(refused.stderr).toContain("`sluicegate daemon stop`");
  await first.close();
});

test("a policy that appears in the configuration folder while the daemon runs holds for every session", async () => {
  const first = open();
  await shakeHands(first);
  const folder = join(desk.root, ".config/sluicegate");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "policy.yaml"), blocking);
  const second = open();
  await shakeHands(second);
  for (const client of [second, first]) {
    expect(JSON.stringify(await client.call("read_private"))).toContain("the desk is closed");
  }
  rmSync(join(folder, "policy.yaml"));
  const third = open();
  await shakeHands(third);
  expect(JSON.stringify(await third.call("read_private"))).not.toContain("the desk is closed");
  for (const client of [first, second, third]) await client.close();
});

test("hooks follow a policy that appears while the daemon runs, and ask while it has an error", async () => {
  const ask = { hook_event_name: "PreToolUse", tool_name: "Write", tool_input: { file_path: "/w/a", content: "b" } };
  const hook = async (): Promise<string> => {
    const input = JSON.stringify({ session_id: "abc", cwd: "/w", ...ask });
    return (await desk.finish(["hook", "claude-code"], input)).stdout;
  };
  expect(await hook()).toBe("");
  const folder = join(desk.root, ".config/sluicegate");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "policy.yaml");
  writeFileSync(path, "version: 1\nrules: nonsense\n");
  expect(await hook()).toMatch(/"permissionDecision":"ask".*policy\.yaml:2/);
  const rule = "{id: none, tier: block, when: {tool: 'host:claude-code.*'}, why: the desk is closed}";
  writeFileSync(path, `version: 1\nextends: [default]\nrules: [${rule}]\n`);
  expect(await hook()).toMatch(/"permissionDecision":"deny".*the desk is closed/);
});

test("an agent that may write in the workspace asks before it writes a policy, or looks at keys", async () => {
  // The home folder itself is no workspace.
  const project = join(desk.root, "project");
  mkdirSync(project);
  const policy = join(project, "policy.json");
  writeFileSync(policy, JSON.stringify({ version: 1, extends: ["default"] }));
  const use = async (tool: string, file: string): Promise<string> => {
    const about = { hook_event_name: "PreToolUse", tool_name: tool, tool_input: { file_path: file } };
    const input = JSON.stringify({ session_id: "abc", cwd: project, ...about });
    return (await desk.finish(["hook", "claude-code"], input, { env: { SLUICEGATE_POLICY: policy } })).stdout;
  };
  expect(await use("Write", "notes.txt")).toBe("");
  expect(await use("Read", "policy.json")).toBe("");
  expect(await use("Write", "policy.json")).toMatch(/"ask".*could change what Sluicegate obeys \(`policy\.json`\)/);
  expect(await use("Edit", join(desk.root, ".config/sluicegate/policy.yaml"))).toMatch(/"ask".*Sluicegate obeys/);
  expect(await use("Read", join(desk.home, "keys/signing.pem"))).toMatch(/"ask".*Sluicegate keeps/);
});

test("a policy with an error that appears while the daemon runs is not passed over in silence", async () => {
  const first = open();
  await shakeHands(first);
  const folder = join(desk.root, ".config/sluicegate/policies");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mine.yaml"), "version: 1\nrules: nonsense\n");
  const refused = await open().close();
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("mine.yaml:2");
  await first.close();
});

test("run --solo finds a policy that is named from the client's own folder", async () => {
  writeFileSync(join(desk.root, "strict.json"), blocking);
  const solo = ["run", "--solo", ...words.slice(1)];
  const client = new Client(desk.start(solo, { env: { SLUICEGATE_POLICY: "strict.json" } }));
  await shakeHands(client);
  expect(JSON.stringify(await client.call("read_private"))).toContain("the desk is closed");
  await client.close();
});
