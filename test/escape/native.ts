/**
 * System calls that Node does not make, through koffi. Only attempts use it, each in a process of its own: a wrong
 * pointer ends that process and nothing else. x86-64 only, as the numbers of the calls are.
 */

/** A number, the bytes at a pointer, or an address that a call gave. */
export type Word = number | bigint | Uint8Array | null;

export type Native = {
  /** Result of the call; negative = minus the error number, as the kernel itself says it. */
  readonly call: (name: keyof typeof numbers, ...words: readonly Word[]) => bigint;
  /** The call by number, for those that no table has. */
  readonly numbered: (number: number, ...words: readonly Word[]) => bigint;
  /** Copies bytes to memory that stays where it is. */
  readonly place: (bytes: Uint8Array) => bigint;
  readonly write: (address: bigint, bytes: Uint8Array) => void;
  readonly bytesAt: (address: bigint, length: number) => Buffer;
  /** Jumps to machine code. */
  readonly run: (address: bigint) => number;
};

export const numbers = {
  open: 2,
  close: 3,
  mmap: 9,
  ioctl: 16,
  shmget: 29,
  shmat: 30,
  shmctl: 31,
  socket: 41,
  ptrace: 101,
  mknod: 133,
  prctl: 157,
  chroot: 161,
  settimeofday: 164,
  mount: 165,
  umount2: 166,
  reboot: 169,
  sethostname: 170,
  delete_module: 176,
  add_key: 248,
  keyctl: 250,
  unshare: 272,
  perf_event_open: 298,
  name_to_handle_at: 303,
  open_by_handle_at: 304,
  setns: 308,
  process_vm_readv: 310,
  finit_module: 313,
  seccomp: 317,
  memfd_create: 319,
  bpf: 321,
  userfaultfd: 323,
  io_uring_setup: 425,
  pidfd_open: 434,
  pidfd_getfd: 438,
} as const;

export const notPermitted = -1n;
export const noSuchCall = -38n;

/** A C string. */
export const text = (value: string): Buffer => Buffer.from(`${value}\0`);

/** Undefined where koffi is not installed or the processor is another one. */
export async function loadNative(): Promise<Native | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const koffi = await import("koffi").then(
    (module) => module.default,
    () => undefined,
  );
  if (koffi === undefined) return undefined;
  const libc = koffi.load("libc.so.6");
  const pointer = "void *";
  const systemCall = libc.func("syscall", "int64_t", ["int64_t", pointer, pointer, pointer, pointer, pointer, pointer]);
  const copy = libc.func("memcpy", pointer, [pointer, pointer, "size_t"]);
  const allocate = libc.func("malloc", "uint64_t", ["size_t"]);
  const word = (value: Word | undefined): bigint | Uint8Array | null =>
    typeof value === "number" || typeof value === "bigint" ? BigInt.asUintN(64, BigInt(value)) : (value ?? null);
  const numbered: Native["numbered"] = (number, ...words) => {
    const six = [0, 1, 2, 3, 4, 5].map((index) => word(words[index]));
    const result = BigInt(systemCall(number, ...six) as number | bigint); // koffi gives int64 as either
    return result === -1n ? BigInt(-koffi.errno()) : result;
  };
  const place: Native["place"] = (bytes) => {
    const address = BigInt(allocate(bytes.length) as number | bigint); // as above
    copy(address, bytes, bytes.length);
    return address;
  };
  const bytesAt: Native["bytesAt"] = (address, length) => {
    const bytes = Buffer.alloc(length);
    copy(bytes, address, length);
    return bytes;
  };
  const write: Native["write"] = (address, bytes) => void copy(address, bytes, bytes.length);
  const prototype = koffi.proto("int", []);
  // The prototype says that it returns an int.
  const run: Native["run"] = (address) => koffi.call(address, prototype) as number;
  return { numbered, place, write, bytesAt, run, call: (name, ...words) => numbered(numbers[name], ...words) };
}
