/** A machine that gives everything that isolation can use. */
import type { Support } from "../../../src/adapters/projection/launch/support.ts";

export const fullSupport: Support = {
  platform: "linux",
  architecture: "x64",
  root: false,
  programs: {
    bwrap: "/usr/bin/bwrap",
    unshare: "/usr/bin/unshare",
    setpriv: "/usr/bin/setpriv",
    strace: "/usr/bin/strace",
  },
  koffi: true,
  landlock: 7,
  userNotify: true,
  userNamespaces: true,
  overlay: true,
  bubblewrap: true,
  strace: true,
  cgroup: "v2",
  attaches: "all",
};
