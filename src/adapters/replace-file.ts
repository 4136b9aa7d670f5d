import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { attempt } from "./attempt.ts";
import { syncFolder } from "./sync-folder.ts";

/** Replaces a file, or makes it, for this user alone and in one step that a power cut does not undo half. Throws the system's error. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    const opened = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(draft, file);
  } catch (cause) {
    attempt(() => rmSync(draft, { force: true }), undefined);
    throw cause;
  }
  syncFolder(dirname(file));
}
