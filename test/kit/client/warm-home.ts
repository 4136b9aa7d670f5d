import { mkdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Compiled code of all processes that tests start; to strip types anew takes longer than most of these processes live. */
export const sharedCache = join(tmpdir(), `sluicegate-test-cache-${process.getuid?.() ?? 0}`);

/** Makes a state folder that shares it; the launcher keeps compiled code in the state folder. */
export function makeWarmHome(home: string): void {
  mkdirSync(sharedCache, { recursive: true, mode: 0o700 });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  symlinkSync(sharedCache, join(home, "compile-cache"));
}
