// What a server writes, from the call to the workspace: through the whole gateway, with server-filesystem.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { until } from "../../process/fixture/world.ts";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { best, objectionsIn, ownWord, Stage, type Said } from "../../kit/gateway/stage.ts";

const main = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const run = promisify(execFile);

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

type Opened = {
  readonly stage: Stage;
  readonly file: (name: string) => string;
  readonly read: (name: string) => string | undefined;
  readonly write: (name: string, content: string) => Promise<Said>;
};

async function open(workspace: JsonObject = {}, more: JsonObject = {}): Promise<Opened> {
  const opened = await Stage.open({
    policy: {
      version: 1,
      extends: ["default"],
      servers: { filesystem: { pack: "filesystem" } },
      ...more,
      isolation: { servers: { filesystem: { files: { workspace } } } },
    },
    servers: { filesystem: { command: [process.execPath, main, "."] } },
  });
  stage = opened;
  const file = (name: string): string => join(opened.workspace, name);
  writeFileSync(file("note.txt"), "as it was\n");
  await opened.connect("filesystem");
  return {
    stage: opened,
    file,
    read: (name) => (existsSync(file(name)) ? readFileSync(file(name), "utf8") : undefined),
    write: (name, content) => opened.call("filesystem", "write_file", { path: file(name), content }),
  };
}

/** The command that a person runs, over the state folder of the gateway; both of its streams. */
async function changes(opened: Stage, ...words: readonly string[]): Promise<string> {
  const env = { ...process.env, SLUICEGATE_HOME: opened.state };
  const done = await run(process.execPath, [launcher, "changes", ...words], { env }).catch(
    // A failed command rejects with what it printed.
    (failed: { stdout: string; stderr: string }) => failed,
  );
  return `${done.stdout}${done.stderr}`;
}

describe.skipIf(!best)("writes of a server (need tier A)", () => {
  test("are in the workspace before the result is with the agent", async () => {
    const { read, write } = await open();
    for (const round of [1, 2, 3]) {
      expect((await write("note.txt", `round ${round}\n`)).isError).toBe(false);
      expect(read("note.txt")).toBe(`round ${round}\n`);
    }
    expect((await write("new.txt", "new")).isError).toBe(false);
    expect(read("new.txt")).toBe("new");
  });

  test("of a rejected call never arrive, and the server is ended", async () => {
    // Labelled as one that only reads, the tool goes beyond its labels when it writes.
    const {
      stage: opened,
      read,
      write,
    } = await open({}, { labels: { "filesystem.write_file": { effects: ["read.local"] } } });
    expect(ownWord(await write("note.txt", "planted"))).toBe("rejected");
    expect(read("note.txt")).toBe("as it was\n");
    const after = await opened.call("filesystem", "list_allowed_directories");
    expect(after.isError).toBe(true);
    await until(() => opened.tierOf("filesystem") === undefined);
    expect(read("note.txt")).toBe("as it was\n");
    expect(await changes(opened)).toContain("No change waits");
  });

  test("wait for a person under `commit: review`, who sees them and decides", async () => {
    const { stage: opened, read, write } = await open({ commit: "review" });
    const said = await write("note.txt", "as it is\n");
    expect(said.isError).toBe(false);
    expect(read("note.txt")).toBe("as it was\n");
    expect(JSON.stringify(said.value)).toContain("waits for review");
    const listed = await changes(opened);
    expect(listed).toContain("filesystem");
    const value: unknown = JSON.parse(await changes(opened, "--json"));
    const [held] = (value as { changes: { id: string }[] }).changes; // the output of our own command
    const shown = await changes(opened, "show", held?.id ?? "");
    expect(shown).toContain("note.txt");
    expect(shown).toMatch(/- ?as it was/);
    expect(shown).toMatch(/\+ ?as it is/);
    expect(await changes(opened, "apply", held?.id ?? "")).toContain("1 change is in the workspace");
    expect(read("note.txt")).toBe("as it is\n");
    expect(await changes(opened)).toContain("No change waits");
  });

  test("meet an edit from outside as a conflict: nothing is lost, and the agent is told", async () => {
    const { stage: opened, file, read, write } = await open();
    expect((await write("note.txt", "first\n")).isError).toBe(false);
    writeFileSync(file("note.txt"), "edited by a person\n");
    const said = await write("note.txt", "second\n");
    const kept = read("note.txt") === "edited by a person\n";
    expect([said.isError, kept]).toEqual([true, true]);
    expect(said.text).toContain("not taken over");
    expect(said.text).toContain("sluicegate changes");
    const value: unknown = JSON.parse(await changes(opened, "--json"));
    const [held] = (value as { changes: { id: string }[] }).changes; // the output of our own command
    expect(await changes(opened, "show", held?.id ?? "")).toContain("second");
  });

  test("to what other programs obey are rejected, even where labels do not see it coming", async () => {
    const blind = { "filesystem.write_file": { effects: ["write.local"], args: { path: "content" } } };
    for (const name of [".git/hooks/pre-commit", ".mcp.json", "CLAUDE.md"]) {
      const { stage: opened, file, read, write } = await open({}, { labels: blind });
      mkdirSync(file(".git/hooks"), { recursive: true });
      const said = await write(name, "#!/bin/sh\n");
      expect([ownWord(said), said.text], name).toEqual(["rejected", expect.any(String)]);
      expect(read(name), name).toBeUndefined();
      const found = objectionsIn(await opened.records());
      expect(found.join(), name).toMatch(/SG-SCOPE-WORKSPACE workspace\.guarded/);
      await opened.close();
      stage = undefined;
    }
  });

  test("arrive at the end of the run under `per: run`", async () => {
    const { stage: opened, read, write } = await open({ per: "run" });
    expect((await write("note.txt", "one\n")).isError).toBe(false);
    expect((await write("other.txt", "two\n")).isError).toBe(false);
    expect([read("note.txt"), read("other.txt")]).toEqual(["as it was\n", undefined]);
    const seen = await opened.call("filesystem", "read_text_file", { path: join(opened.workspace, "note.txt") });
    expect(seen.text).toContain("one");
    opened.disconnect("filesystem");
    await until(() => read("other.txt") !== undefined);
    expect([read("note.txt"), read("other.txt")]).toEqual(["one\n", "two\n"]);
    expect(await changes(opened)).toContain("No change waits");
  });

  test("D26: of an answered call wait for the user where a later call of the run is rejected", async () => {
    const labels = { "filesystem.create_directory": { effects: ["read.local"] } };
    const { stage: opened, file, read, write } = await open({ per: "run" }, { labels });
    expect((await write("note.txt", "answered\n")).isError).toBe(false);
    const said = await opened.call("filesystem", "create_directory", { path: file("planted") });
    expect(ownWord(said)).toBe("rejected");
    expect(said.text).toContain("waits for review");
    await until(() => opened.tierOf("filesystem") === undefined);
    expect([read("note.txt"), existsSync(file("planted"))]).toEqual(["as it was\n", false]);
    const value: unknown = JSON.parse(await changes(opened, "--json"));
    const [held] = (value as { changes: { id: string }[] }).changes; // the output of our own command
    const shown = await changes(opened, "show", held?.id ?? "");
    expect(shown).toMatch(/\+ ?answered/);
    expect(shown).not.toContain("planted");
    expect(await changes(opened, "apply", held?.id ?? "")).toContain("1 change is in the workspace");
    expect(read("note.txt")).toBe("answered\n");
  });
});
