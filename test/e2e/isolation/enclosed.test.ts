// A real server without labels, in a real projection without network: what passes before any question.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { best, Stage } from "../../kit/gateway/stage.ts";

const main = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

/** Without packs, so that nothing is known of the server but what it lists. */
async function open(policy: JsonObject): Promise<(name: string) => string> {
  const opened = await Stage.open({
    policy: { version: 1, extends: [], ...policy },
    servers: { files: { command: [process.execPath, main, "."] } },
  });
  stage = opened;
  const file = (name: string): string => join(opened.workspace, name);
  writeFileSync(file("note.txt"), "as it was\n");
  writeFileSync(file("old.txt"), "to be kept\n");
  await opened.connect("files");
  return file;
}

/** Plain calls of an hour's work, and whether each came back. */
async function work(file: (name: string) => string): Promise<Readonly<Record<string, boolean>>> {
  const calls: readonly (readonly [string, JsonObject])[] = [
    ["write_file", { path: file("new.txt"), content: "as it is\n" }],
    ["list_directory", { path: file(".") }],
    ["read_text_file", { path: file("note.txt") }],
    ["search_files", { path: file("."), pattern: "*.txt" }],
    ["create_directory", { path: file("folder") }],
    ["read_text_file", { path: file("new.txt") }],
  ];
  const passed: Record<string, boolean> = {};
  for (const [index, [tool, given]] of calls.entries()) {
    const said = await stage?.call("files", tool, given);
    passed[`${index} ${tool}`] = said?.isError === false;
  }
  return passed;
}

test.skipIf(!best).each(["auto", "where-possible"])(
  "an unlabelled server without network works unasked, and what it deletes is asked about (`backend: %s`)",
  async (backend) => {
    const file = await open({ isolation: { backend } });
    const passed = await work(file);
    expect(stage?.tierOf("files")).toBe("A");
    expect(Object.entries(passed).filter(([, came]) => !came)).toEqual([]);
    expect([readFileSync(file("new.txt"), "utf8"), existsSync(file("folder"))]).toEqual(["as it is\n", true]);
    // The server itself calls this one destructive, and by now the run holds untrusted text.
    const edits = [{ oldText: "as it was", newText: "as it is" }];
    expect((await stage?.call("files", "edit_file", { path: file("note.txt"), edits }))?.isError).toBe(true);
    const moved = await stage?.call("files", "move_file", { source: file("old.txt"), destination: file("gone.txt") });
    expect(moved?.isError).toBe(true);
    expect([existsSync(file("old.txt")), existsSync(file("gone.txt"))]).toEqual([true, false]);
  },
);

test.skipIf(!best)("the same server asks about every call without isolation, and with a network", async () => {
  for (const policy of [{}, { isolation: { servers: { files: { net: { allow: ["example.com:443"] } } } } }]) {
    const passed = await work(await open(policy));
    expect(Object.values(passed).filter((came) => came)).toEqual([]);
    await stage?.close();
    stage = undefined;
  }
});
