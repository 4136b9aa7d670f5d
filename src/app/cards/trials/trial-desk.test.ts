import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { JsonObject } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { ServerCommand } from "../../client/driven-server.ts";
import type { ProbeReport } from "../../probe/probe-server.ts";
import { programDigest } from "./program-digest.ts";
import { TrialDesk, isOpenAgainst } from "./trial-desk.ts";
import { TrialFiles } from "./trial-files.ts";
import type { TrialVerdict } from "./trial-records.ts";

const look: JsonObject = { name: "look", inputSchema: { type: "object" } };
const other: JsonObject = { name: "other", inputSchema: { type: "object" } };

function report(verdict: TrialVerdict, more: Partial<ProbeReport> = {}): Result<ProbeReport, string> {
  const reason = "it passes on what stands in the variable API_KEY";
  const isBad = verdict === "rejected" || verdict === "suspect";
  return ok({
    verdict,
    denied: 0,
    coverage: { listed: 1, run: 1, notRun: [], starts: [], limits: [] },
    objections: isBad ? [{ code: "canary-leak", hard: verdict === "rejected", reason, tool: "look" }] : [],
    probes: 14,
    tier: "A",
    hosts: [],
    tools: [look],
    ...more,
  });
}

class Scene {
  readonly home = mkdtempSync(join(tmpdir(), "sg-trials-"));
  readonly files = new TrialFiles(this.home);
  now = Date.UTC(2026, 10, 23);
  next: Result<ProbeReport, string> = report("clean");
  readonly program = join(this.home, "server.js");
  readonly desk = new TrialDesk({
    files: this.files,
    packages: this.home,
    wallMs: () => this.now,
    probe: async () => this.next,
  });

  constructor() {
    writeFileSync(this.program, "version 1");
  }

  get target(): ServerCommand {
    return { kind: "stdio", command: "node", args: ["server.js"], env: {}, workingDirectory: this.home };
  }

  async tries(verdict: TrialVerdict, more: Partial<ProbeReport> = {}): Promise<string | undefined> {
    this.next = report(verdict, more);
    const tried = await this.desk.tryOut("app", this.target);
    if (!tried.ok) throw new Error(tried.error);
    return tried.value;
  }

  shown(list: readonly JsonObject[] = [look]) {
    return this.desk.shownOn("app", this.target, list);
  }
}

it("a trial is shown with what it ran, and relaxes nothing", async () => {
  const scene = new Scene();
  expect(scene.shown()).toBeUndefined();
  const coverage = {
    listed: 2,
    run: 1,
    notRun: [{ tool: "b", reason: "no probe of it was answered" }],
    starts: [],
    limits: ["Its clock was not changed."],
  };
  expect(await scene.tries("partial", { coverage })).toBeUndefined();
  expect(scene.shown()).toEqual({
    now: expect.objectContaining({ verdict: "partial" }),
    lines: [
      "nothing found in what was run, and not all was on 2026-11-23, in 14 calls with made-up data to 1 of 2 tools",
    ],
    gaps: ["`b` was not tried out: no probe of it was answered.", "Its clock was not changed."],
  });
});

it("a rejected program stays rejected under a later good trial, and another version is another trial", async () => {
  const scene = new Scene();
  expect(await scene.tries("rejected")).toBe(
    "its trial rejected it: look: it passes on what stands in the variable API_KEY",
  );
  // The same evidence again is not news.
  expect(await scene.tries("rejected")).toBeUndefined();
  expect(await scene.tries("clean")).toBeUndefined();
  expect(scene.shown()?.now?.verdict).toBe("rejected");
  writeFileSync(scene.program, "version 2");
  expect(scene.shown()).toMatchObject({
    now: undefined,
    lines: [expect.stringMatching(/^another version: rejected on/)],
  });
  await scene.tries("clean");
  expect(scene.shown()).toMatchObject({
    now: { verdict: "clean" },
    lines: [expect.stringMatching(/^nothing found/), expect.stringContaining("another version: rejected")],
  });
  writeFileSync(scene.program, "version 1");
  expect(scene.shown()?.now?.verdict).toBe("rejected");
});

it("a list that was not the one of the trial was not tried out, in whatever order it comes", async () => {
  const scene = new Scene();
  await scene.tries("clean", { tools: [look, other] });
  expect(scene.shown([other, look])?.now?.verdict).toBe("clean");
  const gap = "When it was tried out on 2026-11-23 it listed other tools: these were not run.";
  expect(scene.shown([look])).toEqual({ now: undefined, lines: [], gaps: [gap] });
  scene.now += 91 * 86_400_000;
  expect(scene.shown([look, other])).toEqual({
    now: undefined,
    lines: [],
    gaps: ["Its trial of 2026-11-23 is over: `sluicegate cards app --probe` makes another."],
  });
});

it("an answer that came after a trial has seen it", () => {
  const trial = (verdict: TrialVerdict) => ({ now: { verdict, at: "2026-11-23T10" }, lines: [], gaps: [] });
  expect(isOpenAgainst(trial("rejected"), undefined)).toBe("rejected");
  expect(isOpenAgainst(trial("suspect"), "2026-11-22T10")).toBe("suspect");
  expect(isOpenAgainst(trial("rejected"), "2026-11-24T10")).toBeUndefined();
  expect(isOpenAgainst(trial("clean"), undefined)).toBeUndefined();
  expect(isOpenAgainst(undefined, undefined)).toBeUndefined();
});

it("evidence is given also where it cannot be put on record; a server is tried out once at a time", async () => {
  const scene = new Scene();
  scene.next = err("no user namespaces");
  expect(await scene.desk.tryOut("app", scene.target)).toMatchObject({ error: expect.stringContaining("no user") });
  const both = await Promise.all([scene.desk.tryOut("app", scene.target), scene.desk.tryOut("app", scene.target)]);
  expect(both[1]).toMatchObject({ error: expect.stringContaining("is being tried out") });
  await scene.tries("clean");
  writeFileSync(scene.files.file, "{}");
  chmodSync(scene.files.file, 0o600);
  expect(scene.shown()).toMatchObject({ now: undefined, gaps: ["Whether it was tried out is not known."] });
  expect(await scene.desk.tryOut("app", scene.target)).toMatchObject({ error: expect.stringContaining("version") });
  rmSync(scene.files.file);
  await scene.tries("clean");
  chmodSync(scene.files.file, 0o666);
  expect(scene.shown()?.lines[0]).toContain("that you alone may write");
});

it("programs are told apart by command, arguments, names of variables and the files that they name", () => {
  const scene = new Scene();
  const first = programDigest(scene.target, scene.home);
  expect(programDigest({ ...scene.target }, scene.home)).toBe(first);
  const changed: Partial<ServerCommand>[] = [{ command: "bun" }, { args: ["server.js", "-v"] }, { env: { A: "1" } }];
  for (const more of changed) expect(programDigest({ ...scene.target, ...more }, scene.home)).not.toBe(first);
  expect(programDigest({ ...scene.target, env: { A: "1" } }, scene.home)).toBe(
    programDigest({ ...scene.target, env: { A: "2" } }, scene.home),
  );
  const withData = { ...scene.target, args: ["server.js", "--database", "app.db"] };
  writeFileSync(join(scene.home, "app.db"), "1");
  const before = programDigest(withData, scene.home);
  writeFileSync(join(scene.home, "app.db"), "2");
  expect(programDigest(withData, scene.home)).toBe(before);
  writeFileSync(scene.program, "version 2");
  expect(programDigest(scene.target, scene.home)).not.toBe(first);
});

it("a package is told apart by what it was resolved to", () => {
  const scene = new Scene();
  const target: ServerCommand = { ...scene.target, command: "npx", args: ["-y", "some-server@1"] };
  const entry = {
    ecosystem: "npm",
    wanted: ["some-server@1"],
    registry: "https://registry.npmjs.org/",
    name: "some-server",
    version: "1.0.0",
    integrity: "sha512-a",
    content: "a".repeat(64),
    seen: "b".repeat(64),
    folder: "f",
    programs: {},
    scripts: [],
    packages: {},
    resolvedAt: "2026-11-23T00:00:00.000Z",
  };
  const digests = ["a", "c"].map((letter) => {
    const text = JSON.stringify({ version: 1, packages: { key: { ...entry, content: letter.repeat(64) } } });
    writeFileSync(join(scene.home, "sluicegate.lock"), text);
    return programDigest(target, scene.home);
  });
  expect(digests[0]).not.toBe(digests[1]);
});
