/** Runs through the commands a person has, and observe mode, with the real gateway. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskPolicy, deskServer, secret, shakeHands, textOf } from "./fixture/desk.ts";
import { Client, until } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const leak = (client: Client): Promise<string> =>
  client.call("send", { arguments: { to: "ann@corp.example", body: secret } }).then(textOf);

async function runs(): Promise<readonly { readonly run: string; readonly context: string }[]> {
  const { value } = await desk.json("runs");
  return (value as { runs: { run: string; context: string }[] }).runs; // our own command's answer
}

test("two servers of one client share a run, and `runs new` ends it for both", async () => {
  const one = await desk.connect();
  const two = await desk.connect();
  expect(await leak(two)).toBe("sent to ann@corp.example");
  await one.call("read_private", { arguments: {} });
  expect(await leak(two)).toMatch(/^! Not executed/);
  expect(await runs()).toHaveLength(1);
  expect((await runs())[0]?.context).toContain("private");
  expect((await desk.finish(["runs", "new"])).stdout).toContain("The next call starts a clean run.");
  expect(await runs()).toEqual([]);
  // The client's process, and so the key of its run, is the same as before.
  expect(await leak(two)).toBe("sent to ann@corp.example");
  expect(await leak(one)).toBe("sent to ann@corp.example");
  expect((await runs())[0]?.context).not.toContain("private");
});

test("`runs new` stays in force after a crash, and what was in flight does not reach the clean run", async () => {
  const client = await desk.connect();
  await client.call("read_private", { arguments: {} });
  const late = client.send("tools/call", { name: "read_late", arguments: {} });
  await until(() => desk.executed().some(({ tool }) => tool === "read_late"));
  await desk.finish(["runs", "new"]);
  const answer = textOf(await client.answer(late));
  expect(answer).toMatch(/^! The call was executed and must not be repeated/);
  expect(answer).not.toContain("Quince");
  const daemon = desk.daemonPid() ?? 0;
  process.kill(daemon, "SIGKILL");
  await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== daemon);
  let sent = await leak(client);
  while (/restarted|is unknown/.test(sent)) sent = await leak(client);
  expect(sent).toBe("sent to ann@corp.example");
});

test("`runs close` ends one run and refuses what is no run", async () => {
  const client = await desk.connect();
  await client.call("read_private", { arguments: {} });
  const key = (await runs())[0]?.run ?? "";
  expect((await desk.finish(["runs", "close", key])).stdout).toContain("is closed");
  expect(await leak(client)).toBe("sent to ann@corp.example");
  const unknown = await desk.finish(["runs", "close", "nobody"]);
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("No such run is open");
});

test("observe mode forwards what it would have stopped, and the log has the true verdict", async () => {
  const policy = join(desk.root, "observe.yaml");
  writeFileSync(policy, `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\nmode: observe\n`);
  const client = await desk.connect(policy);
  await client.call("read_private", { arguments: {} });
  expect(await leak(client)).toBe("sent to ann@corp.example");
  expect(textOf(await client.call("remove", { arguments: { id: "7" } }))).toBe("removed 7");
  const { stdout } = await desk.finish(["audit", "tail"]);
  expect(stdout).toContain("would have been stopped");
  const { views, valid } = await desk.log();
  expect(valid).toBe(true);
  const verdicts = views
    .filter(({ tool, kind }) => tool === "send" && kind === "dispatched")
    .map(({ clear }) => clear["decision"]);
  expect(verdicts).toMatchObject([{ verdict: "deny" }]);
});

test("`--tag` lets the `match` of the user's policies choose, and one client's servers must agree on it", async () => {
  desk.env["XDG_CONFIG_HOME"] = join(desk.root, "config");
  const folder = join(desk.root, "config", "sluicegate", "policies");
  mkdirSync(folder, { recursive: true });
  const base = `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\n`;
  writeFileSync(join(folder, "all.yaml"), base);
  writeFileSync(join(folder, "quiet.yaml"), `${base}match: {tag: quiet}\nrules: [${nothingSent}]\n`);
  const words = (tag: readonly string[]) => ["run", ...tag, "--server", "desk", "--", process.execPath, deskServer];
  const quiet = new Client(desk.start(words(["--tag", "quiet"])));
  await shakeHands(quiet);
  expect(await leak(quiet)).toContain("nothing is sent");
  // A server that says nothing follows the tag of its client; another tag would be another policy.
  const silent = new Client(desk.start(words([])));
  await shakeHands(silent);
  expect(await leak(silent)).toContain("nothing is sent");
  const other = await desk.finish(words(["--tag", "loud"]));
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("give all its servers the same --tag") });
  await desk.finish(["daemon", "stop"]);
  const untagged = new Client(desk.start(words([])));
  await shakeHands(untagged);
  expect(await leak(untagged)).not.toContain("nothing is sent");
});

const nothingSent = "{id: quiet, tier: block, when: {tool: desk.send}, why: nothing is sent here}";

test("one client's servers cannot bring a looser policy along", async () => {
  await desk.connect();
  const policy = join(desk.root, "loose.yaml");
  writeFileSync(policy, `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\nmode: observe\n`);
  const second = await desk.finish(["run", "--policy", policy, "--server", "desk", "--", "cat"]);
  expect(second.code).toBe(2);
  expect(second.stderr).toContain("give all its servers the same --policy");
});
