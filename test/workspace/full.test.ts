import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { kinds } from "./kit.ts";

const top = mkdtempSync(join(tmpdir(), "workspace-full-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

describe("a workspace without space", () => {
  it.skipIf(kinds().every((kind) => kind.how === "copy"))("stays as it was, and the change waits", () => {
    const [folder, state] = [join(top, "workspace"), join(top, "state")];
    for (const each of [folder, state]) mkdirSync(each);
    const script = 'mount -t tmpfs -o size=200k t "$2" && exec "$0" "$1" "$2" "$3"';
    const writer = join(import.meta.dirname, "full-writer.ts");
    const args = ["-Urm", "sh", "-c", script, process.execPath, writer, folder, state];
    const ran = spawnSync("unshare", args, { encoding: "utf8", timeout: 30_000 });
    // Written by the writer.
    const said = JSON.parse(ran.stdout) as {
      readonly concluded: unknown;
      readonly tree: unknown;
      readonly held: unknown;
    };
    const reason = "the workspace takes no more files (ENOSPC)";
    const held = ["one", "small", "three", "two"].map((path) => ({ path, reason }));
    expect(said.concluded).toEqual({ ok: true, value: { committed: [], held: expect.arrayContaining(held) } });
    expect(said.tree).toEqual(['small 644 "before"']);
    expect(said.held).toMatchObject([{ reason }]);
  });
});
