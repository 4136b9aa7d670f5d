import { spawnSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oldNode, pause } from "./fixture/world.ts";

/** A package of its own: the launcher with a built entry that reports what it was given. */
let folder: string;
let bin: string;
const old = oldNode();
const source = fileURLToPath(new URL("../../bin/sluicegate.js", import.meta.url));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sg-launcher-"));
  bin = join(folder, "bin", "sluicegate.js");
  mkdirSync(join(folder, "bin"));
  mkdirSync(join(folder, "dist", "cli"), { recursive: true });
  copyFileSync(source, bin);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(folder, "dist", "cli", "entry.js"),
    `export async function dispatch(words, entry) {
      if (words[0] === "throw") throw new Error("something odd");
      if (words[0] === "wait") {
        // The handler first: whoever reads "up" may signal in the same instant.
        process.on("SIGTERM", () => { console.log("told to end"); process.exit(7); });
        console.log("up");
        await new Promise((resolve) => setTimeout(resolve, 10_000));
      }
      console.log(JSON.stringify({ major: process.versions.node.split(".")[0], words, entry }));
      return 5;
    }`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (node: string, words: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(node, [bin, ...words], {
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin", HOME: folder, SLUICEGATE_HOME: join(folder, "state"), ...env },
  });

test("on a new enough Node it runs the built entry and keeps words and exit code", () => {
  const result = run(process.execPath, ["one", "two words", "ü"]);
  expect(result.status).toBe(5);
  expect(JSON.parse(result.stdout)).toMatchObject({ words: ["one", "two words", "ü"], entry: bin });
});

test("a failure of the command line is one sentence, exit code 2 and no stack", () => {
  const result = run(process.execPath, ["throw"]);
  expect(result.status).toBe(2);
  expect(result.stderr).toContain("something odd");
  expect(result.stderr.trim().split("\n")).toHaveLength(1);
  expect(run(process.execPath, ["throw"], { SLUICEGATE_DEBUG: "1" }).stderr).toContain("    at ");
});

test.skipIf(process.platform !== "linux")("a state folder that nobody can make stops nothing by itself", () => {
  const ran = run(process.execPath, ["one"], { SLUICEGATE_HOME: "/proc/no/such/folder" });
  expect(ran.status).toBe(5);
});

test("the state folder is made for its owner alone", () => {
  const fresh = join(folder, "deep", "state");
  expect(run(process.execPath, ["one"], { SLUICEGATE_HOME: fresh }).status).toBe(5);
  expect(statSync(fresh).mode & 0o777).toBe(0o700);
});

test.skipIf(old === undefined)("on an old Node without a newer one: one sentence with the remedy, exit code 2", () => {
  const result = run(old ?? "", ["one"]);
  expect(result).toMatchObject({ status: 2, stdout: "" });
  expect(result.stderr).toMatch(/^sluicegate: needs Node 24 or newer, this is \d+[^\n]*SLUICEGATE_NODE[^\n]*\n$/);
  expect(run(old ?? "", ["one"], { SLUICEGATE_NODE: "/no/such/node" })).toMatchObject({ status: 2 });
  // A variable that names the old Node itself must not start an endless chain.
  expect(run(old ?? "", ["one"], { SLUICEGATE_NODE: old ?? "" })).toMatchObject({ status: 2 });
});

test.skipIf(old === undefined)("on an old Node it starts again on SLUICEGATE_NODE or on the `node` package", () => {
  const named = run(old ?? "", ["a b"], { SLUICEGATE_NODE: process.execPath });
  expect(named.status).toBe(5);
  expect(JSON.parse(named.stdout)).toMatchObject({ major: process.versions.node.split(".")[0], words: ["a b"] });
  const beside = join(folder, "node_modules", "node", "bin");
  mkdirSync(beside, { recursive: true });
  symlinkSync(process.execPath, join(beside, "node"));
  expect(run(old ?? "", ["x"]).status).toBe(5);
  rmSync(join(folder, "node_modules"), { recursive: true });
});

test.skipIf(old === undefined)("started again, it forwards signals and the exit code", async () => {
  const child = spawn(old ?? "", [bin, "wait"], {
    env: { PATH: "/usr/bin:/bin", HOME: folder, SLUICEGATE_NODE: process.execPath },
  });
  let text = "";
  child.stdout.on("data", (part: Buffer) => (text += part.toString()));
  const code = new Promise((resolve) => child.on("exit", resolve));
  while (!text.includes("up")) await pause(20);
  child.kill("SIGTERM");
  expect(await code).toBe(7);
  expect(text).toContain("told to end");
});
