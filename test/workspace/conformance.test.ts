/** What every projection of a workspace does, an overlay or a copy, whoever the server runs as. */
import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { applyHeld, diffOf, dropHeld, listHeld } from "../../src/adapters/workspace/commit/held.ts";
import { type Edit, anyEdit, applyEdits, treeOf } from "./edits.ts";
import { type Bench, kinds, must, tick, Workbench } from "./kit.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const origin = { server: "files", call: "call-1", run: "run-1" };
const write = (path: string, text: string): Edit => ({ kind: "write", path, text });
const folder = (path: string): Edit => ({ kind: "folder", path });
const remove = (path: string): Edit => ({ kind: "remove", path });

const workbench = new Workbench();
afterEach(() => workbench.clear());
afterAll(() => workbench.close());

async function commit(bench: Bench): Promise<readonly string[]> {
  return must(await bench.projection.conclude("commit", origin)).committed.toSorted();
}

async function kindsOf(bench: Bench): Promise<Readonly<Record<string, string>>> {
  const all = must(await bench.projection.changes());
  return Object.fromEntries(all.map((one) => [one.path, one.guarded ? `${one.kind} guarded` : one.kind]));
}

describe.each(kinds())("a projection of a workspace: $name", (kind) => {
  it("shows what was added, changed and deleted, and only that", async () => {
    const bench = await workbench.start(kind, [write("a", "1"), write("b", "1"), folder("d"), write("d/x", "1")]);
    expect(await kindsOf(bench)).toEqual({});
    expect(bench.projection.isUntouched?.() ?? false).toBe(kind.how === "overlay");
    await bench.edit(write("a", "2"), { kind: "touch", path: "b" }, write("n", "new"), remove("d"), folder("d"), {
      kind: "link",
      path: "l",
      target: "a",
    });
    expect(await kindsOf(bench)).toEqual({ a: "modified", n: "added", "d/x": "deleted", l: "link" });
    expect(treeOf(bench.folder)).toContain('a 644 "1"');
  });

  it("commits exactly what was edited, call after call", async () => {
    const edits = fc.array(anyEdit, { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(edits, fc.array(edits, { minLength: 1, maxLength: 3 }), async (before, calls) => {
        const bench = await workbench.start(kind, before);
        const plain = `${bench.folder}-plain`;
        mkdirSync(plain);
        applyEdits(plain, before);
        for (const call of calls) {
          await bench.edit(...call);
          applyEdits(plain, call);
          const changed = must(await bench.projection.changes()).length > 0;
          if (changed) expect(bench.projection.isUntouched?.() ?? false).toBe(false);
          const verdict = must(await bench.projection.conclude("commit", origin));
          expect(verdict.held).toEqual([]);
          expect(treeOf(bench.folder)).toEqual(treeOf(plain));
          expect(must(await bench.projection.changes())).toEqual([]);
        }
        await workbench.clear();
      }),
      { numRuns: Math.max(4, Math.floor(runs / 10)) },
    );
  }, 60_000);

  it("never writes what a user's programs obey, and keeps it to be looked at", async () => {
    const bench = await workbench.start(kind, [write("note", "1")]);
    await bench.edit(
      folder(".git"),
      folder(".git/hooks"),
      write(".git/hooks/post-commit", "evil"),
      write(".mcp.json", "{}"),
      write("Claude.MD", "obey"),
      { kind: "link", path: "out", target: "/etc" },
      { kind: "link", path: "up", target: "../x" },
      { kind: "pipe", path: "pipe" },
      write("tool", "x"),
      { kind: "mode", path: "tool", mode: 0o4755 },
      write("note", "2"),
    );
    const seen = await kindsOf(bench);
    expect(
      Object.keys(seen)
        .filter((path) => seen[path]?.endsWith("guarded"))
        .toSorted(),
    ).toEqual(
      [".git/hooks", ".git/hooks/post-commit", ".mcp.json", "Claude.MD", "out", "pipe", "tool", "up"].toSorted(),
    );
    expect(await commit(bench)).toEqual([".git", "note"]);
    expect(treeOf(bench.folder)).toEqual([".git/ 755", 'note 644 "2"']);
    const [held] = listHeld(bench.state);
    expect(held?.files.length).toBe(8);
    const applied = must(await applyHeld(bench.state, held?.id ?? "", true));
    expect(applied.committed).toEqual([]);
  });

  it("never commits a repository that lies below the workspace, nor the part of one that is there", async () => {
    const bare = [folder("old"), write("old/HEAD", "ref: refs/heads/main\n"), write("plain", "x")];
    const bench = await workbench.start(kind, bare);
    await bench.edit(
      folder("docs"),
      write("docs/HEAD", "ref: refs/heads/main\n"),
      write("docs/config", '[core]\n  fsmonitor = "touch /tmp/run"\n'),
      folder("docs/refs"),
      folder("docs/objects"),
      folder(".hg"),
      write(".hg/hgrc", "[hooks]\nupdate = touch /tmp/run\n"),
      folder("old/hooks"),
      write("old/hooks/post-checkout", "touch /tmp/run"),
      write("old/config", "[a]\nb = c\n"),
      { kind: "link", path: "HEAD", target: "plain" },
      folder("notes"),
      write("notes/HEAD", "The head of this text"),
      write("notes/config", "colour: blue"),
    );
    const seen = await kindsOf(bench);
    const guarded = Object.keys(seen).filter((path) => seen[path]?.endsWith("guarded"));
    const refused = [
      ".hg/hgrc",
      "HEAD",
      "docs/HEAD",
      "docs/config",
      "old/config",
      "old/hooks",
      "old/hooks/post-checkout",
    ];
    expect(guarded.toSorted()).toEqual(refused.toSorted());
    await commit(bench);
    expect(treeOf(bench.folder).filter((line) => refused.some((path) => line.startsWith(`${path} `)))).toEqual([]);
    expect(readFileSync(join(bench.folder, "notes/HEAD"), "utf8")).toBe("The head of this text");
  });

  it("lets an operator name a guarded file that exists, and none that does not", async () => {
    const before = [write(".npmrc", "a")];
    const bench = await workbench.start(kind, before, { writes: ["./.npmrc", "./.envrc", "./**"] });
    await bench.edit(write(".npmrc", "b"), write(".envrc", "x"));
    expect(await kindsOf(bench)).toEqual({ ".npmrc": "modified", ".envrc": "added guarded" });
  });

  it("holds what was changed outside meanwhile, and keeps both versions", async () => {
    const bench = await workbench.start(kind, [write("a", "1"), write("b", "1"), write("c", "1")]);
    await bench.edit(write("a", "server"), write("b", "server"), remove("c"), write("n", "server"));
    await bench.projection.changes();
    await tick();
    writeFileSync(join(bench.folder, "a"), "person");
    writeFileSync(join(bench.folder, "c"), "person");
    writeFileSync(join(bench.folder, "n"), "person");
    expect(await commit(bench)).toEqual(["b"]);
    expect(treeOf(bench.folder)).toEqual(['a 644 "person"', 'b 644 "server"', 'c 644 "person"', 'n 644 "person"']);
    const [held] = listHeld(bench.state);
    expect(held?.files.map((one) => one.path).toSorted()).toEqual(["a", "c", "n"]);
    const again = must(await applyHeld(bench.state, held?.id ?? "", false));
    expect(again.committed).toEqual([]);
    const over = must(await applyHeld(bench.state, held?.id ?? "", true));
    expect(over.committed.toSorted()).toEqual(["a", "c", "n"]);
    expect(listHeld(bench.state)).toEqual([]);
  });

  it("sees an edit outside that fell between the server's write and the first look", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("a", "server"));
    await tick();
    writeFileSync(join(bench.folder, "a"), "person");
    expect(await commit(bench)).toEqual([]);
    expect(readFileSync(join(bench.folder, "a"), "utf8")).toBe("person");
  });

  it("is not led out of the workspace by a link that was put in its way", async () => {
    const bench = await workbench.start(kind, [folder("d"), write("d/x", "1")]);
    await bench.edit(write("d/x", "server"), write("d/y", "server"));
    await bench.projection.changes();
    const outside = `${bench.folder}-outside`;
    mkdirSync(outside);
    writeFileSync(join(outside, "x"), "1");
    renameSync(join(bench.folder, "d"), join(bench.folder, "old"));
    symlinkSync(outside, join(bench.folder, "d"));
    expect(await commit(bench)).toEqual([]);
    expect(treeOf(outside)).toEqual(['x 644 "1"']);
  });

  it("keeps changes for a person, who sees a diff and applies or drops them", async () => {
    const bench = await workbench.start(kind, [write("a", "one\ntwo\n")]);
    await bench.edit(write("a", "one\nthree\n"));
    expect(must(await bench.projection.conclude("keep", origin))).toEqual({ committed: [], held: [{ path: "a" }] });
    expect(await kindsOf(bench)).toEqual({});
    const [held] = listHeld(bench.state);
    expect(held).toMatchObject({ ...origin, files: [{ path: "a", kind: "modified", bytes: 10 }] });
    const diff = must(diffOf(bench.state, held?.id ?? ""));
    expect(diff[0]?.lines).toEqual(["@@ -1,2 +1,2 @@", " one", "-two", "+three"]);
    // What builds on it waits too, until the person has said yes.
    await bench.edit(write("a", "one\nthree\nfour\n"));
    expect(await kindsOf(bench)).toEqual({ a: "modified" });
    expect(await commit(bench)).toEqual([]);
    const [first, second] = listHeld(bench.state);
    must(await applyHeld(bench.state, first?.id ?? "", false));
    must(dropHeld(bench.state, second?.id ?? ""));
    expect(listHeld(bench.state)).toEqual([]);
    expect(treeOf(bench.folder)).toEqual(['a 644 "one\\nthree\\n"']);
  });

  it("goes on from a version that a person has applied", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("a", "22"));
    await bench.projection.conclude("keep", origin);
    must(await applyHeld(bench.state, listHeld(bench.state)[0]?.id ?? "", false));
    await bench.edit(write("a", "333"));
    expect(await commit(bench)).toEqual(["a"]);
  });

  it("commits only what was shown, when the server goes on writing while it is judged", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("a", "judged"), write("b", "judged"));
    await bench.projection.changes();
    await bench.edit(write("b", "unseen"), write("c", "unseen"));
    expect(await commit(bench)).toEqual(["a"]);
    expect(treeOf(bench.folder)).toEqual(['a 644 "judged"']);
    expect(await kindsOf(bench)).toEqual({ b: "added", c: "added" });
    expect(await commit(bench)).toEqual(["b", "c"]);
  });

  it("does not show a large file again that was just committed", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("large", "x".repeat(5 * 1024 * 1024)));
    expect(await kindsOf(bench)).toEqual({ large: "added" });
    expect(await commit(bench)).toEqual(["large"]);
    expect(await kindsOf(bench)).toEqual({});
  });

  it("writes nothing any more once something was thrown away", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("a", "2"));
    expect(must(await bench.projection.conclude("discard", origin))).toEqual({ committed: [], held: [] });
    const later = await bench.projection.conclude("commit", origin);
    expect(later).toMatchObject({ ok: false, error: expect.stringContaining("restart the server") });
    expect(treeOf(bench.folder)).toEqual(['a 644 "1"']);
  });

  it("still commits after the server has ended", async () => {
    const bench = await workbench.start(kind, [write("a", "1")]);
    await bench.edit(write("a", "2"));
    await bench.end();
    expect(await commit(bench)).toEqual(["a"]);
    expect(treeOf(bench.folder)).toEqual(['a 644 "2"']);
  });

  it("leaves nothing of its own behind", async () => {
    const bench = await workbench.start(kind);
    await bench.edit(write("a", "1"));
    await commit(bench);
    await bench.projection.close();
    expect(readdirSync(join(bench.state, "projections"))).toEqual([]);
    expect(readdirSync(join(bench.state, "changes"))).toEqual([]);
    expect(readdirSync(bench.folder)).toEqual(["a"]);
  });
});
