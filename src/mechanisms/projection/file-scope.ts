/** Where a path lies, seen from a scope. Everything here is about names; what is really there the kernel decides. */
import type { ProjectionPlaces } from "../../core/isolation/effect-trace.ts";
import { isWithin, normalPath, resolvePatterns } from "../../core/isolation/scope-patterns.ts";
import { holdsSecret, isObeyedPlace } from "../../policy/isolation/sensitive.ts";
import type { Grounds } from "./grounds.ts";

/** Files that every program of a Unix system reads: libraries, names of users and hosts, time zones, certificates. */
const systemReads: ReadonlySet<string> = new Set(
  [
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
  ].flatMap((row) => row.split(" ")),
);

/** Files under `/proc` that say how a process and its machine are, and nothing of what another one holds. */
const procReads =
  /^\/proc(?:$|\/(?:cpuinfo|meminfo|stat|version|version_signature|filesystems|mounts|loadavg|uptime|vmstat|devices|net|sys|self|thread-self|[0-9]+|pressure|cgroups|swaps|partitions|diskstats)(?:\/|$))/;

/** Views into other processes, the kernel and devices. `environ` of a process itself is its own. */
const kernelSecrets =
  /^\/(?:proc\/(?:[0-9]+|self|thread-self)\/(?:root|cwd|mem|task\/[0-9]+\/(?:root|cwd|mem|environ))(?:\/|$)|proc\/[0-9]+\/environ$|proc\/(?:kcore|kmsg|kallsyms|sysrq-trigger|keys|sys\/kernel\/(?:core_pattern|modprobe|hotplug))$|dev\/(?:mem|kmem|port|kmsg|sd|nvme|vd|xvd|dm-|mapper|fuse|vhost|kvm|loop))/;

/** Devices and knobs of a process that are written without leaving anything behind. */
const systemWrites =
  /^\/(?:dev\/(?:null|zero|full|tty|stdout|stderr|ptmx|pts\/[0-9]+|fd\/[0-9]+)|proc\/(?:self|thread-self|[0-9]+)\/(?:oom_score_adj|clear_refs|comm|coredump_filter|timerslack_ns|task\/[0-9]+\/comm|fd\/[12]))$/;

export type PlaceOf = Pick<Grounds, "order" | "read" | "write"> & {
  readonly trace: { readonly places: ProjectionPlaces };
};

/** Cached facts about one path; a trace asks for the same path many times. */
type Facts = {
  /** Normal form; undefined for a text that is not an absolute path. */
  readonly normal: string | undefined;
  /** Questions that were asked, and those among them that were answered with yes; one bit each. */
  asked: number;
  yes: number;
  secret: { readonly gives: string | undefined } | undefined;
};

/** A scope and the places of a trace, put together once for all paths of the trace. */
type View = {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly deny: readonly string[];
  readonly workspace: readonly string[];
  readonly scratch: readonly string[];
  readonly own: readonly string[];
  /** Everything that is in scope by its place. */
  readonly goals: readonly string[];
  readonly facts: Map<string, Facts>;
  /** The last path: several rules in a row ask about one path. */
  last: { readonly path: string; readonly facts: Facts } | undefined;
};

/** For as long as the trace is judged; a trace holds a bounded number of paths. */
const views = new WeakMap<PlaceOf, View>();

function viewOf(place: PlaceOf): View {
  const made = views.get(place);
  if (made !== undefined) return made;
  const { order, read, write, trace } = place;
  const { places } = trace;
  const named = (patterns: readonly string[]): readonly string[] =>
    patterns.flatMap((pattern) => resolvePatterns(pattern, places));
  const folders = (list: readonly string[]): readonly string[] => list.map((folder) => normalPath(folder) ?? folder);
  const writable = named(write);
  const readable = [...named(read), ...writable];
  const view: View = {
    read: readable,
    write: writable,
    deny: named(order.scope.files.deny),
    workspace: folders(places.workspace),
    scratch: folders(places.scratch),
    own: folders([...places.code, ...places.scratch]),
    goals: [places.home, ...places.workspace, ...places.code, ...places.scratch, ...readable],
    facts: new Map(),
    last: undefined,
  };
  views.set(place, view);
  return view;
}

function factsOf(path: string, view: View): Facts {
  if (view.last?.path === path) return view.last.facts;
  const made = view.facts.get(path);
  if (made !== undefined) {
    view.last = { path, facts: made };
    return made;
  }
  const facts: Facts = { normal: normalPath(path), asked: 0, yes: 0, secret: undefined };
  view.facts.set(path, facts);
  view.last = { path, facts };
  return facts;
}

type Test = (normal: string, view: View, place: PlaceOf) => boolean;

let questions = 0;

/** Answers a question about a path in its normal form, once; false for a text that is not a path. */
function asks(test: Test): (path: string | undefined, place: PlaceOf) => boolean {
  const bit = 1 << questions;
  questions += 1;
  return (path, place) => {
    if (path === undefined) return false;
    const view = viewOf(place);
    const facts = factsOf(path, view);
    if (facts.normal === undefined) return false;
    if ((facts.asked & bit) === 0) {
      facts.asked |= bit;
      if (test(facts.normal, view, place)) facts.yes |= bit;
    }
    return (facts.yes & bit) !== 0;
  };
}

function within(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(path, folder));
}

/** A path as policies write it: `~/...` for a path inside the home of the user. */
function plainOf(path: string, { home }: ProjectionPlaces): string {
  return home !== "/" && isWithin(path, home) ? `~${path.slice(home.length)}` : path;
}

/**
 * The access that a path gives away, unless an entry of the scope names that very place: a wide entry (a whole folder
 * that happens to hold keys) does not permit reading them. Undefined = none that is known here.
 */
export function secretAt(path: string | undefined, place: PlaceOf): string | undefined {
  if (path === undefined) return undefined;
  const view = viewOf(place);
  const facts = factsOf(path, view);
  facts.secret ??= { gives: facts.normal === undefined ? undefined : secretOf(facts.normal, view, place) };
  return facts.secret.gives;
}

function secretOf(normal: string, { read }: View, { trace: { places } }: PlaceOf): string | undefined {
  const gives = kernelSecrets.test(normal) ? "what other programs hold" : holdsSecret(plainOf(normal, places));
  if (gives === undefined) return undefined;
  const opened = read.some((place) => isWithin(normal, place) && holdsSecret(plainOf(place, places)) !== undefined);
  return opened ? undefined : gives;
}

/** Written, it would be run or obeyed outside of the projection later. */
export const isObeyed = asks((normal, { write }, { trace: { places } }) => {
  if (!isObeyedPlace(plainOf(normal, places))) return false;
  return !write.some((place) => isObeyedPlace(plainOf(place, places)) && isWithin(normal, place));
});

export const isShut = asks((normal, { deny }) => within(normal, deny));

export const inWorkspace = asks((normal, { workspace }) => within(normal, workspace));

/** Its own code, and folders that vanish with it. */
export const isOwn = asks((normal, { own }) => within(normal, own));

export const isScratch = asks((normal, { scratch }) => within(normal, scratch));

export const isSystemRead = asks((normal) => isSystem(normal));

/** Looked up folder by folder: the list is long, and paths are short. */
function isSystem(normal: string): boolean {
  if (normal.startsWith("/proc") && procReads.test(normal)) return true;
  for (let end = normal.indexOf("/", 1); end !== -1; end = normal.indexOf("/", end + 1)) {
    if (systemReads.has(normal.slice(0, end))) return true;
  }
  return systemReads.has(normal);
}

export const isSystemWrite = asks((normal) => systemWrites.test(normal));

/** Normal form of a path; undefined for other text. */
export function normalIn(path: string | undefined, place: PlaceOf): string | undefined {
  return path === undefined ? undefined : factsOf(path, viewOf(place)).normal;
}

/** In the scope, or of the kind that every program reads. */
export const mayRead = asks((normal, view, { order }) => {
  const workspace = order.scope.files.workspace.mode !== "none" && within(normal, view.workspace);
  return workspace || within(normal, view.own) || isSystem(normal) || within(normal, view.read);
});

/** In the scope for writing. Code of its own is not: changing it outlives the projection. */
export const mayWrite = asks((normal, view, { order }) => {
  const { mode } = order.scope.files.workspace;
  if ((mode === "overlay" || mode === "direct") && within(normal, view.workspace)) return true;
  return within(normal, view.scratch) || systemWrites.test(normal) || within(normal, view.write);
});

/** A folder on the way to something that is in scope: it is walked through, and made where it is already there. */
export const leadsToScope = asks((normal, { goals }) => goals.some((goal) => isWithin(goal, normal)));
