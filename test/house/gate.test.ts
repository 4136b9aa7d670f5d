// The test command: which skips it refuses, what it keeps of full runs, and which tests it calls flaky.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fullRunLines, partOf, partsOf, treeOf } from "../../scripts/testing/full-runs.ts";
import { flakesIn, testedIn, unplayed } from "../../scripts/testing/outcome.ts";
import { keepRun, pastRuns, timesFlaky } from "../../scripts/testing/past-runs.ts";
import { slowFiles } from "../../scripts/testing/slow-first.ts";
import { readSkips, refusal, requirements, requirementsIn } from "../../scripts/testing/requirements.ts";

const root = `${import.meta.dirname}/../..`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sg-gate-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("skips", () => {
  const skips = readSkips(
    "a.test.ts userns,z3 may be forbidden\nb.test.ts - installed by its users only\n\nc.test.ts z3 absent\n",
  );
  const asked = (file: string, required: string, unlisted = false): boolean =>
    refusal(skips, requirementsIn(required) ?? [], { file, unlisted }) === undefined;

  test("pass where the machine lacks one of the needs, and fail where it must have all", () => {
    expect(asked("a.test.ts", "")).toBe(true);
    expect(asked("a.test.ts", "userns")).toBe(true);
    expect(asked("a.test.ts", "z3,root")).toBe(true);
    expect(asked("a.test.ts", "userns,z3")).toBe(false);
    expect(asked("c.test.ts", "z3")).toBe(false);
    expect(asked("b.test.ts", requirements.join(","))).toBe(true);
    expect(refusal(skips, ["z3"], { file: "c.test.ts", unlisted: true })).toContain("z3");
  });

  test("of a file that is not listed fail in the gate, and nowhere else", () => {
    expect(asked("d.test.ts", "")).toBe(false);
    expect(asked("d.test.ts", "z3", true)).toBe(true);
  });

  test("are listed with needs that exist and a reason", () => {
    expect(() => readSkips("a.test.ts usernamespaces may be forbidden")).toThrow("usernamespaces");
    expect(() => readSkips("a.test.ts userns")).toThrow("a reason is missing");
    expect(() => readSkips("a.test.ts")).toThrow("no list");
    expect(requirementsIn("userns, z3,")).toEqual(["userns", "z3"]);
    expect(requirementsIn("userns,z4")).toBeUndefined();
  });

  test("are listed for files that exist", () => {
    const listed = [...readSkips(readFileSync(join(root, ".ci/skips"), "utf8")).keys()];
    expect(listed.length).toBeGreaterThan(20);
    expect(listed.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

describe("full runs", () => {
  test("are of parts that hold every test file, each in one of them", () => {
    const parts = partsOf(root);
    const files = ["src", "test"].flatMap((top) =>
      readdirSync(join(root, top), { recursive: true, encoding: "utf8" }).map((path) => `${top}/${path}`),
    );
    const tests = files.filter((file) => file.endsWith(".test.ts"));
    expect(tests.filter((file) => partOf(parts, file) === undefined)).toEqual([]);
    const all = parts.flatMap((part) => part.tests);
    expect(new Set(all).size).toBe(all.length);
    expect(partOf(parts, "src/core/label.test.ts")?.name).toBe("core");
    expect(partOf(parts, "test/laws/engine.test.ts")?.name).toBe("laws");
    expect(partOf(parts, "test/errors.test.ts")?.name).toBe("whole");
  });

  test("are compared by names and contents of the files", () => {
    const source = join(folder, "src/core");
    mkdirSync(source, { recursive: true });
    writeFileSync(join(source, "a.ts"), "1");
    const before = treeOf(folder, ["src/core/"]);
    expect(treeOf(folder, ["src/core/"])).toBe(before);
    writeFileSync(join(source, "a.ts"), "2");
    const changed = treeOf(folder, ["src/core/"]);
    writeFileSync(join(source, "a.ts"), "1");
    writeFileSync(join(source, "b.ts"), "");
    const added = treeOf(folder, ["src/core/"]);
    expect(new Set([before, changed, added]).size).toBe(3);
  });

  test("are named beside each part, with their result and whether the part has changed since", () => {
    const parts = ["core", "laws", "cli"].map((name) => ({ name, tests: [], about: [] }));
    const run = { date: "2026-01-02", cases: 10_000, seed: "1", result: "7 passed" };
    const lines = fullRunLines(
      parts,
      { core: { ...run, tree: "t" }, laws: { ...run, tree: "u", result: "1 of 7 failed" } },
      () => "t",
    );
    expect(lines).toEqual([
      "core  as in the full run of 2026-01-02 (10000 cases: 7 passed)",
      "laws  changed since the full run of 2026-01-02 (10000 cases: 1 of 7 failed)",
      "cli   no full run is on record",
    ]);
  });
});

test("the files that run first exist", () => {
  expect(slowFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

describe("flakes", () => {
  const report = (failureMessages: readonly string[], status = "passed") => ({
    testResults: [
      { name: join(root, "test/a.test.ts"), assertionResults: [{ status, fullName: "one", failureMessages }] },
    ],
  });

  test("are tests that failed, were tried again and passed", () => {
    const [first, second] = [join(folder, "1.json"), join(folder, "2.json")];
    writeFileSync(first, JSON.stringify(report(["Error: late\n  at a.ts"])));
    writeFileSync(second, JSON.stringify(report(["Error: late"], "failed")));
    const tested = testedIn(root, [first, second, join(folder, "absent.json")]);
    expect(tested.map((one) => one.status)).toEqual(["passed", "failed"]);
    expect(flakesIn(tested)).toEqual([{ file: "test/a.test.ts", test: "one", failure: "Error: late" }]);
  });

  test("are kept run by run and counted over the last ten", () => {
    const file = join(folder, "kept/runs.jsonl");
    const flake = { file: "test/a.test.ts", test: "one", failure: "Error: late" };
    const run = { at: "2026-01-02", seed: "1", sizes: "quick", seconds: 61, passed: 1, failed: 0 } as const;
    expect(pastRuns(file)).toEqual([]);
    for (let index = 0; index < 12; index += 1) keepRun(file, { ...run, flakes: index % 4 === 0 ? [flake] : [] });
    expect(pastRuns(file)).toHaveLength(12);
    expect(timesFlaky(pastRuns(file), flake)).toBe(2);
    expect(timesFlaky(pastRuns(file), { ...flake, test: "two" })).toBe(0);
  });
});

describe("transcripts on record", () => {
  const ran = (fullName: string) => ({ file: "a.test.ts", fullName, status: "skipped", failures: [] }) as const;
  const lines = '["a gate > opens",0,"x"]\n["a gate > opens",1,"y"]\n["a gate > shuts",0,"z"]\n';

  test("whose test has another name now are found", () => {
    expect(unplayed(lines, [ran("a gate opens"), ran("a gate shuts")])).toEqual([]);
    expect(unplayed(lines, [ran("a gate opens"), ran("a gate closes")])).toEqual(["a gate > shuts"]);
  });
});
