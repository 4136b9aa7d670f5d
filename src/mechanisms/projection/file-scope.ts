/** Where a path lies, seen from a scope. Everything here is about names; what is really there the kernel decides. */
import type { ProjectionPlaces } from "../../core/effect-trace.ts";
import { isWithin, matchesPath, normalPath, resolvePatterns } from "../../core/scope-patterns.ts";
import { holdsSecret } from "../../policy/isolation/sensitive.ts";
import type { Grounds } from "./grounds.ts";

/** What every program of a Unix system reads: libraries, names of users and hosts, time zones, certificates. */
const systemReads: readonly string[] = [
  "/usr /lib /lib32 /lib64 /libx32 /bin /sbin /sys",
  "/etc/ssl/certs /etc/ssl/openssl.cnf /etc/pki /etc/ca-certificates /etc/crypto-policies",
  "/etc/ld.so.cache /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d /etc/alternatives",
  "/etc/hosts /etc/hostname /etc/resolv.conf /etc/nsswitch.conf /etc/host.conf /etc/gai.conf",
  "/etc/services /etc/protocols /etc/networks /etc/passwd /etc/group /etc/machine-id",
  "/etc/localtime /etc/timezone /etc/locale.alias /etc/os-release /etc/lsb-release",
  "/etc/debian_version /etc/mime.types /etc/magic /etc/inputrc /etc/terminfo /etc/krb5.conf",
  "/etc/fonts /etc/gitconfig /etc/npmrc /etc/pip.conf /etc/python3 /etc/bash.bashrc",
  "/etc/vulkan /etc/glvnd /etc/drirc /etc/gtk-3.0 /etc/chromium /etc/opt/chrome",
  "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/ptmx /dev/pts",
  "/dev/stdin /dev/stdout /dev/stderr /dev/fd /dev/shm /dev/dri",
].flatMap((row) => row.split(" "));

/** Files under `/proc` that say how a process and its machine are, and nothing of what another one holds. */
const procReads =
  /^\/proc(?:$|\/(?:cpuinfo|meminfo|stat|version|version_signature|filesystems|mounts|loadavg|uptime|vmstat|devices|net|sys|self|thread-self|[0-9]+|pressure|cgroups|swaps|partitions|diskstats)(?:\/|$))/;

/** Views into other processes, the kernel and devices. `environ` of a process itself is its own. */
const kernelSecrets =
  /^\/(?:proc\/(?:[0-9]+|self|thread-self)\/(?:root|cwd|mem|task\/[0-9]+\/(?:root|cwd|mem|environ))(?:\/|$)|proc\/[0-9]+\/environ$|proc\/(?:kcore|kmsg|kallsyms|sysrq-trigger|keys|sys\/kernel\/(?:core_pattern|modprobe|hotplug))$|dev\/(?:mem|kmem|port|kmsg|sd|nvme|vd|xvd|dm-|mapper|fuse|vhost|kvm|loop))/;

/** Devices and knobs of a process that are written without leaving anything behind. */
const systemWrites =
  /^\/(?:dev\/(?:null|zero|full|tty|stdout|stderr|ptmx|pts\/[0-9]+|fd\/[0-9]+)|proc\/(?:self|thread-self|[0-9]+)\/(?:oom_score_adj|clear_refs|comm|coredump_filter|timerslack_ns|task\/[0-9]+\/comm|fd\/[12]))$/;

/** What programs of the user obey without being asked, wherever a projection puts it. */
const obeyed =
  /^~\/(?:\.(?:bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|xprofile|xsessionrc|gitconfig|pam_environment|mcp\.json)$|\.(?:cursor|claude|codex|gemini|vscode)\/|\.claude\.json$|\.config\/(?:fish|autostart|systemd|environment\.d|git)\/)/;

export type PlaceOf = Pick<Grounds, "order" | "read" | "write"> & {
  readonly trace: { readonly places: ProjectionPlaces };
};

/** A path as policies write it: `~/...` for what lies in the home of the user. */
function plainOf(path: string, { home }: ProjectionPlaces): string {
  return home !== "/" && isWithin(path, home) ? `~${path.slice(home.length)}` : path;
}

/**
 * What a path gives away, unless an entry of the scope names that very place: a wide entry (a whole folder that happens
 * to hold keys) is no permission to read them. Undefined = nothing that is known here.
 */
export function secretAt(path: string | undefined, place: PlaceOf): string | undefined {
  if (path === undefined) return undefined;
  // Several rules ask about each path, and the answer is looked up in long lists.
  let known = secretsKnown.get(place);
  if (known === undefined) secretsKnown.set(place, (known = new Map()));
  if (!known.has(path)) known.set(path, secretOf(path, place));
  return known.get(path);
}

/** Answers by path, for as long as the trace is judged; a trace holds a bounded number of paths. */
const secretsKnown = new WeakMap<PlaceOf, Map<string, string | undefined>>();

function secretOf(path: string, { trace: { places }, read, write }: PlaceOf): string | undefined {
  const normal = normalPath(path);
  if (normal === undefined) return undefined;
  const gives = kernelSecrets.test(normal) ? "what other programs hold" : holdsSecret(plainOf(normal, places));
  if (gives === undefined) return undefined;
  const named = [...read, ...write].flatMap((pattern) => resolvePatterns(pattern, places));
  const opened = named.some((place) => isWithin(normal, place) && holdsSecret(plainOf(place, places)) !== undefined);
  return opened ? undefined : gives;
}

/** Written, it would be run or obeyed outside of the projection later. */
export function isObeyed(path: string | undefined, { trace: { places }, write }: PlaceOf): boolean {
  const normal = normalPath(path ?? "");
  if (normal === undefined || !obeyed.test(plainOf(normal, places))) return false;
  return !write.some((pattern) =>
    resolvePatterns(pattern, places).some((place) => obeyed.test(plainOf(place, places)) && isWithin(normal, place)),
  );
}

export function isShut(path: string | undefined, { order, trace: { places } }: PlaceOf): boolean {
  return order.scope.files.deny.some((pattern) => matchesPath(pattern, path ?? "", places));
}

export function inWorkspace(path: string | undefined, { trace: { places } }: PlaceOf): boolean {
  return within(path, places.workspace);
}

/** Its own code, and folders that vanish with it. */
export function isOwn(path: string | undefined, { trace: { places } }: PlaceOf): boolean {
  return within(path, [...places.code, ...places.scratch]);
}

export function isScratch(path: string | undefined, { trace: { places } }: PlaceOf): boolean {
  return within(path, places.scratch);
}

export function isSystemRead(path: string | undefined): boolean {
  const normal = normalPath(path ?? "");
  return normal !== undefined && (procReads.test(normal) || systemReads.some((folder) => isWithin(normal, folder)));
}

export function isSystemWrite(path: string | undefined): boolean {
  return path !== undefined && systemWrites.test(normalPath(path) ?? "");
}

/** In the scope, or of the kind that every program reads. */
export function mayRead(path: string | undefined, grounds: PlaceOf): boolean {
  const { order, read, write, trace } = grounds;
  const workspace = order.scope.files.workspace.mode !== "none" && inWorkspace(path, grounds);
  return workspace || isOwn(path, grounds) || isSystemRead(path) || named(path, [...read, ...write], trace.places);
}

/** In the scope for writing. Code of its own is not: changing it outlives the projection. */
export function mayWrite(path: string | undefined, grounds: PlaceOf): boolean {
  const { order, write, trace } = grounds;
  const { mode } = order.scope.files.workspace;
  if ((mode === "overlay" || mode === "direct") && inWorkspace(path, grounds)) return true;
  return isScratch(path, grounds) || isSystemWrite(path) || named(path, write, trace.places);
}

/** A folder on the way to something that is in scope: it is walked through, and made where it is already there. */
export function leadsToScope(path: string | undefined, grounds: PlaceOf): boolean {
  const normal = normalPath(path ?? "");
  if (normal === undefined) return false;
  const { places } = grounds.trace;
  const patterns = [...grounds.read, ...grounds.write].flatMap((pattern) => resolvePatterns(pattern, places));
  return [places.home, ...places.workspace, ...places.code, ...places.scratch, ...patterns].some((place) =>
    isWithin(place, normal),
  );
}

function named(path: string | undefined, patterns: readonly string[], places: ProjectionPlaces): boolean {
  return patterns.some((pattern) => matchesPath(pattern, path ?? "", places));
}

function within(path: string | undefined, folders: readonly string[]): boolean {
  const normal = normalPath(path ?? "");
  return normal !== undefined && folders.some((folder) => isWithin(normal, normalPath(folder) ?? folder));
}
