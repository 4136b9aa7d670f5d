// What `bench friction` must show: a call that is stopped counts as stopped, and what comes back in the end is what the server gave.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ok } from "../../src/core/result.ts";
import { configurations } from "../../src/lab/bench/friction/configurations.ts";
import { frictionOutcome } from "../../src/lab/bench/friction/friction.ts";
import { comparable, said } from "../../src/lab/bench/friction/outcome.ts";
import { resolved } from "../../src/lab/bench/friction/references.ts";
import { type FrictionBench, frictionBench } from "../../src/lab/bench/friction/friction-run.ts";
import { readFrictionScenarios } from "../../src/lab/bench/friction/friction-scenario.ts";
import { frictionCauses, frictionText, frictionTotals } from "../../src/lab/bench/friction/friction-text.ts";
import { packageFolder } from "../../src/app/policy/policy-source.ts";

const folder = mkdtempSync(join(tmpdir(), "sluicegate-friction-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scenario = `
version: 1
package: notes-server@1.0.0
reach: network
instruction: "find the note about pears, read it, and save it as note.txt"
fake:
  hosts: [notes.example]
  answers:
    - { get: /find, json: { notes: [{ id: n7, title: pears }] } }
    - { get: /notes/n7, json: { text: ripe in September } }
calls:
  - { call: find_note }
  - { call: read_note, with: { id: "{1/notes/0/id}" } }
  - { call: read_note, with: { id: "{1~nothing like (this)}" } }
  - { call: save_note, acts: true, with: { text: "pears: {2~ripe in \\\\w+}" } }
  - { call: broken }
`;

const scenarios = join(folder, "scenarios");
const cache = join(folder, "cache");
mkdirSync(scenarios);
writeFileSync(join(scenarios, "notes.yaml"), scenario);
const home = join(cache, "notes", "node_modules", "notes-server");
mkdirSync(home, { recursive: true });
cpSync(join(import.meta.dirname, "fixture", "notes-server.js"), join(home, "main.mjs"));
writeFileSync(join(home, "package.json"), JSON.stringify({ version: "1.0.0", bin: { notes: "main.mjs" } }));

async function measured(names: readonly string[]): Promise<FrictionBench> {
  const read = readFrictionScenarios(scenarios);
  if (!read.ok) throw new Error(read.error);
  const chosen = configurations.filter((one) => names.includes(one.name));
  return frictionBench(read.value, { cache, configurations: chosen, labels: new Map(), tell: () => undefined });
}

it("plays a server direct and behind the gateway: what was asked, answered, failed and never reached", async () => {
  const bench = await measured(["default", "allow-all"]);
  const totals = new Map(frictionTotals(bench).map((one) => [one.configuration, one]));
  const counted = { servers: 1, calls: 5, failed: 1, unreached: 1, blocked: 0, same: 4, steady: 4 };
  expect(totals.get("direct")).toMatchObject({ ...counted, interrupted: 0 });
  expect(totals.get("allow-all")).toMatchObject({ ...counted, interrupted: 0 });
  // Unlabelled tools ask, and the user says yes: all answers are those of the direct run.
  expect(totals.get("default")).toMatchObject({
    ...counted,
    interrupted: 4,
    questions: 4,
    mostQuestions: 4,
    networkReads: [3, 4],
    acts: [1, 1],
  });
  expect(frictionCauses(bench)[0]?.why).toContain("SG-ASK-UNLABELLED");
  expect(bench.unknown).toEqual([]);
  const text = frictionText(bench);
  expect(text).toContain("notes   notes-server@1.0.0  network  5      4 [1]    0 [1]");
  expect(text).toContain("fails when direct: notes.broken: it is broken");
}, 60_000);

it("reports a server that cannot be had, with the reason, and goes on", async () => {
  writeFileSync(join(scenarios, "lost.yaml"), scenario.replace("notes-server@1.0.0", "notes-server@9.9.9"));
  const file = join(cache, "lost");
  writeFileSync(file, "a file where the folder of the package should be");
  try {
    const bench = await measured([]);
    expect(bench.rows.find((row) => row.server === "lost")).toMatchObject({ configuration: "direct", calls: [] });
    expect(frictionText(bench)).toContain("not played: lost (direct): ");
    expect(bench.rows.find((row) => row.server === "notes")?.calls).toHaveLength(5);
  } finally {
    rmSync(join(scenarios, "lost.yaml"));
    rmSync(file);
  }
}, 60_000);

describe("names on the command line", () => {
  const asked = (words: Parameters<typeof frictionOutcome>[0]) =>
    frictionOutcome(words, () => ok(undefined), scenarios);

  it("must be servers and configurations that there are", async () => {
    expect(await asked({ servers: "notes,none" })).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining("no server `none`: choose among notes"),
    });
    expect(await asked({ configurations: "x" })).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining("no configuration `x`: choose among default"),
    });
  });
});

describe("what a call came to is read from the sentence for the agent", () => {
  const text = (words: string, isError = true) => ({
    value: { content: [{ type: "text", text: words }], isError },
    failed: isError,
  });

  it("asked, blocked, answered", () => {
    const ask =
      "Not executed, approval required: nothing in the policy says what `a.b` does. Approve with `sluicegate approve k-9`, then repeat the same call. (decision d-1)";
    expect(said(text(ask))).toEqual({ kind: "asked", id: "k-9", why: "nothing in the policy says what `a.b` does" });
    expect(
      said(text("Not executed: no letters. Go on without it, or ask the user how to proceed. (decision d-2)")),
    ).toEqual({ kind: "blocked", why: "no letters" });
    expect(said(text("Not sent yet: the call waits in the outbox. Go on; do not repeat it. (decision d-3)")).kind).toBe(
      "asked",
    );
    expect(said(text("Not executed: says the server itself")).kind).toBe("answered");
    expect(said(text("fine", false)).kind).toBe("answered");
  });

  it("answers are compared without their metadata and without what differs by nature", () => {
    const answer = { value: { _meta: { a: 1 }, content: [{ type: "text", text: "pid 17" }] }, failed: false };
    expect(comparable(answer, [/pid \d+/g])).toBe('{"content":[{"type":"text","text":"*"}]}');
  });
});

describe("arguments that follow from answers", () => {
  const answers = [
    { text: '{"a":[{"b":3}]}', structured: undefined },
    { text: "id: x1", structured: { c: ["d"] } },
    undefined,
  ];

  it("take a part, a piece of text, or stand inside other text", () => {
    expect(
      resolved(
        { n: "{1/a/0/b}", t: "{2~id: (\\w{2})}", in: "no {1/a/0/b} of {2/c/0}", deep: [{ x: "{2/c}" }] },
        answers,
      ),
    ).toEqual(ok({ n: 3, t: "x1", in: "no 3 of d", deep: [{ x: ["d"] }] }));
    expect(resolved({ plain: "{Status} = 'free'" }, answers)).toEqual(ok({ plain: "{Status} = 'free'" }));
  });

  it.each(["{1/a/9/b}", "{3/x}", "{9/x}", "{2~no (\\d+)}", "{2~(}"])("are not guessed: %s", (reference) => {
    expect(resolved({ a: reference }, answers)).toMatchObject({ ok: false });
  });
});

describe("scenarios", () => {
  it("of the package: 24 servers or more, half of them networked, six calls or more each", () => {
    const read = readFrictionScenarios(join(packageFolder, "scenarios", "friction"));
    const found = read.ok ? read.value : [];
    expect(found.length).toBeGreaterThanOrEqual(24);
    expect(found.filter((one) => one.reach === "network").length * 2).toBeGreaterThanOrEqual(found.length);
    expect(found.filter((one) => one.calls.length < 6).map((one) => one.name)).toEqual([]);
  });

  it.each([
    ["package: notes-server@1.0.0", "package: notes-server", "`package` is PACKAGE@VERSION"],
    ["reach: network", "reach: far", "`reach` is local or network"],
    ["get: /find", "look: /find", "answer 1 of the fake: it needs a method"],
    ["get: /find", "get: '('", "its path is not a pattern"],
    ["call: find_note", "with: {}", "call 1 needs `call` and `with`"],
    ["version: 1", "paceMs: 1e9", "`paceMs` is at most 5000"],
    ["version: 1", "mask: ['(']", "`mask` patterns"],
    ["version: 1", "env: { A: 1 }", "args, env and files hold texts"],
  ])("are read strictly: %s as %s", (from, to, error) => {
    const place = mkdtempSync(join(folder, "bad-"));
    writeFileSync(join(place, "bad.yaml"), scenario.replace(from, to));
    expect(readFrictionScenarios(place)).toMatchObject({ ok: false, error: expect.stringContaining(error) });
  });
});
