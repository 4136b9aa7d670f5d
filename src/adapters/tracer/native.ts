/**
 * The few functions of the C library that the launcher and the supervisor need. Only those processes may load this: a
 * mistake in a call by foreign function interface ends the process, which must never be the gateway.
 *
 * Addresses are numbers; user space ends below 2^48, so they are exact.
 */
import { createRequire } from "node:module";
import { err, ok, type Result } from "../../core/result.ts";

/** Memory outside of the garbage collector, so that its address does not change. */
export type Arena = { readonly address: number; readonly bytes: Buffer; readonly view: DataView };

export type Native = {
  readonly prctl: (option: number, a: number, b: number, c: number, d: number) => number;
  readonly seccomp: (operation: number, flags: number, argument: number) => number;
  readonly pidfdOpen: (pid: number) => number;
  readonly pidfdGetfd: (pidfd: number, fd: number) => number;
  readonly poll: (entries: number, count: number, waitMs: number) => number;
  readonly ioctl: (fd: number, request: number, argument: number) => number;
  /** One local buffer, several remote ones (process_vm_readv(2)). */
  readonly readMemory: (pid: number, local: number, remote: number, remoteCount: number) => number;
  readonly readLink: (path: number, out: number, size: number) => number;
  readonly open: (path: number, flags: number) => number;
  readonly openIn: (folder: number, path: number, how: number) => number;
  readonly access: (fd: number, path: number, mode: number, flags: number) => number;
  readonly socketOption: (fd: number, level: number, name: number, value: number, length: number) => number;
  /** Lets this thread alone be judged by file permissions as a user and a group (setfsuid(2)); needs root. */
  readonly actAs: (user: number, group: number) => void;
  /** Drops the supplementary groups of this thread alone; needs root. */
  readonly leaveGroups: () => void;
  readonly eventDescriptor: () => number;
  /** A file in memory without a name (memfd_create(2)); below zero where there can be none. */
  readonly memoryFile: () => number;
  /** Reads eight bytes, as an event descriptor gives them. */
  readonly readWord: (fd: number, out: number) => number;
  readonly close: (fd: number) => number;
  readonly unmap: (address: number, bytes: number) => number;
  /** Maps a file for reading and writing, shared with every process that has it open. */
  readonly mapFile: (fd: number, bytes: number) => Arena | undefined;
  readonly allocate: (bytes: number) => Arena | undefined;
  /** Error number of the last call in this thread. */
  readonly errorNumber: () => number;
};

// Numbers of calls without a wrapper in older C libraries; equal on both architectures, except seccomp's.
const numbers = {
  x64: { seccomp: 317, setgroups: 116, access: 439, openat2: 437, pidfdOpen: 434, pidfdGetfd: 438 },
  arm64: { seccomp: 277, setgroups: 159, access: 439, openat2: 437, pidfdOpen: 434, pidfdGetfd: 438 },
} as const;

/** `sizeof(struct open_how)`. */
const openHowBytes = 24;

/** Loads the functions. The error is one sentence on why that is impossible here. */
export function openNative(): Result<Native, string> {
  const number = process.arch === "x64" || process.arch === "arm64" ? numbers[process.arch] : undefined;
  if (process.platform !== "linux" || number === undefined) {
    return err(
      `System calls can be traced on Linux on x64 and arm64 only, not on ${process.platform} ${process.arch}.`,
    );
  }
  try {
    // The package is optional, so only a require at run time can find out whether it is there.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the package's own types say what it gives
    const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
    return ok(bind(koffi, number));
  } catch {
    return err("The optional package koffi could not be loaded. Install it with `npm install koffi`.");
  }
}

function bind(koffi: typeof import("koffi"), number: (typeof numbers)["x64" | "arm64"]): Native {
  const library = koffi.load(null);
  const syscall = library.func("long syscall(long, long, long, long, long, long)");
  const access = (fd: number, path: number, mode: number, flags: number): number =>
    syscall(number.access, fd, path, mode, flags, 0);
  const mmap = library.func("intptr_t mmap(intptr_t, size_t, int, int, int, long)");
  const eventfd = library.func("int eventfd(unsigned int, int)");
  const readv = library.func("long process_vm_readv(int, intptr_t, ulong, intptr_t, ulong, ulong)");
  const memfd = library.func("int memfd_create(str, uint)");
  const read = library.func("long read(int, intptr_t, size_t)");
  const asUser = library.func("int setfsuid(uint)");
  const asGroup = library.func("int setfsgid(uint)");
  const open = library.func("int open(intptr_t, int)");
  const arena = (fd: number, bytes: number, flags: number): Arena | undefined => {
    const address: number = mmap(0, bytes, 3, flags, fd, 0);
    if (address === -1) return undefined;
    const memory = koffi.view(address, bytes);
    return { address, bytes: Buffer.from(memory), view: new DataView(memory) };
  };
  return {
    prctl: library.func("int prctl(int, ulong, ulong, ulong, ulong)"),
    seccomp: (operation, flags, argument) => syscall(number.seccomp, operation, flags, argument, 0, 0),
    pidfdOpen: (pid) => syscall(number.pidfdOpen, pid, 0, 0, 0, 0),
    pidfdGetfd: (pidfd, fd) => syscall(number.pidfdGetfd, pidfd, fd, 0, 0, 0),
    poll: library.func("int poll(intptr_t, ulong, int)"),
    ioctl: library.func("int ioctl(int, ulong, intptr_t)"),
    readMemory: (pid, local, remote, remoteCount) => readv(pid, local, 1, remote, remoteCount, 0),
    readLink: library.func("long readlink(intptr_t, intptr_t, size_t)"),
    open: (path, flags) => open(path, flags),
    openIn: (folder, path, how) => syscall(number.openat2, folder, path, how, openHowBytes, 0),
    access,
    socketOption: library.func("int getsockopt(int, int, int, intptr_t, intptr_t)"),
    actAs: (user, group) => {
      asGroup(group);
      asUser(user);
    },
    // The wrapper of the C library would do it in every thread.
    leaveGroups: () => void syscall(number.setgroups, 0, 0, 0, 0, 0),
    eventDescriptor: () => eventfd(0, 0x80800), // EFD_CLOEXEC | EFD_NONBLOCK, equal on both architectures
    memoryFile: () => {
      // MFD_CLOEXEC | MFD_NOEXEC_SEAL; kernels before 6.3 do not know the second.
      const sealed: number = memfd("sluicegate-record", 0x9);
      return sealed >= 0 ? sealed : memfd("sluicegate-record", 0x1);
    },
    readWord: (fd, out) => read(fd, out, 8),
    close: library.func("int close(int)"),
    unmap: library.func("int munmap(intptr_t, size_t)"),
    mapFile: (fd, bytes) => arena(fd, bytes, 0x01),
    allocate: (bytes) => arena(-1, bytes, 0x22),
    errorNumber: () => koffi.errno(),
  };
}
