// Help, version and wrong use: what a person meets first.
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { repository, Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

describe("help and version", () => {
  test("help names every command on standard output", async () => {
    const ran = await terminal.run("--help");
    expect(ran.code).toBe(0);
    expect(ran.stderr).toBe("");
    const commands = [
      "run",
      "hook",
      "daemon",
      "gateway",
      "policy",
      "stpa",
      "labels",
      "replay",
      "runs",
      "stores",
      "approve",
      "cards",
      "audit",
      "doctor",
      "bench",
    ];
    for (const command of commands) expect(ran.stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
  });

  test("the help of a command says its use", async () => {
    expect((await terminal.run("run", "--help")).stdout).toMatch(/-- CMD[\s\S]*--policy <file> [\s\S]*--solo /);
    expect((await terminal.run("daemon", "--help")).stdout).toContain("print JSON");
    expect((await terminal.run("policy", "check", "--help")).stdout).toContain("--manifest");
    expect((await terminal.run("help", "audit")).stdout).toContain("verify");
    expect((await terminal.run("help", "audit", "verify")).stdout).toContain("--anchor");
  });

  test("version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };
    expect(await terminal.run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });
});

describe("what cannot be written", () => {
  const full = "/dev/full";
  test.skipIf(!existsSync(full))("an answer that did not fit on the disk is no success", async () => {
    const file = openSync(full, "w");
    try {
      for (const words of [["policy", "check", "default"], ["policy", "check", "default", "--json"], ["--help"]]) {
        expect(await terminal.runTo(file, ...words)).toEqual({
          code: 2,
          stdout: "",
          stderr: "Standard output cannot be written (the disk is full): fix that, then repeat.\n",
        });
      }
    } finally {
      closeSync(file);
    }
  });
});

describe("wrong use is one sentence on standard error and exit code 2", () => {
  test.each([
    [["plicy"], "`plicy` is not a command: did you mean `sluicegate policy`?"],
    [["verify"], "`verify` is not a command: did you mean `sluicegate audit verify`?"],
    [["xyzzy"], "`xyzzy` is not a command: `sluicegate --help` lists them."],
    [["constructor"], "`constructor` is not a command: `sluicegate --help` lists them."],
    [["policy", "chek", "x"], "Unknown command `chek`: did you mean `check`?"],
    [["replay", "x", "--polcy", "y"], "Unknown option `--polcy`: did you mean `--policy`?"],
    [["bench", "labels"], "Name the evaluation data with --data, or a folder of saved lists with --lists."],
    [["labels"], "Missing required argument `manifest`: `sluicegate labels --help` shows the use."],
    [
      ["bench", "agentdojo", "--data"],
      "Option `--data <folder>` argument missing: `sluicegate bench --help` shows the use.",
    ],
    [["proof", "verify"], "Missing required argument `policy`: `sluicegate proof verify --help` shows the use."],
    [["policy", "zzz"], "Unknown command `zzz`: `sluicegate policy --help` shows the use."],
    [
      ["policy", "check", "a", "b"],
      "`check` takes 1 argument, and got 2: `sluicegate policy check --help` shows the use.",
    ],
    [["doctor", "now"], "`doctor` takes no arguments, and got 1: `sluicegate doctor --help` shows the use."],
    [
      ["proof", "export", "default", "--to", "alloy", "--out", "--hazard", "H1"],
      "Option `--out <file>` argument missing: `sluicegate proof export --help` shows the use.",
    ],
    [["audit", "tail", "--log", "x"], "`--log` names no log: write `--log daemon` or `--log gateway`."],
    [["help", "plicy"], "`plicy` is not a command: did you mean `sluicegate policy`?"],
    [["bench", "proof", "--quick"], "The suite proof does not read `--quick`: leave it out."],
    [
      ["learn", "--", "no-such-program"],
      "The command `no-such-program` was not found. Install it, or give its absolute path.",
    ],
    [["\u001b[2J"], "`\\u{1b}[2J` is not a command: `sluicegate --help` lists them."],
  ])("%j", async (words, sentence) => {
    expect(await terminal.run(...words)).toEqual({ code: 2, stdout: "", stderr: `${sentence}\n` });
  });

  test("and JSON for machines", async () => {
    const { code, value } = await terminal.json("plicy");
    expect(code).toBe(2);
    expect(value).toMatchObject({ ok: false, error: { code: "SG-USAGE" } });
  });

  test.each([
    [[], "No command was named: `sluicegate --help` lists them."],
    [["proof"], "`proof` needs one of its commands: verify, export, diff, check."],
    [["labels", "--server"], "Option `--server <name>` argument missing: `sluicegate labels --help` shows the use."],
  ])("in JSON also where words are missing: %j", async (words, message) => {
    const { code, value } = await terminal.json(...words);
    expect(code).toBe(2);
    expect(value).toEqual({ ok: false, error: { code: "SG-USAGE", message } });
  });

  test("a consent that names no call is wrong use, and not a list", async () => {
    for (const word of ["--value", "--refuse"]) {
      const ran = await terminal.run("approve", word);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(`\`${word}\` needs the id of a call`);
    }
  });

  test("a command that watches where nobody can type, and nothing runs, says so", async () => {
    const ran = await terminal.run("approve", "--watch");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("No daemon is running");
    expect(ran.stderr).not.toContain("bug of Sluicegate");
  });

  test("where no daemon runs, `runs --json` has every member that it has beside one", async () => {
    expect((await terminal.json("runs")).value).toEqual({ runs: [], dormant: [], isolation: [], approvals: [] });
  });

  test("no command at all shows the help, and is wrong use", async () => {
    const ran = await terminal.run();
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("Usage: sluicegate");
  });
});
