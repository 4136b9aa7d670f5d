// What a person sees of a run: how long its labels last, what it owes, and what it still owed when it ended.
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, textOf } from "./fixture/desk.ts";

const policy = fileURLToPath(new URL("./fixture/owing.yaml", import.meta.url));

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

test("`runs` says what is owed and how long labels last, `runs close` what was left", async () => {
  const client = await desk.connect(policy);
  expect(textOf(await client.call("write", { arguments: { text: "a" } }))).toBe("written a");
  const { value } = await desk.json("runs");
  expect(value).toMatchObject({
    runs: [{ owed: ["R1"], lasts: expect.stringMatching(/until it ends: after 8 hours.*`sluicegate runs new`/) }],
  });
  const run = (value as { readonly runs: readonly { readonly run: string }[] }).runs[0]?.run ?? ""; // checked above
  const closed = await desk.finish(["runs", "close", run]);
  expect(closed.stdout).toMatch(
    /is closed\.\nStill owed when it ended:\n {2}SG-BY-END \(rule R1\): writes are backed up; call .*backup/,
  );
  const { views } = await desk.log();
  expect(views.some(({ clear }) => JSON.stringify(clear).includes('"moment":"reflect"'))).toBe(true);
  // The next call starts clean: nothing of the old run is owed any more.
  expect(textOf(await client.call("backup", { arguments: {} }))).toBe("backed up");
  expect((await desk.json("runs", "new")).value).toMatchObject({ owed: [] });
  await client.close();
  await desk.finish(["daemon", "stop"]);
  expect(await desk.log()).toMatchObject({ valid: true });
});
