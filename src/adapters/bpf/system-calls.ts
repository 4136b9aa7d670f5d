/**
 * Numbers of system calls, by architecture, for seccomp filters. Only calls that a filter of this project names are
 * listed. Numbers never change once assigned. All were compared with the kernel's headers of Linux 6.1
 * (`asm/unistd_64.h`; `asm-generic/unistd.h` with what arm64 asks of it), except those that are newer, from 452 on:
 * these were tried on an x86-64 kernel, where 453 gave no answer; both architectures number them alike. Nothing was run
 * on arm64.
 */

export const architectures = ["x64", "arm64"] as const;
export type Architecture = (typeof architectures)[number];

/** `AUDIT_ARCH_X86_64` and `AUDIT_ARCH_AARCH64` of linux/audit.h: what `seccomp_data.arch` holds. */
export const auditArchitectures: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Set in the number of a call made through the x32 interface, which shares the audit architecture of x86-64. */
export const x32Bit = 0x40000000;

/** The architecture has no such call: it was added to Linux after `openat` and similar calls had replaced it. */
const none = undefined;

const table = {
  // Files by path or descriptor.
  open: [2, none],
  openat: [257, 56],
  openat2: [437, 437],
  creat: [85, none],
  unlink: [87, none],
  unlinkat: [263, 35],
  rename: [82, none],
  renameat: [264, 38],
  renameat2: [316, 276],
  link: [86, none],
  linkat: [265, 37],
  symlink: [88, none],
  symlinkat: [266, 36],
  mkdir: [83, none],
  mkdirat: [258, 34],
  rmdir: [84, none],
  mknod: [133, none],
  mknodat: [259, 33],
  chmod: [90, none],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  chown: [92, none],
  fchown: [93, 55],
  lchown: [94, none],
  fchownat: [260, 54],
  utime: [132, none],
  utimes: [235, none],
  futimesat: [261, none],
  utimensat: [280, 88],
  truncate: [76, 45],
  ftruncate: [77, 46],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  setxattrat: [463, 463],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  removexattrat: [466, 466],
  file_setattr: [469, 469],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  chdir: [80, 49],
  fchdir: [81, 50],
  read: [0, 63],
  write: [1, 64],
  close: [3, 57],
  ioctl: [16, 29],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  // Programs, processes and signals.
  execve: [59, 221],
  execveat: [322, 281],
  fork: [57, none],
  vfork: [58, none],
  clone: [56, 220],
  clone3: [435, 435],
  exit: [60, 93],
  exit_group: [231, 94],
  kill: [62, 129],
  tkill: [200, 130],
  tgkill: [234, 131],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pidfd_getfd: [438, 438],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  setrlimit: [160, 164],
  prlimit64: [302, 261],
  prctl: [157, 167],
  seccomp: [317, 277],
  personality: [135, 92],
  getpid: [39, 172],
  getppid: [110, 173],
  setuid: [105, 146],
  setgid: [106, 144],
  setgroups: [116, 159],
  setresuid: [117, 147],
  setresgid: [119, 149],
  // Sockets and older ways between processes.
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  sendto: [44, 206],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  // Mounts, namespaces and security modules.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  statmount: [457, 457],
  listmount: [458, 458],
  unshare: [272, 97],
  setns: [308, 268],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
  lsm_set_self_attr: [460, 460],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // The kernel itself, the machine and its clock.
  userfaultfd: [323, 282],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, none],
  get_kernel_syms: [177, none],
  query_module: [178, none],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  clock_settime: [227, 112],
  settimeofday: [164, 170],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  swapon: [167, 224],
  swapoff: [168, 225],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  syslog: [103, 116],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, none],
  ioperm: [173, none],
  modify_ldt: [154, none],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  vhangup: [153, 58],
  uselib: [134, none],
  ustat: [136, none],
  sysfs: [139, none],
  _sysctl: [156, none],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  map_shadow_stack: [453, 453],
  uretprobe: [335, none],
  afs_syscall: [183, none],
  tuxcall: [184, none],
  vserver: [236, none],
  security: [185, none],
  getpmsg: [181, none],
  putpmsg: [182, none],
  epoll_ctl_old: [214, none],
  epoll_wait_old: [215, none],
} as const satisfies Record<string, readonly [x64: number, arm64: number | undefined]>;

export type SystemCall = keyof typeof table;

/** The number of a call, or undefined where the architecture does not have it. */
export function systemCallNumber(architecture: Architecture, name: SystemCall): number | undefined {
  const [x64, arm64] = table[name];
  return architecture === "x64" ? x64 : arm64;
}

// The cast only undoes the widening of `Object.keys`.
export const systemCalls = Object.keys(table) as readonly SystemCall[];

/** Names by number, for a supervisor that receives numbers from the kernel. */
export function systemCallNames(architecture: Architecture): ReadonlyMap<number, SystemCall> {
  return new Map(
    systemCalls.flatMap((name) => {
      const number = systemCallNumber(architecture, name);
      return number === undefined ? [] : [[number, name] as const];
    }),
  );
}

/** The architecture that this process runs on; undefined where no filter was written for it. */
export function architectureOf(name: string): Architecture | undefined {
  return architectures.find((one) => one === name);
}
