/** Isolation features of this machine, probed once a process as the user that servers run as. */
import { attempt } from "../../attempt.ts";
import { execFile } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { cgroupKind } from "../session/cgroup.ts";

export type NativeSupport = {
  readonly koffi: boolean;
  /** Version of Landlock; 0 = none. */
  readonly landlock: number;
  /** True if a supervisor can be notified of system calls and can take over the descriptor for that. */
  readonly userNotify: boolean;
};

export type ProgramName = "bwrap" | "unshare" | "setpriv" | "strace" | "prlimit" | "mount" | "bash";

export type Support = NativeSupport & {
  readonly platform: string;
  readonly architecture: string;
  readonly root: boolean;
  /** Absolute paths of the programs that are installed. */
  readonly programs: Readonly<Partial<Record<ProgramName, string>>>;
  readonly userNamespaces: boolean;
  /** True if an overlay can be mounted in a user namespace. */
  readonly overlay: boolean;
  readonly bubblewrap: boolean;
  readonly strace: boolean;
  readonly cgroup: "v2" | "v1" | "none";
  readonly attaches: Attaches;
};

/**
 * Processes that a tracer of this user may attach to: every process of the same user, those in user namespaces of this
 * user, or none. A tracer reads the paths of calls in the memory of the server, and the kernel asks for the right to
 * attach.
 */
export type Attaches = "all" | "namespaces" | "none";

/** The user that servers run as when the gateway is root: `nobody`, which owns no files. */
export type ServiceUser = { readonly uid: number; readonly gid: number };
export const serviceUserDefault: ServiceUser = { uid: 65_534, gid: 65_534 };

const probeMsMax = 8_000;
const probeBytesMax = 65_536;
const programFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
const programNames: readonly ProgramName[] = ["bwrap", "unshare", "setpriv", "strace", "prlimit", "mount", "bash"];

/** Script that tries all kinds of private mounts that a projection needs, and prints a word after each success. */
const namespaceScript = `echo namespaces
mount -t tmpfs tmpfs /tmp && mkdir /tmp/l /tmp/u /tmp/w /tmp/m || exit 1
mount -t overlay -o lowerdir=/tmp/l,upperdir=/tmp/u,workdir=/tmp/w,userxattr overlay /tmp/m && echo overlay
[ -z "$1" ] || "$1" --unshare-user --unshare-ipc --unshare-pid --unshare-uts --uid 1000 --gid 1000 --die-with-parent \\
  --new-session --cap-drop ALL --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp --remount-ro / -- true && echo bubblewrap`;

let probed: Promise<Support> | undefined;

/** Probes the machine with the first call; later calls get the same result. */
export function probeSupport(): Promise<Support> {
  probed ??= probe(serviceUserDefault);
  return probed;
}

/** The file of a process that runs in a projection or probes the machine: `.ts` in the source, `.js` in the package. */
export function processFile(name: string): string {
  return fileURLToPath(new URL(`../launcher/${name}${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
}

/** Prefix of a command line that drops root's rights for good; empty for any other user. */
export function dropRights(setpriv: string | undefined, user: ServiceUser): readonly string[] {
  if (setpriv === undefined) return [];
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
  return [setpriv, ...ids, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"];
}

async function probe(user: ServiceUser): Promise<Support> {
  const root = process.getuid?.() === 0;
  const nothing = { koffi: false, landlock: 0, userNotify: false };
  const { platform, arch: architecture } = process;
  const programs = Object.fromEntries(programNames.flatMap((name) => located(name) ?? []));
  const attaches = attachesBy(textOf("/proc/sys/kernel/yama/ptrace_scope"), root);
  const base = { platform, architecture, root, programs, attaches, ...nothing, userNamespaces: false, overlay: false };
  if (platform !== "linux" || (root && programs["setpriv"] === undefined)) {
    return { ...base, bubblewrap: false, strace: false, cgroup: "none" };
  }
  const drop = root ? dropRights(programs["setpriv"], user) : [];
  const unshare = [programs["unshare"] ?? "unshare", "--user", "--map-root-user", "--mount", "--net", "--"];
  const [native, namespaces, strace] = await Promise.all([
    // Run as the gateway's own user: a service user may not reach the gateway's code, and the answers are the same.
    answerOf([process.execPath, processFile("support-main")]),
    answerOf([...drop, ...unshare, "/bin/sh", "-c", namespaceScript, "sh", programs["bwrap"] ?? ""]),
    answerOf([...drop, programs["strace"] ?? "strace", "-f", "--seccomp-bpf", "-e", "trace=execve", "echo", "traced"]),
  ]);
  const words = namespaces.split("\n");
  return {
    ...base,
    ...nativeSupport(native, nothing),
    userNamespaces: words.includes("namespaces"),
    overlay: words.includes("overlay"),
    bubblewrap: words.includes("bubblewrap"),
    strace: strace.includes("traced"),
    cgroup: cgroupKind(),
  };
}

/**
 * By the setting of the security module Yama: at 1 and 2 a process attaches where it has CAP_SYS_PTRACE
 * (Documentation/admin-guide/LSM/Yama.rst), and the creator of a user namespace has all capabilities in it
 * (user_namespaces(7)). No machine with Yama was at hand to try it on. Without Yama the user decides.
 */
export function attachesBy(scope: string | undefined, root: boolean): Attaches {
  const level = scope === undefined ? 0 : Number.parseInt(scope, 10);
  if (level === 0) return "all";
  if (level === 1 || level === 2) return root ? "all" : "namespaces";
  return "none";
}

function textOf(path: string): string | undefined {
  return attempt(() => readFileSync(path, "latin1"), undefined);
}

function nativeSupport(text: string, nothing: NativeSupport): NativeSupport {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own process wrote it
    return JSON.parse(text) as NativeSupport;
  } catch {
    return nothing;
  }
}

function located(name: ProgramName): readonly [readonly [ProgramName, string]] | undefined {
  const found = programFolders.map((folder) => `${folder}/${name}`).find(isExecutable);
  return found === undefined ? undefined : [[name, found]];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Standard output of a command; empty if it could not run. */
function answerOf([file, ...args]: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      timeout: probeMsMax,
      maxBuffer: probeBytesMax,
      cwd: "/",
      env: { PATH: programFolders.join(":") },
    };
    execFile(file ?? "", args, options, (_error, stdout) => resolve(stdout));
  });
}
