import { describe, expect, test } from "vitest";
import type { Sighting } from "../../adapters/projection/parts.ts";
import { orderOf, traceOf, workspace } from "../../../test/kit/isolation/projection-scene.ts";
import { missedFile } from "./missed-file.ts";

const { places } = traceOf();

/** Files and folders of the machine, outside of any projection. */
const outside = new Set([
  "/srv",
  "/srv/data",
  "/srv/data/in.txt",
  "/home/ana",
  "/home/ana/notes",
  "/home/ana/notes/a.md",
  "/home/ana/.ssh/id_rsa",
  "/home/ana/.npmrc",
  "/home/ana/package.json",
  "/home/ana/.bashrc",
  "/home/ana/sk-proj-4f9aB2cD8eF1gH7iJ3kL6mN0pQ5rS9tU",
  "/usr/lib/x.so",
  "/opt/server",
]);

function missed(action: Sighting["action"], path: string, more: { target?: string; read?: readonly string[] } = {}) {
  const { target, read = [] } = more;
  const seen: Sighting = {
    at: 1,
    action,
    outcome: "failed",
    grade: "hint",
    path,
    ...(target === undefined ? {} : { target }),
  };
  const order = { ...orderOf({ files: { read } }), mode: "where-possible" } as const;
  return missedFile({ order, seen, places }, (one) => outside.has(one));
}

describe("a file that an isolated server misses", () => {
  test("lies outside of its projection: to read the file, to write the folder", () => {
    expect(missed("file-read", "/srv/data/in.txt")).toEqual({
      path: "/srv/data/in.txt",
      kind: "read",
      entry: "/srv/data/in.txt",
    });
    expect(missed("file-read", "/home/ana/notes/a.md")).toEqual({
      path: "~/notes/a.md",
      kind: "read",
      entry: "~/notes/a.md",
    });
    for (const action of ["file-write", "file-create", "file-delete", "file-permissions"] as const)
      expect(missed(action, "/home/ana/notes/db.tmp"), action).toEqual({
        path: "~/notes/db.tmp",
        kind: "write",
        entry: "~/notes",
      });
    const renamed = missed("file-rename", "/tmp/x", { target: "/srv/data/../data/out" });
    expect(renamed).toEqual({ path: "/srv/data/out", kind: "write", entry: "/srv/data" });
    expect(missed("file-create", "/opt/server/data.json")).toEqual({ path: "/opt/server/data.json", kind: "own-code" });
  });

  test.each([
    ["what is nowhere", "file-read", "/srv/other"],
    ["what is in the workspace", "file-read", `${workspace}/a`],
    ["what is no path", "file-read", "in.txt"],
    ["libraries", "file-read", "/usr/lib/x.so"],
    ["what runtimes look for", "file-read", "/home/ana/package.json"],
    ["its own code, read", "file-read", "/opt/server"],
    ["a folder that is nowhere", "file-write", "/srv/none/x"],
    ["the root", "file-write", "/x"],
    ["a folder too broad for a scope", "file-write", "/home/ana/x"],
    ["a file too broad for one", "file-read", "/srv"],
  ] as const)("is not %s", (_, action, path) => {
    expect(missed(action, path)).toBeUndefined();
  });

  test("is none that gives keys away, that others obey, or whose name may be a key", () => {
    for (const name of [".ssh/id_rsa", ".npmrc", "sk-proj-4f9aB2cD8eF1gH7iJ3kL6mN0pQ5rS9tU"])
      expect(missed("file-read", `/home/ana/${name}`), name).toBeUndefined();
    expect(missed("file-write", "/home/ana/.ssh/x")).toBeUndefined();
    expect(missed("file-write", "/home/ana/.bashrc")).toBeUndefined();
  });

  test("is a file of the workspace where the scope does not show that", () => {
    const seen: Sighting = { at: 1, action: "file-read", outcome: "failed", grade: "hint", path: `${workspace}/a` };
    const order = { ...orderOf({ workspace: { mode: "none" } }), mode: "where-possible" } as const;
    expect(missedFile({ order, seen, places }, () => true)).toMatchObject({ kind: "read", entry: "~/work/a" });
  });

  test("is none that the scope names already: something else was the matter", () => {
    expect(missed("file-read", "/srv/data/in.txt", { read: ["/srv/data"] })).toBeUndefined();
    expect(missed("file-read", "/srv/data/in.txt", { read: ["/srv/data/in.txt"] })).toBeUndefined();
    expect(missed("file-read", "/srv/data/in.txt", { read: ["/srv/dat"] })).toBeDefined();
  });
});
