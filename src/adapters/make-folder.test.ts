import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeFolder } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "sg-folder-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("every level that is missing is made, with the mode, and what is there stays", () => {
  mkdirSync(join(root, "old"), { mode: 0o755 });
  makeFolder(join(root, "old", "new", "deep"), 0o700);
  expect(statSync(join(root, "old")).mode & 0o777).toBe(0o755);
  expect(statSync(join(root, "old", "new")).mode & 0o777).toBe(0o700);
  makeFolder(join(root, "old", "new", "deep"), 0o755);
  expect(statSync(join(root, "old", "new", "deep")).mode & 0o777).toBe(0o700);
});

test("a file in the way is an error", () => {
  writeFileSync(join(root, "file"), "");
  expect(() => makeFolder(join(root, "file", "below"))).toThrow("ENOTDIR");
});

test.skipIf(process.platform !== "linux")("a file system that answers ENOENT is an error, and no endless loop", () => {
  expect(() => makeFolder("/proc/no/such/folder")).toThrow("ENOENT");
});
