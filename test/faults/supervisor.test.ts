// The process that watches servers: one for a gateway however many start at once, replaced when it is gone, known to be
// gone before the next answer is judged, and never overwhelmed into silence.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { best, Stage } from "../kit/gateway/stage.ts";
import { commandOf, family, goneOf, left, memberOf, policyFor, serverProgram, treeHash } from "./kit.ts";

const marker = `watched-${process.pid}`;
const names = ["one", "two", "three"] as const;
const operations = process.env["SLUICEGATE_FULL"] === "1" ? 200_000 : 30_000;
let stage: Stage;

beforeEach(async () => {
  if (!best) return;
  const command = [process.execPath, serverProgram, marker];
  const servers = Object.fromEntries(names.map((name) => [name, { command }]));
  stage = await Stage.open({ policy: policyFor({ one: {}, two: {}, three: {} }), servers });
});
afterEach(async () => {
  if (!best) return;
  await stage.close();
  expect(await goneOf(() => left(marker).filter(({ pid }) => /server\.ts/.test(commandOf(pid))))).toEqual([]);
});

const supervisors = (): readonly number[] =>
  family(process.pid).flatMap(({ pid }) => (commandOf(pid).includes("supervisor-main") ? [pid] : []));

describe.skipIf(!best)("the supervisor (needs tier A)", () => {
  test("servers that start at the same time share one, and one server's end is none of the others' business", async () => {
    await Promise.all(names.map((name) => stage.connect(name)));
    expect(supervisors()).toHaveLength(1);
    stage.disconnect("one");
    expect(await stage.call("two", "write", { path: "two.txt", text: "2" })).toMatchObject({ isError: false });
    expect(supervisors()).toHaveLength(1);
  });

  test("killed before a server's first call, it fails the very first answer, and another takes its place", async () => {
    await stage.connect("one");
    await stage.connect("two");
    const before = treeHash(stage.workspace);
    process.kill(memberOf(process.pid, /supervisor-main/), "SIGKILL");
    const said = await stage.call("one", "write", { path: "one.txt", text: "unseen" });
    expect(said.isError).toBe(true);
    // Refused where the end was noticed before the call was sent, rejected where it was noticed with the answer.
    expect(said.text).toMatch(/traces servers has ended|executed and must not be repeated/);
    expect(treeHash(stage.workspace)).toBe(before);
    expect((await stage.call("two", "echo", { text: "still there?" })).isError).toBe(true);
    for (const name of ["one", "two"]) stage.disconnect(name);
    await stage.connect("one");
    expect(supervisors()).toHaveLength(1);
    expect(await stage.call("one", "write", { path: "later.txt", text: "seen" })).toMatchObject({ isError: false });
  });

  test("killed while a server starts, it lets the start fail in a sentence or go on with another, never hang", async () => {
    await stage.connect("three");
    for (const delayMs of [0, 30, 80, 150, 250]) {
      const starting = stage.connect("one").then(
        () => "started",
        (error: unknown) => String(error),
      );
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      for (const pid of supervisors()) process.kill(pid, "SIGKILL");
      const end = await starting;
      if (end !== "started") expect(end).toMatch(/tracer|traces servers|launcher|ended/);
      stage.disconnect("one");
    }
    // What began without a witness does not go on: nothing but the next server's processes is there.
    await stage.connect("two");
    expect(await stage.call("two", "echo", { text: "well" })).toMatchObject({ text: "well" });
    expect(supervisors()).toHaveLength(1);
  });

  test(`${operations} operations in one call are watched, and nobody waits for ever`, { timeout: 90_000 }, async () => {
    await stage.connect("one");
    const said = await stage.call("one", "churn", { path: "churned", count: operations });
    // Either all was seen, or the call fails and says so.
    if (said.isError) expect(said.text).toMatch(/^[A-Z].{20,}[.`)"]$/s);
    else expect(said.text).toBe(`never after ${operations / 2}`);
    expect(await stage.call("one", "echo", { text: "not blocked" })).toMatchObject({ text: "not blocked" });
  });

  test("a gateway that stands still loses sight of a busy server, which goes on and whose call then fails", async () => {
    await stage.connect("one");
    const before = treeHash(stage.workspace);
    const answer = stage.call("one", "churn", { path: "churned", count: 40_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Nothing of the gateway runs meanwhile: the record of 1 MiB fills, and the server must not wait for room in it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_000);
    const said = await answer;
    expect(said.isError).toBe(true);
    expect(said.text).toMatch(/^[A-Z].{20,}[.`)"]$/s);
    expect(treeHash(stage.workspace)).toBe(before);
    console.log(`unseen operations: ${said.text}`);
  });
});
