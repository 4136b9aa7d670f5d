// Whatever part of a projection is killed, in a call or between two: the call ends with a sentence, nothing of what the
// server wrote without a verdict is in the workspace, nothing of it runs on, and the next start works.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { best, type Said, Stage } from "../kit/gateway/stage.ts";
import { commandOf, family, goneOf, left, memberOf, policyFor, serverProgram, surviving, treeHash } from "./kit.ts";

const marker = `parts-${process.pid}`;
const rows: string[] = [];
let stage: Stage;
let before: string;

beforeEach(async () => {
  if (!best) return;
  const command = [process.execPath, serverProgram, marker];
  stage = await Stage.open({ policy: policyFor({ faulty: {} }), servers: { faulty: { command } } });
  mkdirSync(join(stage.workspace, "src"));
  writeFileSync(join(stage.workspace, "src", "a.txt"), "the work of a person\n");
  before = treeHash(stage.workspace);
  await stage.connect("faulty");
});
afterEach(async () => {
  if (best) await stage.close();
});
afterAll(() => console.log(rows.join("\n")));

const me = process.pid;
const outer = /^\/usr\/bin\/bwrap --args/;

/** What is killed. */
const victims: Readonly<Record<string, () => number>> = {
  "the sandbox": () => memberOf(me, outer),
  "the sandbox's first process": () => {
    const first = memberOf(me, outer);
    return family(first).find(({ pid, parent }) => parent === first && outer.test(commandOf(pid)))?.pid ?? 0;
  },
  "the server": () => memberOf(me, new RegExp(`^\\S*node .*server.ts ${marker}`)),
  "the whole group": () => -memberOf(me, outer),
  "the guardian": () => family(me).find(({ pid }) => commandOf(pid).startsWith("/bin/sh -c [ -z"))?.pid ?? 0,
  "the supervisor": () => memberOf(me, /supervisor-main/),
};

function kill(name: string): void {
  const pid = victims[name]?.() ?? 0;
  if (pid === 0) throw new Error(`${name} is not there`);
  process.kill(pid, "SIGKILL");
}

function expectSentence(said: Said): void {
  expect(said.isError, said.text).toBe(true);
  expect(said.text).toMatch(/^(refused by protocol: )?[A-Z].{20,}[.`)"]$/s);
  expect(said.text).not.toMatch(/undefined|\bat .*\.[jt]s:\d/);
}

/** Nothing of the server runs and nothing is mounted; a client that comes next is served as ever. */
async function expectWhole(running: ReturnType<typeof family>): Promise<void> {
  expect(await goneOf(() => left(`server.ts ${marker}`))).toEqual([]);
  expect(await goneOf(() => surviving(running))).toEqual([]);
  expect(treeHash(stage.workspace)).toBe(before);
  stage.disconnect("faulty");
  await stage.connect("faulty");
  expect(await stage.call("faulty", "write", { path: "next.txt", text: "next" })).toMatchObject({ isError: false });
  expect(await stage.call("faulty", "read", { path: "next.txt" })).toMatchObject({ text: "next" });
  rmSync(join(stage.workspace, "next.txt"));
  expect(treeHash(stage.workspace)).toBe(before);
}

/** All that runs of the projection; the supervisor serves others too and stays. */
function projected(): ReturnType<typeof family> {
  return family(me).filter(({ pid }) => pid !== me && /bwrap|server\.ts|sh -c \[ -z/.test(commandOf(pid)));
}

describe.skipIf(!best)("a part is killed (needs tier A)", () => {
  test.each(Object.keys(victims))("%s, while a call is under way", async (name) => {
    const running = projected();
    expect(running.length).toBeGreaterThan(3);
    const answer = stage.call("faulty", "wait", { path: "src/a.txt", count: 1_500 });
    await sleep(300);
    kill(name);
    const said = await answer;
    rows.push(`${name}, in a call: ${said.text}`);
    expectSentence(said);
    await expectWhole(running);
  });

  test.each(Object.keys(victims))("%s, between two calls", async (name) => {
    expect((await stage.call("faulty", "read", { path: "src/a.txt" })).isError).toBe(false);
    const running = projected();
    kill(name);
    // Until the kernel has ended it too, the server answers as ever, and is watched as ever.
    if (name !== "the supervisor") expect(await goneOf(() => left(`server.ts ${marker}`))).toEqual([]);
    const said = await stage.call("faulty", "write", { path: "src/a.txt", text: "after the fault" });
    rows.push(`${name}, before a call: ${said.text}`);
    expectSentence(said);
    await expectWhole(running);
  });
});
