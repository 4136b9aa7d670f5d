/**
 * The calls of the C library and the kernel that a launcher makes. Only launchers load this: a mistake in a call by
 * foreign function interface ends the process, which must never be the gateway.
 */
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { err, ok, type Result } from "../../../core/result.ts";

export type Mount = {
  /** File system without a device, such as tmpfs. */
  readonly type: string;
  readonly target: string;
  readonly flags: number;
  readonly data: string;
};

export type LauncherNative = {
  /** mount(2); 0 or an error number. */
  readonly mount: (mount: Mount) => number;
  /** Marks every descriptor from `first` on to be closed by the next program. */
  readonly closeLater: (first: number) => void;
  /** Clears close-on-exec, so that the next program inherits the descriptor. */
  readonly handOn: (descriptor: number) => number;
  /** Clears O_NONBLOCK of an open file, which Node sets on its own standard streams and a server would inherit. */
  readonly makeBlocking: (descriptor: number) => void;
  /** A detached copy of one mount, as a descriptor; negative = error number. */
  readonly cloneTree: (path: string) => number;
  /** Owners in this mount are seen as the user namespace maps them; it obeys neither set-user-id nor device files. */
  readonly mapOwners: (tree: number, userNamespace: number) => number;
  readonly hardenTree: (tree: number) => number;
  readonly attachTree: (tree: number, path: string) => number;
  /** One prctl(2) with a plain number. */
  readonly prctl: (option: number, value: number) => number;
  /** seccomp(2) SECCOMP_SET_MODE_FILTER for the calling thread. */
  readonly setFilter: (program: Uint8Array) => number;
  /** True where a filter can ask a supervisor, who can take over its descriptor (pidfd_getfd(2)). */
  readonly userNotify: () => boolean;
  /** landlock(7). Creating gives a descriptor, or with a flag the version; negative = error number. */
  readonly landlockCreate: (attributes: Uint8Array | null, bytes: number, flags: number) => number;
  readonly landlockAdd: (ruleset: number, kind: number, rule: Uint8Array) => number;
  readonly landlockRestrict: (ruleset: number) => number;
};

/** Equal on both architectures, except seccomp's. */
const numbers = {
  closeRange: 436,
  openTree: 428,
  moveMount: 429,
  mountSetattr: 442,
  pidfdGetfd: 438,
  landlockCreate: 444,
  landlockAdd: 445,
  landlockRestrict: 446,
} as const;
const seccompNumber: Readonly<Record<string, number>> = { x64: 317, arm64: 277 };

const currentFolder = -100; // AT_FDCWD
const emptyPath = 0x1000; // AT_EMPTY_PATH
const closeOnExec = 0o2000000;
const closeRangeLater = 4; // CLOSE_RANGE_CLOEXEC
const setDescriptorFlags = 2; // F_SETFD
const getFileFlags = 3; // F_GETFL
const setFileFlags = 4; // F_SETFL
const nonBlocking = 0o4000; // O_NONBLOCK
const attribute = { noSetId: 0x2, noDevices: 0x4, mapOwners: 0x100000 }; // MOUNT_ATTR_*

export function openLauncherNative(): Result<LauncherNative, string> {
  const seccomp = seccompNumber[process.arch];
  if (process.platform !== "linux" || seccomp === undefined) {
    return err(`Isolation needs Linux on x86-64 or arm64; this is ${process.platform} on ${process.arch}.`);
  }
  try {
    // The package is optional, so only a require at run time can find out; its types say what it gives.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types say what it gives
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    return ok(bind(koffi, seccomp));
  } catch {
    return err("The optional package koffi could not be loaded. Install it with `npm install koffi`.");
  }
}

function bind(koffi: typeof import("koffi"), seccomp: number): LauncherNative {
  const library = koffi.load(null);
  const mount = library.func("int mount(str, str, str, ulong, str)");
  const fcntl = library.func("int fcntl(int, int, ...)");
  const prctl = library.func("int prctl(int, ulong, ulong, ulong, ulong)");
  const call = library.func("long syscall(long, ...)");
  const fault = (result: number): number => (result < 0 ? koffi.errno() : 0);
  const value = (result: number): number => (result < 0 ? -koffi.errno() : result);
  const setAttributes = (tree: number, set: number, userNamespace: number): number => {
    const attributes = new DataView(new ArrayBuffer(32)); // struct mount_attr
    attributes.setBigUint64(0, BigInt(set), true);
    attributes.setBigUint64(24, BigInt(userNamespace), true);
    const bytes = Buffer.from(attributes.buffer);
    const { mountSetattr } = numbers;
    return fault(call(mountSetattr, "int", tree, "str", "", "ulong", emptyPath, "void *", bytes, "ulong", 32));
  };
  const hardened = attribute.noSetId | attribute.noDevices;
  return {
    mount: ({ type, target, flags, data }) => fault(mount(type, target, type, flags, data)),
    closeLater: (first) => {
      const missing = fault(call(numbers.closeRange, "uint", first, "uint", 0xffffffff, "uint", closeRangeLater));
      // Kernels before 5.11 do not know the flag: one after the other.
      if (missing !== 0)
        for (const descriptor of openDescriptors(first)) fcntl(descriptor, setDescriptorFlags, "int", 1);
    },
    handOn: (descriptor) => fault(fcntl(descriptor, setDescriptorFlags, "int", 0)),
    makeBlocking: (descriptor) => {
      const flags = fcntl(descriptor, getFileFlags, "int", 0);
      if (flags >= 0) fcntl(descriptor, setFileFlags, "int", flags & ~nonBlocking);
    },
    cloneTree: (path) => value(call(numbers.openTree, "int", currentFolder, "str", path, "uint", 1 | closeOnExec)), // OPEN_TREE_CLONE
    mapOwners: (tree, userNamespace) => setAttributes(tree, attribute.mapOwners | hardened, userNamespace),
    hardenTree: (tree) => setAttributes(tree, hardened, 0),
    attachTree: (tree, path) =>
      fault(call(numbers.moveMount, "int", tree, "str", "", "int", currentFolder, "str", path, "uint", 4)), // F_EMPTY_PATH
    prctl: (option, argument) => fault(prctl(option, argument, 0, 0, 0)),
    setFilter: (program) => {
      const code = koffi.alloc("uint8_t", program.length);
      koffi.encode(code, koffi.array("uint8_t", program.length), program);
      const header = new DataView(new ArrayBuffer(16)); // struct sock_fprog
      header.setUint16(0, program.length / 8, true);
      header.setBigUint64(8, koffi.address(code), true);
      return fault(call(seccomp, "uint", 1, "uint", 0, "void *", Buffer.from(header.buffer)));
    },
    userNotify: () => {
      const action = Buffer.from(Uint32Array.of(0x7fc00000).buffer); // SECCOMP_RET_USER_NOTIF
      // Without the call the error is ENOSYS (38); with it the descriptor is bad.
      const known = fault(call(numbers.pidfdGetfd, "int", -1, "int", -1, "uint", 0)) !== 38;
      return known && fault(call(seccomp, "uint", 2, "uint", 0, "void *", action)) === 0;
    },
    landlockCreate: (attributes, bytes, flags) =>
      value(call(numbers.landlockCreate, "void *", attributes, "ulong", bytes, "uint", flags)),
    landlockAdd: (ruleset, kind, rule) =>
      fault(call(numbers.landlockAdd, "int", ruleset, "int", kind, "void *", rule, "uint", 0)),
    landlockRestrict: (ruleset) => fault(call(numbers.landlockRestrict, "int", ruleset, "uint", 0)),
  };
}

function openDescriptors(first: number): readonly number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => descriptor >= first);
}
