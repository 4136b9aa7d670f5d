// `doctor` through the real path; and the proof itself, which must find out a guard that does not hold.
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "vitest";
import { doctorPolicy } from "../../src/cli/doctor/policy.ts";
import { prove } from "../../src/cli/doctor/proof.ts";
import { Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

const left = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("sg-doctor-"));

test("a healthy installation: every check holds, and nothing is left behind", async () => {
  const before = left();
  const { code, value } = await terminal.json("doctor");
  expect(value).toMatchObject({ ok: true, holds: true });
  expect(code).toBe(0);
  const { checks } = value as { checks: { name: string; state: string }[] };
  const names = ["node", "state", "socket", "daemon", "log", "policy", "isolation", "guardian", "hooks"];
  const proof = ["allow", "deny", "before", "flow", "processes", "record"];
  expect(checks.map((check) => check.name)).toEqual([...names, ...proof]);
  expect(left()).toEqual(before);
});

test("a policy of the user that does not load is a failure, in words; a gateway's own log is looked at", async () => {
  const servers = { notes: { command: process.execPath, args: ["-e", ""] } };
  const config = terminal.file("config.json", { version: 1, servers });
  expect((await terminal.run("gateway", "--config", config)).code).toBe(0);
  mkdirSync(`${terminal.root}/.config/sluicegate`, { recursive: true });
  const file = terminal.file(".config/sluicegate/policy.yaml", "version: 1\nmoed: x\n");
  chmodSync(file, 0o600);
  const ran = await terminal.run("doctor");
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain("did you mean `mode`?");
  expect(ran.stdout).toContain("The gateway log is intact: 2 records");
  expect(ran.stdout).toContain("A deny holds");
});

test("a guard that only watches is found out", async () => {
  const checks = await prove({ ...doctorPolicy, mode: "observe" });
  const failed = checks.filter((check) => check.state === "failed").map((check) => check.name);
  expect(failed).toEqual(["deny", "flow", "record"]);
});
