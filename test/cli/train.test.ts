// `sluicegate train` as a person and as a machine use it.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { repository, Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(() => terminal.remove());

describe("train", () => {
  test("--check makes the shipped weights again", async () => {
    const ran = await terminal.run("train", "--check");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toContain("6000 scenarios");
    expect(ran.stdout).toContain("The shipped weights are these, bit for bit.");
    expect(ran.stdout).toMatch(/^cost +\d+\.\d s of processor time \(target: 10\)$/m);
    expect(ran.stdout).not.toContain("Quality");
  });

  test("says how good they are, beside baselines", async () => {
    const { code, value } = await terminal.json("train", "--out", join(terminal.root, "made"));
    expect(code).toBe(0);
    const { quality, sameAsShipped, weights } = value as {
      quality: { variant: string; part: string; n: number; accuracy: number }[];
      sameAsShipped: boolean;
      weights: { sha256: string };
    };
    expect(sameAsShipped).toBe(true);
    expect(weights.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(quality[0]).toMatchObject({ variant: "embedded", n: 6_000, part: "all families, each left out" });
    expect(quality.filter(({ variant }) => variant === "embedded")).toHaveLength(6);
    const made = readFileSync(join(terminal.root, "made/embedded.weights"));
    expect(made.equals(readFileSync(join(repository, "training/embedded.weights")))).toBe(true);
    expect(readFileSync(join(terminal.root, "made/manifest.json"), "utf8")).toContain(weights.sha256);
  });

  test("another seed gives others, which is no finding", async () => {
    const ran = await terminal.run("train", "--check", "--seed", "7");
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("Another seed gives other weights") });
  });

  test("--export writes training files for an engine", async () => {
    const { code, value } = await terminal.json("train", "--export", join(terminal.root, "verl"), "--engine", "verl");
    expect(code).toBe(0);
    expect(value).toMatchObject({
      engine: "verl",
      files: [{ rows: 9_600 }, { rows: 2_000 }, { rows: 2_800 }, { rows: 1_200 }],
    });
    const without = await terminal.run("train", "--export", terminal.root);
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("--engine trl|openrlhf|verl") });
  });

  test("--serve-reward answers until it is stopped", async () => {
    const child = spawn(process.execPath, [join(repository, "bin/sluicegate.js"), "train", "--serve-reward", "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = await new Promise<string>((found) => {
      child.stdout.setEncoding("utf8").on("data", (text: string) => found(/http:\/\/[0-9.:]+/.exec(text)?.[0] ?? ""));
    });
    const body = JSON.stringify({ query: ["x"], prompts: [""], labels: ['{"safety":"safe","filtered_tools":[]}'] });
    const reply = await fetch(`${url}/get_reward`, { method: "POST", body });
    expect(await reply.json()).toMatchObject({ rewards: [0] });
    const ended = new Promise((done) => child.on("close", done));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(await terminal.run("train", "--serve-reward", "x")).toMatchObject({ code: 2 });
  });

  test("wrong words and folders are errors with a way on", async () => {
    const seed = await terminal.run("train", "--seed", "many");
    expect(seed).toMatchObject({ code: 2, stderr: expect.stringContaining("`--seed` takes a whole number") });
    const folder = await terminal.run("train", "--check", "--out", terminal.file("taken", "x"));
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining("name another folder") });
  });
});
