import { closeSync, constants, fsyncSync, openSync } from "node:fs";

/** Answers of systems that cannot sync a folder: its names are as durable there as they can be made. */
const unsupported = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EBADF"]);

/**
 * Makes the names in a folder durable, where the system can: Windows opens no folder, and some network and shared file
 * systems refuse to sync one. Throws the system's error where the disk fails.
 */
export function syncFolder(path: string, sync: (descriptor: number) => void = fsyncSync): void {
  if (process.platform === "win32") return;
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    sync(descriptor);
  } catch (cause) {
    if (!unsupported.has(cause instanceof Error && "code" in cause ? String(cause.code) : "")) throw cause;
  } finally {
    closeSync(descriptor);
  }
}
