/**
 * Secret keys as files of their own: mode 0600 in a folder of mode 0700, made in one step so that two processes never
 * end with two keys, and refused where other users could read them.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { makeFolder } from "../make-folder.ts";
import { syncFolder } from "../sync-folder.ts";

const isWindows = process.platform === "win32";

/** Sentence on why a key or folder cannot be used. */
export type KeyFailure = string;

function reasonOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "an unknown error";
}

/** Makes a private folder, or checks that an existing one is private. */
export function privateFolder(path: string): Result<void, KeyFailure> {
  try {
    makeFolder(path, 0o700);
    // The bits for group and others; Windows keeps access rights elsewhere.
    if (!isWindows && (statSync(path).mode & 0o077) !== 0) {
      return err(`Others can look into ${path}, which holds keys and logs. Run \`chmod 700\` on it and start again.`);
    }
    return ok(undefined);
  } catch (cause) {
    return err(`The folder ${path} cannot be made or read (${reasonOf(cause)}). Check its owner and try again.`);
  }
}

function writeNew(path: string, content: Uint8Array): void {
  const draft = `${path}.${randomBytes(6).toString("hex")}.new`;
  const file = openSync(draft, "wx", 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    // A link fails if the name exists, a rename would silently replace the key another process is using.
    linkSync(draft, path);
  } catch (cause) {
    if (reasonOf(cause) !== "EEXIST") throw cause;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(path));
}

/** The content of a key file, which is made by `create` if it does not exist. */
export function keyFile(path: string, create: () => Uint8Array): Result<Buffer, KeyFailure> {
  try {
    if (!existsSync(path)) writeNew(path, create());
    // Reading a pipe would wait for a writer.
    if (!statSync(path).isFile()) return err(`The key ${path} is no file: restore it from a backup, or remove it.`);
    if (!isWindows && (statSync(path).mode & 0o077) !== 0) {
      return err(`Others can read the key ${path}. Run \`chmod 600\` on it, and think of it as known to them.`);
    }
    return ok(readFileSync(path));
  } catch (cause) {
    return err(`The key ${path} cannot be read or made (${reasonOf(cause)}). Check its owner and the free space.`);
  }
}
