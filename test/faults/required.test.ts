// A server below the tier that a policy requires does not start, and its client learns why in one sentence; what a
// policy runs bare or elsewhere is served, and says what it is.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { best, Stage } from "../kit/gateway/stage.ts";
import { allProcesses, commandOf, goneOf, left, policyFor, serverProgram } from "./kit.ts";

const marker = `required-${process.pid}`;
const bare = { command: [process.execPath, serverProgram, marker] };
/** A program that lets a daemon run the server has no files to project. */
let programs: string;
beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "sluicegate-required-"));
  writeFileSync(join(programs, "docker"), `#!/bin/sh\nexec ${process.execPath} ${serverProgram} ${marker}\n`);
  chmodSync(join(programs, "docker"), 0o755);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

async function open(isolation: JsonObject, command: readonly string[] = bare.command): Promise<Stage> {
  return Stage.open({ policy: policyFor({ faulty: isolation }), servers: { faulty: { command } } });
}

const why = /needs isolation tier A and would get none\. .{20,}/;

describe("what a policy requires", () => {
  test("below the tier nothing of the server runs, and each call says why", async () => {
    const stage = await open({ require: "A" }, [join(programs, "docker"), "run", "something"]);
    await expect(stage.connect("faulty")).rejects.toThrow(why);
    const said = await stage.call("faulty", "echo", { text: "x" });
    expect(said.isError).toBe(true);
    expect(said.text).toMatch(why);
    expect(said.text.length).toBeLessThan(300);
    expect(left(`server.ts ${marker}`)).toEqual([]);
    await stage.close();
  });

  test("required and turned off contradict each other, and the policy is refused", async () => {
    await expect(open({ backend: "off", require: "A" })).rejects.toThrow(/backend: off.*tier A is required/);
  });

  test("turned off, the server is served bare, and its projection says so", async () => {
    const stage = await open({ backend: "off" });
    await stage.connect("faulty");
    expect(stage.tierOf("faulty")).toBe("none");
    expect(stage.notesOf("faulty").join()).toContain("without isolation");
    expect(await stage.call("faulty", "echo", { text: "bare" })).toMatchObject({ text: "bare", isError: false });
    await stage.close();
    expect(await goneOf(() => left(`server.ts ${marker}`))).toEqual([]);
  });
});

describe.skipIf(!best)("what this machine offers (needs tier A)", () => {
  test("in the required tier the server starts", async () => {
    const stage = await open({ require: "A" });
    await stage.connect("faulty");
    expect(stage.tierOf("faulty")).toBe("A");
    await stage.close();
    expect(allProcesses().filter(({ pid }) => commandOf(pid).includes(`server.ts ${marker}`))).toEqual([]);
  });
});
