/** Consent end to end: by command, by form, inside a result, by a watcher; once, for this call, in its time. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernTransport } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Desk, deskPolicy, deskServer, textOf } from "./fixture/desk.ts";
import { type Client, pause, until } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const letter = { to: "zoe@far.example", body: "see you at noon" };

/** A client whose context holds untrusted text, so that an address nobody named asks. */
async function suspicious(policy = deskPolicy): Promise<Client> {
  const client = await desk.connect(policy);
  await client.call("read_web", { arguments: {} });
  return client;
}

const sendLetter = async (client: Client, given = letter): Promise<string> =>
  textOf(await client.call("send", { arguments: given }));

async function asked(client: Client, given = letter): Promise<string> {
  const id = /sluicegate approve ([\w-]+)`/.exec(await sendLetter(client, given))?.[1];
  if (id === undefined) throw new Error("the call did not ask");
  return id;
}

test("approve ID lets exactly this call through, once", async () => {
  const client = await suspicious();
  const id = await asked(client);
  expect(await asked(client), "the same call repeated opens no second approval").toBe(id);
  const listed = await desk.json("approve");
  expect(listed.value).toMatchObject({ approvals: [{ id, tool: "send", status: "pending" }] });
  expect((await desk.finish(["approve", id])).stdout).toContain("Approved");
  const other = { ...letter, body: "see you at midnight" };
  expect(await asked(client, other), "other arguments are another call").not.toBe(id);
  expect(await sendLetter(client)).toBe("sent to zoe@far.example");
  expect(await asked(client), "an approval is used up").not.toBe(id);
  const again = await desk.finish(["approve", id]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toMatch(/was used, decided or has expired|is decided already/);
  expect((await desk.finish(["approve", "no-such-id"])).code).not.toBe(0);
});

test("what was refused is found by the decision that the sentence names, and the list says what was approved", async () => {
  const client = await suspicious();
  const sentence = await sendLetter(client);
  const decision = /\(decision ([^)]+)\)/.exec(sentence)?.[1] ?? "none";
  const tail = (await desk.finish(["audit", "tail"])).stdout;
  expect(tail).toMatch(new RegExp(`refused  desk\\.send  confirm  .*\\(decision ${decision}\\)\n`));
  const id = /sluicegate approve ([\w-]+)`/.exec(sentence)?.[1] ?? "none";
  expect((await desk.finish(["approve"])).stdout).not.toContain("(approved");
  await desk.finish(["approve", id]);
  expect((await desk.finish(["approve"])).stdout).toMatch(/\(approved, until \d\d:\d\d UTC\)\n/);
});

test("approve --refuse keeps it stopped; --value trusts the value for the rest of the run", async () => {
  const client = await suspicious();
  const refused = await asked(client);
  expect((await desk.finish(["approve", refused, "--refuse"])).stdout).toContain("Refused");
  expect(await sendLetter(client)).toMatch(/^! Not executed/);
  const id = await asked(client, { ...letter, body: "one" });
  expect((await desk.finish(["approve", id, "--value"])).stdout).toContain("Approved");
  for (const body of ["one", "two", "three"]) {
    expect(await sendLetter(client, { ...letter, body })).toBe("sent to zoe@far.example");
  }
  expect(await sendLetter(client, { to: "mallory@evil.example", body: "one" })).toMatch(/^! Not executed/);
});

test("cards are grouped by tool; several are ruled at once, each with its own answer", async () => {
  const client = await suspicious();
  const ids = [];
  for (const body of ["one", "two", "three"]) ids.push(await asked(client, { ...letter, body }));
  const listed = (await desk.finish(["approve"])).stdout;
  expect(listed).toContain("desk.send  (3 cards, all with `sluicegate approve --all desk.send`)");
  const [first = "", second = ""] = ids;
  const mixed = await desk.json("approve", first, "no-such-id", "--refuse");
  expect(mixed).toMatchObject({
    code: 1,
    value: {
      results: [
        { id: first, choice: "refuse" },
        { id: "no-such-id", refused: expect.stringContaining("No approval") },
      ],
    },
  });
  expect((await desk.finish(["approve", "--all", "desk.send"])).stderr).toContain("add `--yes`");
  const none = await desk.finish(["approve", second, "--always", "--yes"]);
  expect(none.stderr, "a question about data has no rule").toContain("depends on the data");
  const all = await desk.json("approve", "--all", "desk.send", "--yes");
  expect(all.value).toMatchObject({ results: [{ choice: "once" }, { choice: "once" }] });
  expect(JSON.stringify(all.value)).toContain(second);
  expect(await sendLetter(client, { ...letter, body: "one" })).toMatch(/^! Not executed/);
  expect(await sendLetter(client, { ...letter, body: "two" })).toBe("sent to zoe@far.example");
  expect((await desk.finish(["approve", "--all", "desk.send", "--yes"])).stderr).toContain(
    "No call of `desk.send` waits",
  );
});

test("--always writes the narrowest rule, which --undo takes back", async () => {
  const policy = join(desk.root, "always.yaml");
  const told = join(desk.root, "told");
  const notify = JSON.stringify(["/bin/sh", "-c", `printf %s "$0" >> ${told}`]);
  const text = `# mine\nversion: 1\nextends: [default]\napprovals: {notify: ${notify}}\n`;
  writeFileSync(policy, text);
  const client = await desk.connect(policy);
  const write = async (given: Record<string, string>): Promise<string> =>
    textOf(await client.call("write", { arguments: given }));
  const id = /sluicegate approve ([\w-]+)`/.exec(await write({ text: "a" }))?.[1] ?? "none";
  await until(() => existsSync(told) && readFileSync(told, "utf8").includes("`write` of `desk`"));
  expect((await desk.finish(["approve", id, "--always"])).stderr).toContain("add `--yes`");
  const done = await desk.json("approve", id, "--always", "--yes");
  expect(done.value).toMatchObject({ id, file: policy, rule: { tier: "allow", when: { tool: "desk.write" } } });
  await pause(500);
  for (let call = 0; call < 3; call += 1) expect(await write({ text: "a" })).not.toMatch(/^!/);
  expect(await write({ text: "b" }), "another value still asks").toMatch(/^! Not executed/);
  const rule = (done.value as { readonly rule: { readonly id: string } }).rule.id; // as printed above
  expect((await desk.json("approve", "--undo", rule)).value).toEqual({ removed: [policy] });
  expect(readFileSync(policy, "utf8")).toContain("# mine");
  expect(readFileSync(policy, "utf8")).not.toContain(rule);
  await pause(300);
  expect(await write({ text: "a" }), "the consent itself was not used yet").not.toMatch(/^!/);
  expect(await write({ text: "a" })).toMatch(/^! Not executed/);
  expect((await desk.finish(["approve", "--undo", "local-writes"])).stderr).toContain("that `--always` wrote");
  expect((await desk.finish(["approve", "--undo", rule])).stderr).toContain("No policy in force has the rule");
});

test("an approval that has expired opens nothing", async () => {
  const policy = join(desk.root, "brief.yaml");
  writeFileSync(policy, `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\napprovals: {expires: 1s}\n`);
  const client = await suspicious(policy);
  const id = await asked(client);
  expect((await desk.finish(["approve", id])).code).toBe(0);
  await pause(1_100);
  expect(await asked(client)).not.toBe(id);
  await pause(1_100);
  const late = await desk.finish(["approve", id]);
  expect(late.stderr).toContain("has expired");
});

test("the owner of a run may not approve its own calls where the policy wants somebody else", async () => {
  const policy = join(desk.root, "other.yaml");
  writeFileSync(policy, `version: 1\nextends: [${JSON.stringify(deskPolicy)}]\napprovals: {by: other}\n`);
  const client = await suspicious(policy);
  const refused = await desk.finish(["approve", await asked(client)]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("requires a second person");
  expect(await sendLetter(client)).toMatch(/^! Not executed/);
});

test("approve --watch answers while the client waits", async () => {
  const client = await suspicious();
  const watcher = spawn(process.execPath, [desk.launcher, "approve", "--watch"], { env: desk.env });
  let shown = "";
  watcher.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await until(() => shown.includes("Watching"));
  await pause(300);
  const open = client.send("tools/call", { name: "send", arguments: letter });
  await until(() => shown.includes("zoe@far.example"));
  expect(client.answers.get(open)).toBeUndefined();
  watcher.stdin.write("y\n");
  expect(textOf(await client.answer(open))).toBe("sent to zoe@far.example");
  const second = client.send("tools/call", { name: "send", arguments: { ...letter, body: "other" } });
  await until(() => shown.includes('"body":"other"'));
  watcher.stdin.write("n\n");
  expect(textOf(await client.answer(second))).toMatch(/^! Not executed/);
  const third = client.send("tools/call", { name: "send", arguments: { ...letter, body: "third" } });
  await until(() => shown.includes('"body":"third"'));
  // Nobody watches any more: the client gets its refusal at once, with the way on.
  watcher.kill("SIGKILL");
  expect(textOf(await client.answer(third))).toContain("sluicegate approve");
});

const words = (): string[] => [
  desk.launcher,
  "run",
  "--policy",
  deskPolicy,
  "--server",
  "desk",
  "--",
  process.execPath,
  deskServer,
];

test("a legacy client asks its user by a form", async () => {
  const answers = [{ action: "accept", content: { decision: "approve once" } }, { action: "decline" }] as const;
  const forms: string[] = [];
  const client = new LegacyClient({ name: "form", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    forms.push(params.message);
    return { ...(answers[forms.length - 1] ?? { action: "cancel" as const }) };
  });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: words(), env: desk.env, stderr: "ignore" }),
  );
  await client.callTool({ name: "read_web", arguments: {} });
  const results = [];
  for (let call = 0; call < 3; call += 1) results.push(await client.callTool({ name: "send", arguments: letter }));
  await client.close();
  expect(results.map(({ isError }) => isError === true)).toEqual([false, true, true]);
  expect(forms).toHaveLength(3);
  expect(forms[0]).toContain("zoe@far.example");
});

test("a form and a watcher are asked at once: the first answer counts, and the other card goes", async () => {
  const forms: ((accepted: boolean) => void)[] = [];
  let withdrawn = 0;
  const client = new LegacyClient({ name: "form", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, (_request, { signal }) => {
    signal.addEventListener("abort", () => (withdrawn += 1));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    forms.push(resolve);
    return promise.then((accepted) => ({
      action: accepted ? ("accept" as const) : ("cancel" as const),
      ...(accepted ? { content: { decision: "approve once" } } : {}),
    }));
  });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: words(), env: desk.env, stderr: "ignore" }),
  );
  await client.callTool({ name: "read_web", arguments: {} });
  const watcher = spawn(process.execPath, [desk.launcher, "approve", "--watch"], { env: desk.env });
  let shown = "";
  watcher.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await until(() => shown.includes("Watching"));
  await pause(300);
  const first = client.callTool({ name: "send", arguments: letter });
  await until(() => shown.includes("zoe@far.example") && forms.length === 1);
  forms[0]?.(true);
  expect((await first).isError).not.toBe(true);
  await until(() => shown.includes("answered in the client"));
  const second = client.callTool({ name: "send", arguments: { ...letter, body: "other" } });
  await until(() => shown.includes('"body":"other"') && forms.length === 2);
  watcher.stdin.write("y\n");
  expect((await second).isError).not.toBe(true);
  await until(() => withdrawn === 1);
  watcher.kill("SIGKILL");
  await client.close();
});

test("a modern client is asked inside the result and repeats the call", async () => {
  let forms = 0;
  const client = new ModernClient(
    { name: "form", version: "1.0.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  client.setRequestHandler("elicitation/create", () => {
    forms += 1;
    return forms === 1 ? { action: "accept", content: { decision: "approve once" } } : { action: "decline" };
  });
  await client.connect(
    new ModernTransport({ command: process.execPath, args: words(), env: desk.env, stderr: "ignore" }),
  );
  await client.callTool({ name: "read_web", arguments: {} });
  const first = await client.callTool({ name: "send", arguments: letter });
  const second = await client.callTool({ name: "send", arguments: letter });
  await client.close();
  expect([first.isError === true, second.isError === true]).toEqual([false, true]);
  expect(desk.executed().filter(({ tool }) => tool === "send")).toHaveLength(1);
  expect(forms).toBe(2);
});
