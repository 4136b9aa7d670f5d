// `replay --run` over a real log on disk, with the keys beside it: what the command prints, and what it leaves alone.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Store } from "../../src/gateway/ports/store.ts";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { kept } from "../kit/gateway/kept-log.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";
import { unwrap } from "../kit/gateway/log-records.ts";
import { repository, Terminal } from "../kit/client/command.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

const body = `
lattice: {confidentiality: [public, private]}
labels:
  desk.look: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  post.send: {effects: write.external.send, args: {to: {role: recipient}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
`;
const closed = `  - {id: CLOSED, tier: block, when: {tool: post.send}, why: "no letters"}\n`;
/** Looks like a secret, and is none. */
const token = `ghp_${"a1B2c3D4".repeat(4)}e5F6`;
const policyText = (text: string): string => `version: 1\nextends: []\n${text}`;

/** A log with a read and a letter; the store stays open, as that of a running daemon. */
async function recorded(text = body): Promise<{ readonly store: Store; readonly run: string }> {
  const log = new FakeLog();
  const talk = new Conversation(text, { desk: ["look"], post: ["send"] }, { log });
  await talk.call("desk.look");
  await talk.call("post.send", { to: "ann@example.org" });
  return written(log);
}

async function written(log: FakeLog): Promise<{ readonly store: Store; readonly run: string }> {
  const path = join(terminal.home, "log.db");
  await kept([], { folder: terminal.home });
  const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: Date.now }));
  await kept(log.entries, { folder: terminal.home, store });
  return { store, run: log.entries[0]?.run ?? "" };
}

describe("replay --run", () => {
  test("says that all agree, and beside a writer changes nothing in the state folder", async () => {
    const { store, run } = await recorded();
    const policy = terminal.file("same.yaml", policyText(body));
    const before = stateOf();
    const ran = await terminal.run("replay", "--run", run, "--policy", policy);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toContain("All 4 decisions are the same.");
    expect(before.length).toBeGreaterThan(3);
    expect(stateOf()).toEqual(before);
    await store.close(true);
  });

  test("marks what another policy would have decided otherwise", async () => {
    const { store, run } = await recorded();
    const policy = terminal.file("closed.yaml", policyText(body + closed));
    const ran = await terminal.run("replay", "--run", run, "--policy", policy);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/^3 +call +post\.send +allow +deny +≠\n +now: `post\.send` is stopped .*no letters.*$/m);
    expect(ran.stdout).toContain("1 of 4 decisions differ.");
    expect(await terminal.json("replay", "--run", run, "--policy", policy)).toMatchObject({
      code: 1,
      value: {
        run,
        differences: 1,
        undecided: 0,
        moments: [
          { moment: "call", tool: "look", differs: false },
          { moment: "release", tool: "look", differs: false },
          {
            moment: "call",
            recorded: { verdict: "allow" },
            now: { verdict: "deny", rules: ["CLOSED"] },
            differs: true,
          },
          { moment: "release", differs: false },
        ],
      },
    });
    await store.close(true);
  });

  test("takes the policy on record where none is named, whatever has become of its file", async () => {
    const { store, run } = await recorded();
    const { code, value } = await terminal.json("replay", "--run", run);
    expect(value).toMatchObject({ policy: { source: "the event log" }, differences: 0, notes: [] });
    expect(code).toBe(0);
    const kept = await terminal.run("audit", "policy", run);
    const then = terminal.file("then.json", kept.stdout.trimEnd());
    expect((await terminal.json("replay", "--run", run, "--policy", then)).value).toMatchObject({ notes: [] });
    const {
      recorded: [digest],
    } = value as { recorded: readonly string[] };
    expect(await terminal.json("audit", "policy", digest ?? "")).toMatchObject({ code: 0, value: { digest } });
    await store.close(true);
  });

  test("takes the policy in force where the log does not keep that of the run, and says when it is another one", async () => {
    const { store, run } = await recorded(
      `${body}  - {id: KEY, tier: block, when: {tool: x, arg: {k: {equals: ${token}}}}, why: "no"}\n`,
    );
    const { value } = await terminal.json("replay", "--run", run);
    expect(value).toMatchObject({
      policy: { source: "default" },
      notes: expect.arrayContaining(["The run was decided under another policy than this one."]),
    });
    const raw = readFileSync(join(terminal.home, "log.db")).toString("latin1");
    expect(raw + readFileSync(join(terminal.home, "log.db-wal")).toString("latin1")).not.toContain(token);
    expect(await terminal.json("audit", "policy", run)).toMatchObject({
      code: 2,
      value: { error: { code: "SG-AUDIT-POLICY" } },
    });
    await store.close(true);
  });

  test("writes the run as a trace that is decided alike, for its owner alone and over nothing", async () => {
    const { store, run } = await recorded();
    const policy = terminal.file("same.yaml", policyText(body));
    const file = join(terminal.root, "trace.json");
    const words = ["replay", "--run", run, "--policy", policy, "--save", file];
    const ran = await terminal.run(...words);
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining("in the clear") });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { steps } = JSON.parse(readFileSync(file, "utf8")) as { steps: unknown };
    const result = (tool: string): unknown => ({ content: [{ type: "text", text: `${tool} done` }] });
    expect(steps).toEqual([
      { server: "desk", tool: "look", arguments: {}, result: result("look") },
      { server: "post", tool: "send", arguments: { to: "ann@example.org" }, result: result("send") },
    ]);
    const again = await terminal.json("replay", file, "--policy", policy);
    expect(again).toMatchObject({ code: 0, value: { steps: [{ verdict: "allow" }, { verdict: "allow" }] } });
    expect(await terminal.json(...words)).toMatchObject({ code: 2, value: { error: { code: "SG-TRACE" } } });
    await store.close(true);
  });

  test("a pack that is tied to a tool's whole entry holds for the saved trace as it did for the run", async () => {
    const manifest = join(repository, "packs/manifests/filesystem.json");
    const { tools } = JSON.parse(readFileSync(manifest, "utf8")) as { tools: JsonObject[] };
    const [listed = {}] = tools.filter(({ name }) => name === "list_directory");
    // The default asks about what nobody labelled, so a tool whose pack is not found would be asked about.
    const text = "extends: [default, filesystem]\n";
    const log = new FakeLog();
    const talk = new Conversation(text, { files: [listed] }, { log });
    expect(await talk.call("files.list_directory", { path: "/workspace" })).toMatchObject({ refused: false });
    const { store, run } = await written(log);
    await store.close(true);
    const policy = terminal.file("pinned.yaml", `version: 1\n${text}`);
    const file = join(terminal.root, "trace.json");
    const saved = await terminal.run("replay", "--run", run, "--policy", policy, "--save", file);
    expect(saved).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^Wrote 1 call to /) });
    const { code, value } = await terminal.json("replay", file, "--policy", policy);
    expect({ code, value }).toMatchObject({ code: 0, value: { steps: [{ verdict: "allow", codes: [] }] } });
    const spoilt = readFileSync(file, "utf8").replace(/"list_directory": "[0-9a-f]+/, '"list_directory": "?');
    expect(await terminal.json("replay", terminal.file("spoilt.json", spoilt))).toMatchObject({
      code: 2,
      value: { error: { code: "SG-TRACE", message: expect.stringContaining("servers.files.digests") } },
    });
  });

  test("wants a trace or a run, and no consent of its own", async () => {
    expect(await terminal.json("replay")).toMatchObject({ code: 2, value: { error: { code: "SG-USAGE" } } });
    for (const more of [["trace.json"], ["--consent", "once"]]) {
      expect((await terminal.json("replay", "--run", "x", ...more)).value).toMatchObject({
        error: { code: "SG-USAGE" },
      });
    }
  });
});

/** Files of the log and of its keys, with their sizes. */
function stateOf(): readonly (readonly [string, number])[] {
  const names = readdirSync(terminal.home, { recursive: true, encoding: "utf8" });
  const kept = names.filter((name) => name.startsWith("log.db") || name.startsWith("keys/"));
  return kept.toSorted().map((name) => [name, statSync(join(terminal.home, name)).size]);
}
