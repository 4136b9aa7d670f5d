/** Mounts that the launcher makes in its own mount namespace, invisible outside. */
import { mkdirSync } from "node:fs";
import { err, ok, type Result } from "../../../core/result.ts";
import type { LauncherNative } from "./native-calls.ts";
import type { MountStep } from "../parts.ts";

/** MS_NOSUID | MS_NODEV: sys/mount.h. */
const hardened = 2 | 4;

/** Mounts a tmpfs; `data` are its mount options (tmpfs(5)). The error is a sentence. */
export function makeTmpfs(native: LauncherNative, target: string, data: string): Result<void, string> {
  const fault = native.mount({ type: "tmpfs", target, flags: hardened, data });
  return fault === 0 ? ok(undefined) : err(`A private folder in memory could not be mounted (error ${fault}).`);
}

/** In order. An error is a sentence; mounts made before it end with the process. */
export function makeMounts(native: LauncherNative, steps: readonly MountStep[]): Result<void, string> {
  for (const step of steps) {
    const made = makeMount(native, step);
    if (!made.ok) return made;
  }
  return ok(undefined);
}

function makeMount(native: LauncherNative, step: MountStep): Result<void, string> {
  switch (step.kind) {
    case "folder":
      mkdirSync(step.target, { recursive: true });
      return ok(undefined);
    case "tmpfs":
      return makeTmpfs(native, step.target, `mode=0700,size=${step.sizeMb}m`);
    case "overlay": {
      const fault = native.mount({ type: "overlay", target: step.target, flags: hardened, data: overlayOptions(step) });
      if (fault === 0) return ok(undefined);
      return err(`The workspace could not be projected (error ${fault}). It needs Linux 5.11 or newer.`);
    }
  }
}

/** `userxattr` lets an unprivileged mounter keep its marks (overlayfs.rst); `:` and `,` in a path part options. */
export function overlayOptions({ lower, upper, work }: Extract<MountStep, { kind: "overlay" }>): string {
  const escaped = (path: string): string => path.replace(/[\\:,]/g, "\\$&");
  return `lowerdir=${escaped(lower)},upperdir=${escaped(upper)},workdir=${escaped(work)},userxattr`;
}
