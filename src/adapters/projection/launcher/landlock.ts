/**
 * Fences this process and all that it starts by Landlock (landlock(7)): used for the files of a server where no
 * namespaces may be made. Stays in force for good. It covers files from version 1 on, truncation from 3, devices from
 * 5, signals and abstract sockets from 6; no version covers UDP, permissions or times of files, which the filter and
 * the trace watch.
 */
import { closeSync, constants, openSync, statSync } from "node:fs";
import { err, ok, type Result } from "../../../core/result.ts";
import type { LauncherNative } from "./native-calls.ts";

/** LANDLOCK_ACCESS_FS_*: linux/landlock.h. */
const right = { execute: 1, writeFile: 2, readFile: 4, readFolder: 8, truncate: 1 << 14, ioctl: 1 << 15 };
const oPath = 0o10000000; // O_PATH
const closeOnExec = 0o2000000;
const versionFlag = 1;

export type Fence = { readonly read: readonly string[]; readonly write: readonly string[] };

/**
 * Restricts this process to the paths of a fence; paths that do not exist are left out. The error is a sentence; then
 * nothing is restricted.
 */
export function restrictByLandlock(native: LauncherNative, { read, write }: Fence): Result<void, string> {
  const version = landlockVersion(native);
  if (version < 1) return err("The kernel has no Landlock. Start it with `lsm=landlock,...` or install bubblewrap.");
  const handled = handledRights(version);
  const attributes = new DataView(new ArrayBuffer(24)); // struct landlock_ruleset_attr
  attributes.setBigUint64(0, BigInt(handled), true);
  // Scoped: abstract sockets (1) and signals (2) of others.
  if (version >= 6) attributes.setBigUint64(16, 3n, true);
  const bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const ruleset = native.landlockCreate(Buffer.from(attributes.buffer), bytes, 0);
  if (ruleset < 0) return err(`The kernel refused a Landlock ruleset (error ${-ruleset}).`);
  const reading = right.execute | right.readFile | right.readFolder;
  for (const path of read) allow(native, ruleset, path, reading & handled);
  for (const path of write) allow(native, ruleset, path, handled);
  const fault = native.landlockRestrict(ruleset);
  closeSync(ruleset);
  return fault === 0 ? ok(undefined) : err(`The kernel refused to enforce Landlock (error ${fault}).`);
}

/** 0 where there is none. */
export function landlockVersion(native: LauncherNative): number {
  return Math.max(0, native.landlockCreate(null, 0, versionFlag));
}

function handledRights(version: number): number {
  const plain = 0x1fff;
  const added = [
    [2, 1 << 13],
    [3, right.truncate],
    [5, right.ioctl],
  ] as const;
  return added.reduce((sum, [since, flag]) => (version >= since ? sum | flag : sum), plain);
}

function allow(native: LauncherNative, ruleset: number, path: string, rights: number): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, oPath | closeOnExec | constants.O_RDONLY);
  } catch {
    return;
  }
  // Rights of folders are an error on a file.
  const folder = statSync(path).isDirectory();
  const fileRights = right.execute | right.writeFile | right.readFile | right.truncate | right.ioctl;
  const allowed = folder ? rights & ~(1 << 6) & ~(1 << 11) : rights & fileRights;
  const rule = new DataView(new ArrayBuffer(12)); // struct landlock_path_beneath_attr, packed
  rule.setBigUint64(0, BigInt(allowed), true);
  rule.setInt32(8, descriptor, true);
  native.landlockAdd(ruleset, 1, Buffer.from(rule.buffer));
  closeSync(descriptor);
}
