/**
 * Probes, in a process of its own, features that only foreign function calls can detect: a mistake in one ends the
 * process. Prints one line of JSON. Must run as the user of the servers.
 */
import { landlockVersion } from "./landlock.ts";
import { openLauncherNative } from "./native-calls.ts";
import type { NativeSupport } from "../launch/support.ts";

const native = openLauncherNative();
const support: NativeSupport = native.ok
  ? { koffi: true, landlock: landlockVersion(native.value), userNotify: native.value.userNotify() }
  : { koffi: false, landlock: 0, userNotify: false };
process.stdout.write(`${JSON.stringify(support)}\n`);
