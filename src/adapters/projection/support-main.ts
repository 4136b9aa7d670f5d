/**
 * Finds out, in a process of its own, what only foreign function calls can find out: a mistake in one ends the process.
 * Prints one line of JSON. Run as the user that servers run as.
 */
import { landlockVersion } from "./landlock.ts";
import { openLauncherNative } from "./launcher-native.ts";
import type { NativeSupport } from "./support.ts";

const native = openLauncherNative();
const support: NativeSupport = native.ok
  ? { koffi: true, landlock: landlockVersion(native.value), userNotify: native.value.userNotify() }
  : { koffi: false, landlock: 0, userNotify: false };
process.stdout.write(`${JSON.stringify(support)}\n`);
