/**
 * Violations of a scope, as data. Each row is tested against each event that is not noise; a match rejects the result,
 * whatever the labels of the tool say. The grade of an event does not matter here: a forged event only speaks against the
 * server that forged it.
 */
import { changesFiles, type EffectEvent, type WorkspaceChange } from "../../core/isolation/effect-trace.ts";
import { isWithin, matchesPath, normalPath, resolvePatterns } from "../../core/isolation/scope-patterns.ts";
import { destinationOf, isLoopback, looksForLoopback, namesDestination } from "./destinations.ts";
import { inWorkspace, isObeyed, isScratch, isShut, mayRead, mayWrite, normalIn, secretAt } from "./file-scope.ts";
import { type EventRule, type Finding, type Grounds, shown, took } from "./grounds.ts";

/** Paths that an event changes: both ends of a rename, and a link itself; what a link leads to is only read. */
function changedPaths({ action, path, target }: EffectEvent): readonly (string | undefined)[] {
  return action === "file-rename" && target !== undefined ? [path, target] : [path];
}

/** Where the target of an event lies; that of a link may be relative to the folder of the link. */
export function targetOf({ action, path, target }: EffectEvent): string | undefined {
  if (action !== "file-link" || path === undefined || target === undefined || target.startsWith("/")) return target;
  return normalPath(`${path}/../${target}`) ?? target;
}

const opensFile = (event: EffectEvent, server: string): string =>
  `if that is wanted, add \`files: {read: [...]}\` with ${shown(event.path)} under isolation.servers.${server}`;
/** Programs write a file beside its place and rename it: what is wanted is the folder, never a name that chance made. */
const opensFolder = ({ path, target }: EffectEvent, server: string): string => {
  const whole = target ?? path ?? "";
  const folder = whole.slice(0, whole.lastIndexOf("/"));
  return `if that is wanted, give it a folder: \`files: {write: [...]}\` with ${shown(folder === "" ? whole : folder)} under isolation.servers.${server}`;
};
const removeIt = (_: EffectEvent, server: string): string => `use another server than \`${server}\`, or ask its author`;

export const scopeRules: readonly EventRule[] = [
  {
    id: "file.secret",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) =>
      event.action.startsWith("file-") &&
      (secretAt(event.path, grounds) ?? secretAt(targetOf(event), grounds)) !== undefined,
    what: ({ action, path }) =>
      `${action === "file-read" ? "tried to read" : "touched"} ${shown(path)}, where secrets are kept`,
    way: (event, server) => `${opensFile(event, server)}, and name it in \`sensitive\``,
  },
  {
    id: "file.shut",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) =>
      event.action.startsWith("file-") &&
      event.outcome !== "failed" &&
      (isShut(event.path, grounds) || isShut(event.target, grounds)),
    what: ({ path }) => `used ${shown(path)}, which its scope shuts`,
    way: (_, server) => `if that is wanted, take it out of \`files: {deny: [...]}\` under isolation.servers.${server}`,
  },
  {
    id: "file.obeyed",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) => changesFiles(event) && changedPaths(event).some((path) => isObeyed(path, grounds)),
    what: ({ path, target }) => `wrote ${shown(target ?? path)}, which other programs would obey`,
    way: removeIt,
  },
  {
    id: "file.read",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) => event.action === "file-read" && !mayRead(event.path, grounds),
    what: ({ path }) => `tried to read ${shown(path)}, which its scope does not name`,
    way: opensFile,
  },
  {
    id: "file.write",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) => changesFiles(event) && changedPaths(event).some((path) => !mayWrite(path, grounds)),
    what: ({ path, target }) => `tried to change ${shown(target ?? path)}, which its scope does not let it write`,
    way: opensFolder,
  },
  {
    id: "file.link-target",
    code: "SG-SCOPE-FILE",
    applies: (event, grounds) =>
      event.action === "file-link" && event.target !== undefined && !mayRead(targetOf(event), grounds),
    what: ({ path, target }) => `made ${shown(path)} lead to ${shown(target)}, which its scope does not name`,
    way: removeIt,
  },
  {
    id: "net.destination",
    code: "SG-SCOPE-NET",
    applies: (event, grounds) =>
      (event.action === "net-connect" || event.action === "net-send") &&
      event.transport !== "unix" &&
      !looksForLoopback(event, grounds) &&
      !namesDestination(event, grounds),
    what: (event) => `tried to reach ${shown(destinationOf(event))}, which its scope does not name`,
    way: (event, server) =>
      `if that is wanted, add ${shown(destinationOf(event))} to \`net: {allow: [...]}\` under isolation.servers.${server}`,
  },
  {
    id: "net.name",
    code: "SG-SCOPE-NET",
    applies: (event, grounds) => event.action === "dns-query" && !namesDestination(event, grounds),
    what: ({ domain }) => `asked for the name ${shown(domain)}, which its scope does not hold`,
    way: ({ domain }, server) =>
      `if that is wanted, add ${shown(domain)} to \`net: {allow: [...]}\` under isolation.servers.${server}`,
  },
  {
    id: "net.socket",
    code: "SG-SCOPE-NET",
    applies: (event, grounds) =>
      (event.action === "net-connect" || event.action === "net-send") &&
      event.transport === "unix" &&
      !namesDestination(event, grounds) &&
      !isOwnSocket(event, grounds),
    what: ({ path }) => `tried to reach the socket ${shown(path)} of another program`,
    way: ({ path }, server) => `if that is wanted, add ${shown(path)} to \`sockets\` under isolation.servers.${server}`,
  },
  {
    id: "net.listen",
    code: "SG-SCOPE-NET",
    applies: (event, grounds) =>
      event.action === "net-listen" && (event.transport === "unix" ? !isOwnSocket(event, grounds) : !isLoopback(event)),
    what: (event) => `waited for connections at ${shown(destinationOf(event))}`,
    way: removeIt,
  },
  {
    id: "process.program",
    code: "SG-SCOPE-PROCESS",
    applies: (event, grounds) =>
      event.action === "process-spawn" && grounds.order.scope.exec.mode !== "any" && !mayStart(event, grounds),
    what: ({ program }) => `tried to start ${shown(program)}, which its scope does not name`,
    way: ({ program }, server) =>
      `if that is wanted, add ${shown(baseName(program))} to \`exec: {mode: list, programs: [...]}\` under isolation.servers.${server}`,
  },
  {
    id: "process.signal",
    code: "SG-SCOPE-PROCESS",
    applies: ({ action, outcome }) => action === "process-signal" && outcome === "denied",
    what: () => "tried to signal a process that is not its own",
    way: removeIt,
  },
  {
    id: "process.call",
    code: "SG-SCOPE-PROCESS",
    applies: ({ action }) => action === "system-call",
    what: ({ detail }) => `tried the system call ${shown(detail)}, which no server needs`,
    way: removeIt,
  },
  {
    id: "limit.hit",
    code: "SG-SCOPE-LIMIT",
    applies: ({ action }) => action === "limit-hit",
    what: ({ detail }) => `went over its limit (${shown(detail)})`,
    way: (_, server) => `if it needs more, raise \`limits\` or the bytes of \`net\` under isolation.servers.${server}`,
  },
];

/** A socket in the abstract space of its own network, in its own folders or in a workspace that it may write. */
function isOwnSocket({ path }: EffectEvent, grounds: Grounds): boolean {
  if (path === undefined || path === "") return true;
  return isScratch(path, grounds) || (inWorkspace(path, grounds) && mayWrite(path, grounds));
}

/** Folders with every program of the machine: they name the runtime's libraries, not a program. */
const systemFolders = new Set([
  "/",
  "/usr",
  "/bin",
  "/sbin",
  "/usr/bin",
  "/usr/sbin",
  "/usr/local",
  "/usr/local/bin",
  "/opt",
  "/nix/store",
]);

const ownKnown = new WeakMap<Grounds, readonly string[]>();

/** Folders of the server's own code, without those that hold everybody's. */
function ownFolders(grounds: Grounds): readonly string[] {
  const made = ownKnown.get(grounds);
  if (made !== undefined) return made;
  const { places } = grounds.trace;
  const named = places.code.filter((folder) => !systemFolders.has(normalPath(folder) ?? "/"));
  const own = named.flatMap((folder) => resolvePatterns(folder, places));
  ownKnown.set(grounds, own);
  return own;
}

/** Named by the scope, or the server's own code. A search along `PATH` fails in each folder but one. */
export function mayStart(event: EffectEvent, grounds: Grounds): boolean {
  const { program } = event;
  if (program === undefined) return false;
  // Browsers start themselves once more by this name: what runs then is what runs already.
  if (program === "/proc/self/exe") return true;
  const normal = normalIn(program, grounds);
  if (normal !== undefined && ownFolders(grounds).some((folder) => isWithin(normal, folder))) return true;
  return isListed(event, grounds);
}

/**
 * The scope names this very program. One that the server put into its own folders is none that a mere name means,
 * except while programs are only looked for along `PATH`.
 */
export function isListed(event: EffectEvent, grounds: Grounds): boolean {
  const { program = "" } = event;
  const planted = took(event) && isScratch(program, grounds);
  // Where nothing was found, a program named by its path may have been looked for by its name.
  const sought = event.outcome === "failed";
  return grounds.programs.some((one) =>
    one.includes("/")
      ? matchesPath(one, program, grounds.trace.places) || (sought && baseName(one) === baseName(program))
      : !planted && one === baseName(program),
  );
}

export function baseName(program: string | undefined): string {
  const parts = (program ?? "").split("/");
  return parts.at(-1) ?? "";
}

/** Findings from the writes themselves, independent of the tracer. */
export function changeFindings({ order, trace }: Grounds): readonly Finding[] {
  const { mode } = order.scope.files.workspace;
  const written = mode === "overlay" || mode === "direct";
  return trace.changes.flatMap((change): readonly Finding[] => {
    const rule = changeRule(change, written);
    return rule === undefined ? [] : [{ ...rule, code: "SG-SCOPE-WORKSPACE", verdict: "deny" }];
  });
}

function changeRule(
  { path, kind, guarded }: WorkspaceChange,
  written: boolean,
): Pick<Finding, "rule" | "what" | "way"> | undefined {
  const way = "make that change yourself if it is wanted";
  if (guarded) return { rule: "workspace.guarded", what: `wrote ${shown(path)}, which other programs would obey`, way };
  if (kind === "special")
    return { rule: "workspace.special", what: `made ${shown(path)}, which is not an ordinary file`, way };
  if (written) return undefined;
  return { rule: "workspace.read-only", what: `changed ${shown(path)} in a workspace that it may only read`, way };
}
