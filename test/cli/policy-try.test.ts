// `policy try`: what a policy would have decided about past calls, counted by tool.
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { Terminal } from "../kit/client/command.ts";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { kept } from "../kit/gateway/kept-log.ts";
import { unwrap } from "../kit/gateway/log-records.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

const labels = `
lattice: {confidentiality: [public, private]}
labels:
  desk.look: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  post.send: {effects: write.external.send, args: {to: {role: recipient}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
`;
const closed = `${labels}  - {id: CLOSED, tier: block, when: {tool: post.send}, why: "no letters"}\n`;
const text = (body: string, mode = "enforce"): string => `version: 1\nextends: []\nmode: ${mode}\n${body}`;

/** A log of a morning: a look, and two letters. */
async function morning(): Promise<void> {
  const log = new FakeLog();
  const talk = new Conversation(labels, { desk: ["look"], post: ["send"] }, { log });
  await talk.call("desk.look");
  await talk.call("post.send", { to: "ann@example.org" });
  await talk.call("post.send", { to: "bob@example.org" });
  const path = join(terminal.home, "log.db");
  await kept([], { folder: terminal.home });
  const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: Date.now }));
  await kept(log.entries, { folder: terminal.home, store });
  await store.close(true);
}

test("C24: counts by tool what would pass, ask and be refused, with the first examples", async () => {
  await morning();
  const ran = await terminal.run("policy", "try", terminal.file("closed.yaml", text(closed)));
  expect(ran).toMatchObject({ code: 1, stderr: "" });
  expect(ran.stdout).toMatch(/post\.send +0 +0 +2 +0 +2/);
  expect(ran.stdout).toMatch(/desk\.look +1 +0 +0 +0 +0/);
  expect(ran.stdout).toMatch(/post\.send refused: .*no letters.*\(decision /);
  expect(ran.stdout).toContain("1 run, 3 calls: 1 would pass, 0 would ask, 2 would be refused.");
});

test("C24: of a policy that observes it says what it would stop", async () => {
  await morning();
  const watching = terminal.file("watching.yaml", text(closed, "observe"));
  expect(await terminal.json("policy", "try", watching)).toMatchObject({
    code: 1,
    value: {
      runs: 1,
      passed: 1,
      asked: 0,
      refused: 2,
      changed: 2,
      tools: [{ tool: "post.send", examples: [{}, {}] }, {}],
    },
  });
});

test("C24: the same policy changes nothing, and a folder without a log has nothing to tell", async () => {
  const same = terminal.file("same.yaml", text(labels));
  expect((await terminal.run("policy", "try", same)).stdout).toContain("No past call was found");
  await morning();
  expect(await terminal.json("policy", "try", same)).toMatchObject({ code: 0, value: { passed: 3, changed: 0 } });
  expect(await terminal.json("policy", "try", same, "--runs", "none")).toMatchObject({ code: 2 });
  expect(await terminal.json("policy", "try", "nowhere.yaml")).toMatchObject({ code: 2 });
});
