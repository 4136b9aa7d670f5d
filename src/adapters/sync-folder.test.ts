import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { syncFolder } from "./sync-folder.ts";

const folder = (): string => mkdtempSync(join(tmpdir(), "sg-sync-"));
const answering = (code: string) => (): never => {
  throw Object.assign(new Error("no"), { code });
};

it("syncs a folder, and does without where the file system syncs none", () => {
  const synced: number[] = [];
  syncFolder(folder(), (descriptor) => void synced.push(descriptor));
  expect(synced).toHaveLength(1);
  expect(() => syncFolder(folder())).not.toThrow();
  for (const code of ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF"])
    expect(() => syncFolder(folder(), answering(code))).not.toThrow();
});

it("throws where the disk fails, or there is no such folder", () => {
  expect(() => syncFolder(folder(), answering("EIO"))).toThrow("no");
  expect(() => syncFolder(join(folder(), "none"))).toThrow("ENOENT");
});

it("opens no folder on Windows", () => {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "win32" });
  try {
    expect(() => syncFolder("/nowhere/at/all")).not.toThrow();
  } finally {
    Object.defineProperty(process, "platform", { value: platform });
  }
});
