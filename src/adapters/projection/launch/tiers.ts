/** The tier of isolation that a machine can give a server, and the missing parts of a better one. */
import { type IsolationTier, isolationTiers, type NetScope } from "../../../core/isolation/scope.ts";
import type { Support } from "./support.ts";

/** The way in which a server is started, which makes its projection. */
export type Chain =
  /** Namespaces, mounts, network and tracer by the launcher; bubblewrap; the filter. */
  | "launcher"
  /** The same without foreign function calls: mounts by `mount`, trace by `strace`, no network. */
  | "shell"
  /** Landlock and the filter, no namespaces. */
  | "fence"
  /** Hooks in the server's own process: evidence, no walls. */
  | "hooks"
  | "bare";

export type TierChoice = {
  readonly tier: IsolationTier;
  readonly chain: Chain;
  /** One sentence for each missing part, with the way to get it. */
  readonly notes: readonly string[];
};

const remedies = {
  bubblewrap: "Without bubblewrap a server has no mounts of its own: install it (package `bubblewrap`).",
  unshare: "Without the program `unshare` no namespaces are made: install the package `util-linux`.",
  setpriv: "Root must not run servers: install `setpriv` (package `util-linux`), or run the gateway as another user.",
  namespaces:
    "User namespaces are off here (container or hardened host): set `kernel.unprivileged_userns_clone=1`, allow them in AppArmor, or use `--security-opt seccomp=unconfined`.",
  koffi: "Without koffi there is no network by name and no full trace: run `npm install koffi` beside Sluicegate.",
  notify: "The kernel cannot hand system calls to a supervisor: use Linux 5.9 or newer for the full trace.",
  attach:
    "Yama lets nothing trace such a server (`kernel.yama.ptrace_scope`), so its effects are not seen: set it to 0, or where it is 1 or 2 let servers have user namespaces.",
  overlay: "The kernel cannot overlay in a user namespace: use Linux 5.11 or newer, else workspaces are copied.",
  strace: "Without strace nothing traces the server where koffi is absent: install the package `strace`.",
  landlock: "The kernel has no Landlock: use Linux 5.13 or newer with `landlock` in its list of security modules.",
  open: "The scope opens the network (`net.mode: open`), so no broker stands before it: list destinations instead.",
  cgroup: "No control group is delegated: memory is watched by polling. Run under systemd with `Delegate=yes`.",
} as const;

/**
 * Chooses the tier. Of the scope only the network mode matters: whether the server keeps the network of the machine.
 */
export function tierOf(support: Support, scope: { readonly net: Pick<NetScope, "mode"> }): TierChoice {
  if (support.platform !== "linux") return { tier: "none", chain: "bare", notes: [platformNote(support.platform)] };
  const walls = wallsMissing(support);
  const open = scope.net.mode === "open" ? [remedies.open] : [];
  const cgroup = support.cgroup === "none" ? [remedies.cgroup] : [];
  if (walls.length === 0) {
    const seeing = tracersMissing(support, "launcher");
    if (seeing.length === 0) {
      const overlay = support.overlay ? [] : [remedies.overlay];
      return { tier: open.length === 0 ? "A" : "B", chain: "launcher", notes: [...open, ...overlay, ...cgroup] };
    }
    if (support.strace) {
      return { tier: open.length === 0 ? "A-" : "B", chain: "shell", notes: [...seeing, ...open, ...cgroup] };
    }
    const blind = [...seeing, remedies.strace, ...open, ...cgroup];
    if (!support.koffi) return { tier: "B", chain: "shell", notes: blind };
    return { tier: "B", chain: "launcher", notes: blind };
  }
  const root = support.root && support.programs.setpriv === undefined;
  if (support.koffi && support.landlock > 0 && !root) {
    return { tier: "B", chain: "fence", notes: [...walls, ...tracersMissing(support, "fence"), ...open, ...cgroup] };
  }
  const fence = [...(support.koffi ? [] : [remedies.koffi]), ...(support.landlock > 0 ? [] : [remedies.landlock])];
  return { tier: "C", chain: "hooks", notes: [...walls, ...fence, ...open] };
}

/** True iff `tier` is at least as strong as `required`. */
export function reaches(tier: IsolationTier, required: IsolationTier): boolean {
  return isolationTiers.indexOf(tier) <= isolationTiers.indexOf(required);
}

function wallsMissing(support: Support): readonly string[] {
  const { programs } = support;
  if (support.root && programs.setpriv === undefined) return [remedies.setpriv];
  return [
    ...(programs.bwrap === undefined ? [remedies.bubblewrap] : []),
    ...(programs.unshare === undefined ? [remedies.unshare] : []),
    ...(support.userNamespaces || programs.unshare === undefined ? [] : [remedies.namespaces]),
    ...(programs.bwrap !== undefined && support.userNamespaces && !support.bubblewrap
      ? [
          "Bubblewrap does not work here, probably because proc may not be mounted: run the gateway outside of a container.",
        ]
      : []),
  ];
}

function tracersMissing(support: Support, chain: "launcher" | "fence"): readonly string[] {
  if (!support.koffi) return [remedies.koffi];
  if (!support.userNotify) return [remedies.notify];
  return tracesIn(support, chain) ? [] : [remedies.attach];
}

/** True if the gateway's own supervisor traces a server that is started by this chain. */
export function tracesIn({ userNotify, attaches }: Support, chain: Chain): boolean {
  return userNotify && (attaches === "all" || (attaches === "namespaces" && chain === "launcher"));
}

function platformNote(platform: string): string {
  return `Isolation of local servers exists for Linux only, and this is ${platform}: run the gateway in a Linux machine or container (WSL2 on Windows).`;
}
