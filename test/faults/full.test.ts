// Disks that fill up: the projection's own, the workspace's when it is written to, the state folder's. A call ends with a
// sentence, files in the workspace are the old ones or the new ones and never half of one, and after room was made all
// works again.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { best, objectionsIn, Stage } from "../kit/gateway/stage.ts";
import { goneOf, left, policyFor, serverProgram, treeHash } from "./kit.ts";

const root = process.getuid?.() === 0;
if (!root) console.log("skipped: small disks can be mounted by root alone");
const marker = `full-${process.pid}`;
const million = 1_000_000;
let folder: string;
let stage: Stage | undefined;
const mounted: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-full-"));
  chmodSync(folder, 0o755);
  for (const name of ["workspace", "state"]) mkdirSync(join(folder, name), { mode: name === "state" ? 0o700 : 0o755 });
});
afterEach(async () => {
  await stage?.close();
  stage = undefined;
  expect(await goneOf(() => left(`server.ts ${marker}`))).toEqual([]);
  for (const place of mounted.splice(0)) spawnSync("umount", [place]);
  rmSync(folder, { recursive: true, force: true });
});

/** A disk of its own for one of the folders. */
function small(name: "workspace" | "state", size: string): string {
  const place = join(folder, name);
  const mode = name === "state" ? "0700" : "0755";
  const run = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=${mode}`, "tmpfs", place], {
    encoding: "utf8",
  });
  if (run.status !== 0) throw new Error(run.stderr);
  mounted.push(place);
  return place;
}

async function open(isolation: JsonObject): Promise<Stage> {
  stage = await Stage.open({
    root: folder,
    policy: policyFor({ faulty: isolation }),
    servers: { faulty: { command: [process.execPath, serverProgram, marker] } },
  });
  writeFileSync(join(stage.workspace, "own.txt"), "the work of a person\n");
  await stage.connect("faulty");
  return stage;
}

const quota = (quotaMb: number): JsonObject => ({ files: { workspace: { quotaMb } } });

/** Takes what room is left. */
function fill(place: string): string {
  const file = join(place, "ballast");
  for (const size of [million, 1_000])
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full in pieces of this size.
    }
  return file;
}

describe.skipIf(!best)("full disks (need tier A)", () => {
  test("the quota of the projection: the call fails with a reason, and the workspace is whole", async () => {
    const { workspace, call, records } = bound(await open(quota(8)));
    const said = await call("fill", { path: "big.bin", count: 40 });
    expect(said.isError).toBe(true);
    expect(said.text).toMatch(/executed and must not be repeated/);
    expect(objectionsIn(await records())).toEqual(["faulty.fill: projection SG-SCOPE-LIMIT limit.hit"]);
    expect(readFileSync(join(workspace, "own.txt"), "utf8")).toBe("the work of a person\n");
    // What a rejected call wrote is nowhere, and its server has ended with it.
    expect(readdirSync(workspace)).toEqual(["own.txt"]);
    expect((await call("write", { path: "more.txt", text: "y" })).isError).toBe(true);
    expect(readdirSync(workspace)).toEqual(["own.txt"]);
  });

  test("a large file that was agreed on is not held against the next call", async () => {
    const { call, stage: opened } = bound(await open(quota(64)));
    expect(await call("fill", { path: "big.bin", count: 9 })).toMatchObject({ isError: false });
    expect(await call("write", { path: "small.txt", text: "another file" })).toMatchObject({ text: "written" });
    // The notice of the card comes with the first list of any server.
    expect(opened.told.filter((line) => !line.includes("sluicegate cards"))).toEqual([]);
  });

  test.skipIf(!root)(
    "the workspace's disk at a commit: nothing is half there, and what was written is kept",
    async () => {
      small("workspace", "3m");
      const { workspace, call, records } = bound(await open(quota(64)));
      const before = treeHash(workspace);
      const said = await call("write_many", { path: "many", count: 3_000 });
      expect(said.isError).toBe(true);
      expect(said.text).toMatch(/not taken over.*kept.*sluicegate changes.*Do not repeat/s);
      const names = readdirSync(workspace);
      if (names.includes("many"))
        for (const name of readdirSync(join(workspace, "many")))
          expect(readFileSync(join(workspace, "many", name), "utf8")).toBe(`${Number.parseInt(name, 10)}`.repeat(500));
      else expect(treeHash(workspace)).toBe(before);
      expect(readdirSync(join(folder, "state", "changes")).length).toBeGreaterThan(0);
      expect(objectionsIn(await records())).toEqual([]);
      rmSync(join(workspace, "many"), { recursive: true, force: true });
      expect(await call("write", { path: "small.txt", text: "fits" })).toMatchObject({ isError: false });
      expect(readFileSync(join(workspace, "small.txt"), "utf8")).toBe("fits");
    },
  );

  test.skipIf(!root)("the state folder's disk: a call that cannot be put on record or kept is refused", async () => {
    const state = small("state", "24m");
    const { workspace, call, stage: opened } = bound(await open(quota(64)));
    expect(await call("write", { path: "first.txt", text: "1" })).toMatchObject({ isError: false });
    const before = treeHash(workspace);
    const ballast = fill(state);
    const texts: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const said = await call("write", { path: `full-${index}.txt`, text: "z".repeat(100_000) });
      texts.push(said.text);
      expect(said.isError, said.text).toBe(true);
      expect(said.text).toMatch(/^(refused by protocol: )?[A-Z].{20,}[.`)]$/s);
    }
    console.log(`state folder full: ${[...new Set(texts)].join("\n")}`);
    expect(treeHash(workspace)).toBe(before);
    opened.disconnect("faulty");
    rmSync(ballast);
    await opened.connect("faulty");
    // The log is tried again every few seconds; until then the run counts as holding everything, and calls are refused.
    let after = "";
    for (let turn = 0; turn < 40 && after !== "written"; turn += 1) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      after = (await call("write", { path: "after.txt", text: "room again" })).text;
    }
    expect(after).toBe("written");
    expect(readFileSync(join(workspace, "after.txt"), "utf8")).toBe("room again");
  });
});

/** The server is always the same one. */
function bound(opened: Stage) {
  return {
    stage: opened,
    workspace: opened.workspace,
    records: () => opened.records(),
    call: (tool: string, given: JsonObject) => opened.call("faulty", tool, given),
  };
}
