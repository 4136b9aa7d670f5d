/**
 * Table of the system calls that a projected server may not make. The filter that is assembled from it (`filter.ts`) is
 * a second line of defence: it takes away the parts of the kernel that no tool needs and from which most ways out of a
 * sandbox were found (namespaces, mounts, io_uring, bpf, keyrings, file handles), and closes what mounts cannot
 * (terminals, sockets of other families, set-user-id files left behind in a workspace).
 *
 * Verdicts: `deny` is EPERM; `absent` is ENOSYS, after which libraries fall back to older calls.
 */
export type FilterAction = "allow" | "deny" | "absent";

/** Holds when the low 32 bits of an argument, under the mask, are (or with `unequal` are not) the value. */
export type Test = {
  readonly argument: number;
  readonly mask: number;
  readonly value: number;
  readonly unequal?: true;
};

/** The first clause whose tests all hold decides; otherwise `otherwise` does. */
export type Rule = {
  readonly call: CallName;
  readonly clauses: readonly { readonly when: readonly Test[]; readonly verdict: FilterAction }[];
  readonly otherwise: FilterAction;
};

export type FilterOptions = {
  /**
   * Sockets of this machine (AF_UNIX). Safe where only wanted ones are mounted and the network namespace is private.
   */
  readonly unix: boolean;
  /** Sockets of the internet. Where no namespace keeps the network away, the filter does. */
  readonly internet: boolean;
  /** A process may leave the group in which it was started. Where no namespace ends with the server, its group does. */
  readonly sessions: boolean;
  /**
   * Memory that no process has to map: files without a name (memfd) and System V segments. Only a control group counts
   * it, so without one the filter does not let a server have it.
   */
  readonly hiddenMemory: boolean;
};

/**
 * Numbers by architecture, undefined = not there. Compared with kernel headers as `bpf/system-calls.ts` says of its
 * own.
 */
const numbers = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  fanotify_init: [300, 262],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  swapon: [167, 224],
  swapoff: [168, 225],
  unshare: [272, 97],
  setns: [308, 268],
  clone: [56, 220],
  clone3: [435, 435],
  init_module: [175, 105],
  delete_module: [176, 106],
  finit_module: [313, 273],
  create_module: [174, undefined],
  query_module: [178, undefined],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  modify_ldt: [154, undefined],
  vhangup: [153, 58],
  uselib: [134, undefined],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  seccomp: [317, 277],
  mknod: [133, undefined],
  mknodat: [259, 33],
  renameat2: [316, 276],
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  chmod: [90, undefined],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  setsid: [112, 157],
  setpgid: [109, 154],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
} as const satisfies Record<string, readonly [number, number | undefined]>;

export type CallName = keyof typeof numbers;

export type Architecture = {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number;
  /** Numbers from here on belong to the x32 ABI, which reaches the same calls under other numbers. */
  readonly x32From: number | undefined;
  readonly number: (call: CallName) => number | undefined;
};

/** By `process.arch`. The arm64 column was compared with the kernel's headers, and never run. */
export const architectures: ReadonlyMap<string, Architecture> = new Map([
  ["x64", { audit: 0xc000003e, x32From: 0x40000000, number: (call: CallName) => numbers[call][0] }],
  ["arm64", { audit: 0xc00000b7, x32From: undefined, number: (call: CallName) => numbers[call][1] }],
]);

const denied: readonly CallName[] = [
  ...(["ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd"] as const),
  ...(["add_key", "request_key", "keyctl", "userfaultfd", "bpf", "perf_event_open", "fanotify_init"] as const),
  ...(["mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig"] as const),
  ...(["fsmount", "fspick", "mount_setattr", "open_tree_attr", "swapon", "swapoff", "unshare", "setns"] as const),
  ...(["init_module", "delete_module", "finit_module", "create_module", "query_module"] as const),
  ...(["kexec_load", "kexec_file_load", "reboot", "settimeofday", "clock_settime", "clock_adjtime"] as const),
  ...(["adjtimex", "sethostname", "setdomainname", "acct", "quotactl", "quotactl_fd", "syslog", "iopl"] as const),
  ...(["ioperm", "modify_ldt", "vhangup", "uselib", "lookup_dcookie", "nfsservctl"] as const),
  ...(["name_to_handle_at", "open_by_handle_at"] as const),
];

/**
 * Their arguments lie behind a pointer, which a filter cannot read: callers fall back to an older call that it can
 * judge.
 */
const absent: readonly CallName[] = ["clone3", "openat2", "io_uring_setup", "io_uring_enter", "io_uring_register"];

const all = 0xffffffff;
/**
 * TIOCSTI types into the terminal from which the gateway was started, TIOCLINUX pastes on a console, TIOCCONS takes its
 * messages, and TIOCSETD loads line disciplines, which no server needs and several of which had vulnerabilities.
 */
const terminalRequests = [0x5412, 0x541c, 0x541d, 0x5423];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: linux/sched.h. */
const namespaceFlags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000];
/** Bits of a socket's type; those above are flags. */
const socketType = 0xf;
/**
 * SOCK_STREAM and SOCK_DGRAM with TCP and UDP, by name or as what the type means: in(7). SCTP, L2TP and others pose as
 * them.
 */
const internetSockets = [
  [1, 0],
  [1, 6],
  [2, 0],
  [2, 17],
] as const;
const setIdBits = [0o4000, 0o2000];
const fileType = 0o170000;
const devices = [0o020000, 0o060000];
/** O_CREAT and the bit that makes O_TMPFILE of O_DIRECTORY: only then has `open` a mode. */
const creating = [0o100, 0o20000000];

/** The whole filter as rules, one a call. */
export function denyRules(options: FilterOptions): readonly Rule[] {
  const whole = (calls: readonly CallName[], otherwise: FilterAction): readonly Rule[] =>
    calls.map((call) => ({ call, clauses: [], otherwise }));
  return [
    ...whole(denied, "deny"),
    ...whole(absent, "absent"),
    refuse(
      "clone",
      namespaceFlags.map((flag) => [bit(0, flag)]),
    ),
    refuse(
      "ioctl",
      terminalRequests.map((request) => [equals(1, all, request)]),
    ),
    // A listener of the server's own would replace the tracer for its children.
    refuse("seccomp", [[equals(0, all, 1), bit(1, 8)]]),
    refuse("mknod", [...devices.map((kind) => [equals(1, fileType, kind)]), ...setId(1)]),
    refuse("mknodat", [...devices.map((kind) => [equals(2, fileType, kind)]), ...setId(2)]),
    // RENAME_WHITEOUT leaves a device 0:0 behind, which needs no right since Linux 5.8.
    refuse("renameat2", [[bit(4, 4)]]),
    // A set-user-id file in a workspace would run with the rights of its owner outside.
    refuse(
      "open",
      creating.flatMap((flag) => setId(2).map((tests) => [bit(1, flag), ...tests])),
    ),
    refuse(
      "openat",
      creating.flatMap((flag) => setId(3).map((tests) => [bit(2, flag), ...tests])),
    ),
    refuse("creat", setId(1)),
    refuse("chmod", setId(1)),
    refuse("fchmod", setId(1)),
    refuse("fchmodat", setId(2)),
    refuse("fchmodat2", setId(2)),
    socketRule(options),
    // TIPC makes pairs too, and asking for a family loads its module. A local pair connects to no other process.
    { call: "socketpair", clauses: [{ when: [equals(0, all, 1)], verdict: "allow" }], otherwise: "deny" },
    ...whole(options.sessions ? [] : ["setsid", "setpgid"], "deny"),
    // As on a kernel without them: libraries take a file in `/dev/shm` or `/tmp` instead, whose size is bounded.
    ...whole(options.hiddenMemory ? [] : ["memfd_create", "memfd_secret", "shmget"], "absent"),
  ];
}

/** Every family and protocol but those named is refused: packet, vsock, AF_ALG, Bluetooth and future families. */
function socketRule({ unix, internet }: FilterOptions): Rule {
  const families = internet ? [2, 10] : [];
  const plain = families.flatMap((family) =>
    internetSockets.map(([type, protocol]) => [
      equals(0, all, family),
      equals(1, socketType, type),
      equals(2, all, protocol),
    ]),
  );
  const allowed = [
    ...(unix ? [[equals(0, all, 1)]] : []),
    ...plain,
    // NETLINK_ROUTE: the C library asks it for the addresses of this machine.
    [equals(0, all, 16), equals(2, all, 0)],
  ];
  return { call: "socket", clauses: allowed.map((when) => ({ when, verdict: "allow" })), otherwise: "deny" };
}

function refuse(call: CallName, cases: readonly (readonly Test[])[]): Rule {
  return { call, clauses: cases.map((when) => ({ when, verdict: "deny" })), otherwise: "allow" };
}

function equals(argument: number, mask: number, value: number): Test {
  return { argument, mask, value };
}

function bit(argument: number, flag: number): Test {
  return { argument, mask: flag, value: flag };
}

function setId(argument: number): readonly (readonly Test[])[] {
  return setIdBits.map((flag) => [bit(argument, flag)]);
}
