/** What a store holds hides a tool from every later run, until a person says that the store is clean again. */
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, textOf } from "./fixture/desk.ts";
import { type Client, pause, until } from "./fixture/world.ts";

const policy = fileURLToPath(new URL("./fixture/stores.yaml", import.meta.url));

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

async function listed(client: Client): Promise<readonly string[]> {
  const answer = await client.answer(client.send("tools/list", {}));
  const tools = answer.result?.["tools"] as readonly { readonly name: string }[] | undefined; // of our own server
  return (tools ?? []).map(({ name }) => name);
}

async function openRun(): Promise<string> {
  const { value } = await desk.json("runs");
  const answer = value as { runs: { run: string }[]; dormant: { run: string }[] }; // our own command's answer
  return answer.runs[0]?.run ?? answer.dormant[0]?.run ?? "";
}

/** The daemon dies, and another one answers that knows of the run which was open. */
async function newDaemon(): Promise<void> {
  const old = desk.daemonPid() ?? 0;
  process.kill(old, "SIGKILL");
  await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== old);
  while ((await openRun()) === "") await pause(50);
}

test("`stores reset` lets a new run see again what a store hid, over a restart, once no run is open", async () => {
  const none = await desk.finish(["stores"]);
  expect(none).toMatchObject({ code: 0, stdout: expect.stringContaining("No daemon is running") });
  const first = await desk.connect(policy);
  expect(await listed(first)).toContain("backup");
  await first.call("read_private", { arguments: {} });
  expect(textOf(await first.call("write", { arguments: { text: "x" } }))).toBe("written x");
  expect(await listed(first)).not.toContain("backup");

  expect(await desk.finish(["stores", "reset", "drawer"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("`--yes`"),
  });
  const open = await desk.finish(["stores", "reset", "drawer", "--yes"]);
  expect(open).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`\`sluicegate runs close ${await openRun()}\``),
  });

  await desk.finish(["runs", "close", await openRun()]);
  expect(await listed(first)).not.toContain("backup");
  const hidden = textOf(await first.call("backup", { arguments: {} }));
  expect(hidden).toContain("the user can run `sluicegate stores reset drawer`");
  expect(hidden.length).toBeLessThanOrEqual(242);
  const { value } = await desk.json("stores");
  const drawer = { store: "drawer", label: "at most private, untrusted", audience: ["me"], open: [] };
  const declared = [{ policy, label: "at most public, untrusted", audience: ["me"], open: [] }];
  const stores = expect.arrayContaining([expect.objectContaining({ ...drawer, declared })]);
  expect(value).toMatchObject({ owners: [{ lost: false, unreadable: [], stores }] });

  // A run that nobody has taken up since the restart is open, too.
  await newDaemon();
  const dormant = await desk.finish(["stores", "reset", "drawer", "--yes"]);
  expect(dormant).toMatchObject({ code: 2, stderr: expect.stringContaining("`sluicegate runs close") });
  await desk.finish(["runs", "close", await openRun()]);
  const done = await desk.finish(["stores", "reset", "drawer", "--yes"]);
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("You confirm that the store holds only"),
  });
  expect(await listed(first)).toContain("backup");
  expect((await desk.finish(["audit", "tail", "-n", "40"])).stdout).toMatch(
    /stores-reset +drawer of os:\d+, held .*private.*, by os:\d+/,
  );

  await first.close();
  expect((await desk.finish(["daemon", "stop"])).code).toBe(0);
  expect(await listed(await desk.connect(policy))).toContain("backup");
  const { views, valid } = await desk.log();
  expect(valid).toBe(true);
  expect(views.filter(({ kind }) => kind === "stores-reset")).toMatchObject([{ run: "" }]);
}, 60_000);
