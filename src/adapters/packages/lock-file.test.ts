import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contentDigest, installedFiles, seenDigest } from "./installed-files.ts";
import { type LockEntry, changeLock, lockKey, readLock, waitForLock } from "./lock-file.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sg-lock-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const entry: LockEntry = {
  ecosystem: "npm",
  wanted: ["server"],
  registry: "https://r/",
  name: "server",
  version: "1.0.0",
  integrity: "sha512-x",
  content: "sha256-x",
  seen: "sha256-y",
  folder: "npm-0123456789abcdef",
  former: "npm-0000000000000000",
  preReleases: true,
  programs: { server: "node_modules/server/index.js" },
  main: "server",
  scripts: [],
  packages: { "node_modules/server": "1.0.0" },
  resolvedAt: "2026-01-01T00:00:00.000Z",
};

describe("the lock file", () => {
  test("is empty where there is none, and reads what was written", async () => {
    expect(readLock(home)).toEqual({ ok: true, value: new Map() });
    expect((await changeLock(home, (entries) => void entries.set("b", entry))).ok).toBe(true);
    const { former: _, main: __, preReleases: ___, ...least } = entry;
    expect((await changeLock(home, (entries) => void entries.set("a", least))).ok).toBe(true);
    expect(readLock(home)).toEqual({
      ok: true,
      value: new Map([
        ["a", least],
        ["b", entry],
      ]),
    });
    expect(statSync(join(home, "sluicegate.lock")).mode & 0o777).toBe(0o600);
  });

  test("many writers at once lose no entry", async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `k${index}`);
    const done = await Promise.all(keys.map((key) => changeLock(home, (entries) => void entries.set(key, entry))));
    expect(done.every(({ ok }) => ok)).toBe(true);
    const read = readLock(home);
    expect(read.ok && [...read.value.keys()]).toEqual(keys);
  });

  // A lock that counts as empty would let everything be fetched anew without a word.
  test.each([
    ["no JSON", "{"],
    ["another version", '{"version": 2, "packages": {}}'],
    ["no packages", '{"version": 1}'],
    ["an entry that is none", '{"version": 1, "packages": {"a": 1}}'],
    ["a folder that climbs", JSON.stringify({ version: 1, packages: { a: { ...entry, folder: "../x" } } })],
    ["a former folder that climbs", JSON.stringify({ version: 1, packages: { a: { ...entry, former: "/x" } } })],
    [
      "a program that climbs",
      JSON.stringify({ version: 1, packages: { a: { ...entry, programs: { a: "x/../../y" } } } }),
    ],
    ["an absolute program", JSON.stringify({ version: 1, packages: { a: { ...entry, programs: { a: "/bin/sh" } } } })],
    ["a program that is no text", JSON.stringify({ version: 1, packages: { a: { ...entry, programs: { a: 1 } } } })],
    ["no version", JSON.stringify({ version: 1, packages: { a: { ...entry, version: "" } } })],
    ["no list", JSON.stringify({ version: 1, packages: { a: { ...entry, wanted: "server" } } })],
    ["another kind", JSON.stringify({ version: 1, packages: { a: { ...entry, ecosystem: "gem" } } })],
  ])("with %s is refused", async (_what, text) => {
    writeFileSync(join(home, "sluicegate.lock"), text);
    const read = readLock(home);
    expect(read.ok ? "" : read.error).toContain("cannot be read");
    expect((await changeLock(home, () => undefined)).ok).toBe(false);
    expect(readFileSync(join(home, "sluicegate.lock"), "utf8")).toBe(text);
  });

  test("keys tell registries, packages and pre-releases apart", () => {
    const { ecosystem, wanted } = entry;
    const keys = [
      lockKey({ ecosystem, wanted, registry: "https://a/" }),
      lockKey({ ecosystem, wanted, registry: "https://b/" }),
      lockKey({ ecosystem, wanted, registry: "https://a/", preReleases: true }),
      lockKey({ ecosystem: "pypi", wanted, registry: "https://a/" }),
    ];
    expect(new Set(keys).size).toBe(4);
  });

  test("a turn that does not come ends as a sentence", async () => {
    const held = await waitForLock(home, "x", 0);
    const second = await waitForLock(home, "x", 0);
    expect(second.ok ? "" : second.error).toContain("takes too long");
    if (held.ok) held.value.release();
    expect((await waitForLock(home, "x", 1_000)).ok).toBe(true);
    writeFileSync(join(home, "file"), "");
    expect((await waitForLock(join(home, "file"), "x", 0)).ok).toBe(false);
  });
});

describe("installed files", () => {
  const inside = { mayLeave: () => false };
  const look = async (): Promise<readonly [string, string]> => {
    const files = await installedFiles(home, inside);
    if (!files.ok) throw new Error(files.error);
    const content = await contentDigest(home, files.value, () => true);
    if (!content.ok) throw new Error(content.error);
    return [seenDigest(files.value), content.value];
  };

  test("a changed file is seen, even with its old size and time", async () => {
    const path = join(home, "a.js");
    writeFileSync(path, "one");
    symlinkSync("a.js", join(home, "b.js"));
    const before = await look();
    expect(await look()).toEqual(before);
    const { mtime } = statSync(path);
    writeFileSync(path, "two");
    utimesSync(path, mtime, mtime);
    const after = await look();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  test("new times alone change what is seen, not the content", async () => {
    writeFileSync(join(home, "a.js"), "one");
    const before = await look();
    utimesSync(join(home, "a.js"), 1, 1);
    const after = await look();
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
  });

  test.each([
    ["a link out of the folder", () => symlinkSync("/etc/passwd", join(home, "x")), "leads out of its folder"],
    ["a link that climbs", () => symlinkSync("../..", join(home, "x")), "leads out of its folder"],
    [
      "a set-user-id file",
      () => {
        writeFileSync(join(home, "x"), "");
        chmodSync(join(home, "x"), 0o4755);
      },
      "set-user-id",
    ],
    [
      "folders without end",
      () => mkdirSync(join(home, Array.from({ length: 70 }, () => "d").join("/")), { recursive: true }),
      "too deep",
    ],
  ])("%s is refused", async (_what, plant, why) => {
    plant();
    const files = await installedFiles(home, inside);
    expect(files.ok ? "" : files.error).toContain(why);
  });

  test("an interpreter may lie outside, where the kind of package says so", async () => {
    symlinkSync("/usr/bin/env", join(home, "python"));
    expect((await installedFiles(home, { mayLeave: (path) => path === "python" })).ok).toBe(true);
  });

  test("what cannot be read is an error", async () => {
    expect((await installedFiles(join(home, "none"), inside)).ok).toBe(false);
    const gone = { path: "gone", kind: "file", size: 1, times: "" } as const;
    expect((await contentDigest(home, [gone], () => true)).ok).toBe(false);
  });
});
