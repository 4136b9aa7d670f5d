/** A log that is damaged or cannot grow, under the real daemon: nothing goes on unseen, and nothing is overwritten. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskPolicy, deskServer, secret, textOf } from "./fixture/desk.ts";
import { type Client, pause } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const database = (): string => join(desk.home, "log.db");
const run = () => desk.finish(["run", "--policy", deskPolicy, "--server", "desk", "--", process.execPath, deskServer]);
const leak = (client: Client): Promise<string> =>
  client.call("send", { arguments: { to: "ann@corp.example", body: secret } }).then(textOf);

test("a damaged log stops the start in one sentence and stays as it is; set aside, its runs count as holding everything", async () => {
  const client = await desk.connect();
  await client.call("read_private", { arguments: {} });
  await desk.finish(["daemon", "stop"]);
  const broken = readFileSync(database());
  broken.fill(0x5a, 4_096, 12_288);
  for (const content of [broken, Buffer.from("this is no database at all")]) {
    writeFileSync(database(), content);
    const refused = await run();
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain("is damaged. Nothing was changed.");
    expect(readFileSync(database()).equals(content)).toBe(true);
    expect(desk.serverPids()).toEqual([]);
  }
  expect((await desk.finish(["audit", "verify"])).code).not.toBe(0);
  const aside = await desk.json("audit", "set-aside");
  expect(aside).toMatchObject({ code: 0, value: { moved: true } });
  const { file } = aside.value as { file: string }; // our own command's answer
  expect(readFileSync(file, "utf8")).toBe("this is no database at all");
  const again = await desk.connect();
  expect(await leak(again), "what the lost log knew of this client is unknown").toMatch(/^! Not executed/);
  await desk.finish(["runs", "new"]);
  expect(await leak(again)).toBe("sent to ann@corp.example");
  expect((await desk.finish(["audit", "verify"])).code).toBe(0);
});

test("a log whose keys are gone goes on with none of others; set aside, a new one begins", async () => {
  const client = await desk.connect();
  await client.call("read_private", { arguments: {} });
  await desk.finish(["daemon", "stop"]);
  const keys = join(desk.home, "keys");
  for (const gone of [join(keys, "provenance.key"), keys]) {
    rmSync(gone, { recursive: true });
    const refused = await run();
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/keys of the event log are missing in .*restore that folder.*audit set-aside/);
    expect(existsSync(gone)).toBe(false);
  }
  expect(await desk.json("audit", "set-aside")).toMatchObject({ code: 0, value: { moved: true } });
  const again = await desk.connect();
  expect(await leak(again), "what the old log knew of this client is unknown").toMatch(/^! Not executed/);
  expect((await desk.finish(["audit", "verify"])).code).toBe(0);
  await desk.finish(["daemon", "stop"]);
  expect(await desk.json("audit", "set-aside")).toMatchObject({ code: 0, value: { moved: false } });
});

/** A disk of our own, which only root may make. */
function mountDisk(folder: string, size: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return false;
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", folder]).status === 0;
}

test("a full disk stops every call until there is room again; then each run is what its log says", async (context) => {
  // Room for the compiled code that the daemon keeps there; the ballast takes the rest.
  if (!mountDisk(desk.home, "24m")) return context.skip("a small disk needs root and mount");
  try {
    const client = await desk.connect();
    expect(textOf(await client.call("read_private", { arguments: {} }))).toBe(secret);
    const ballast = join(desk.home, "ballast");
    spawnSync("sh", ["-c", `head -c 48m /dev/zero > "${ballast}"`]);
    const before = desk.executed().length;
    let text = "";
    const letter = { arguments: { text: "x".repeat(60_000) } };
    for (let tries = 0; tries < 200 && !text.startsWith("!"); tries += 1)
      text = textOf(await client.call("write", letter));
    expect(text).toMatch(/event log cannot be written/);
    const executed = desk.executed().length;
    for (const name of ["write", "send", "read_web"]) {
      expect(textOf(await client.call(name, { arguments: {} }))).toMatch(/^! /);
    }
    expect(desk.executed().length, "nothing reaches the server without a record").toBe(executed);
    expect(executed).toBeGreaterThanOrEqual(before);
    // Whoever looks again sees that nothing has changed, and does not say otherwise.
    await pause(5_000);
    const told = readFileSync(join(desk.home, "daemon.log"), "utf8");
    expect(told.match(/disk is full/g)).toHaveLength(1);
    expect(told).not.toContain("can be written again");
    rmSync(ballast);
    for (let tries = 0; tries < 40 && text.startsWith("!"); tries += 1) {
      await pause(250);
      text = textOf(await client.call("backup", { arguments: {} }));
    }
    expect(text).toBe("backed up");
    expect(await leak(client), "labels are what the log says").toMatch(/^! Not executed.*private/);
    expect(textOf(await client.call("send", { arguments: { to: "ann@corp.example", body: "hello" } }))).toBe(
      "sent to ann@corp.example",
    );
    expect(await desk.log()).toMatchObject({ valid: true, findings: [] });
    expect(readFileSync(join(desk.home, "daemon.log"), "utf8")).toMatch(/disk is full[\s\S]*can be written again/);
  } finally {
    await desk.finish(["daemon", "stop"]);
    spawnSync("umount", ["-l", desk.home]);
  }
});

test("`doctor`, which refusals on a full disk send to, finds the full disk", async (context) => {
  if (!mountDisk(desk.home, "1m")) return context.skip("a small disk needs root and mount");
  try {
    spawnSync("sh", ["-c", `head -c 2m /dev/zero > "${join(desk.home, "ballast")}"`]);
    const found = await desk.finish(["doctor"]);
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/The disk of the state folder .* is full/);
  } finally {
    spawnSync("umount", ["-l", desk.home]);
  }
});
