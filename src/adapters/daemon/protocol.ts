/**
 * The first line of each connection to the daemon, and the daemon's reply line.
 *
 *   run      a shim's session: one reply line, then protocol bytes both ways until either side ends
 *   side     the same session's second connection: stderr, process group and end of session one way, signals the other.
 *            A killed shim and a shim whose client closed stdin look alike on the first connection; the side connection
 *            tells them apart, because a living shim never closes it first.
 *   control  one request, any number of `{part}` lines, then `{value}` or `{refused}`
 *
 * Only the same user can connect (0600 socket in a 0700 folder), so lines are checked for shape, not for malice.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { ancestorsMax } from "./daemon-limits.ts";

/** Identity of a process, distinct from a later process with the same pid. `startedAt` is empty where unknown. */
export type ProcessIdentity = { readonly pid: number; readonly startedAt: string };

/** Signals that a shim forwards to its server. */
export type ForwardedSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** How a session ended: exit code of the shim (0 or 1) and a sentence for its stderr, empty when there is none. */
export type SessionEnd = { readonly exitCode: 0 | 1; readonly sentence: string };

export type RunHello = {
  readonly kind: "run";
  readonly version: string;
  /** State folder configured for the shim; a daemon with another one refuses. */
  readonly home: string;
  /** Chosen by the shim, unique on this machine. */
  readonly session: string;
  /** Session that this one continues after the daemon was lost. */
  readonly resume?: string;
  /** Command and arguments of the server. */
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly umask: number;
  /** Absolute path of a policy file. */
  readonly policy?: string;
  readonly server?: string;
  /** Name of this connection from the command line; policies select by it. */
  readonly tag?: string;
  /** The MCP client: the shim's nearest ancestor that is not a launcher. */
  readonly client: ProcessIdentity;
  /** The ancestors of the client, nearest first. */
  readonly above: readonly ProcessIdentity[];
};

export type SideHello = { readonly kind: "side"; readonly version: string; readonly session: string };
export type ControlHello = { readonly kind: "control"; readonly version: string; readonly request: Json };
export type Hello = RunHello | SideHello | ControlHello;

export type RunReply = { readonly kind: "accepted"; readonly session: string; readonly run: string } | Refusal;

/** `version`: the other side must drain or be upgraded; `draining`: ask again soon; `refused`: final. */
export type Refusal = {
  readonly kind: "refused";
  readonly reason: "version" | "draining" | "refused";
  readonly version: string;
  readonly refused: string;
};

export type ControlReply =
  | { readonly kind: "part"; readonly value: Json }
  | { readonly kind: "value"; readonly value: Json }
  | Refusal;

/** Lines of the side connection, daemon to shim. Bytes travel as Latin-1 text: lossless, and most of it is ASCII. */
export type SideLine =
  | { readonly kind: "stderr"; readonly bytes: string }
  | { readonly kind: "group"; readonly leader: ProcessIdentity }
  | { readonly kind: "ended"; readonly end: SessionEnd };

/** Lines of the side connection, shim to daemon. */
export type SignalLine = { readonly kind: "signal"; readonly name: ForwardedSignal };

/** Encodes one message as a line of JSON with its line end. */
export function toLine(value: Hello | RunReply | ControlReply | SideLine | SignalLine): string {
  return `${JSON.stringify(value)}\n`;
}

/** Parses JSON text; undefined if it is invalid. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json; // parsing edge: everything behind it goes through `member`
  } catch {
    return undefined;
  }
}

/** Parses the first line of a connection. The error is a clause for the refusal, without a full stop. */
export function parseHello(text: string): Result<Hello, string> {
  const value = parseJson(text);
  const version = stringMember(value, "version");
  const kind = stringMember(value, "kind");
  if (!isObject(value) || version === undefined) return err("the first line is not a hello of Sluicegate");
  if (kind === "control") return ok({ kind, version, request: member(value, "request") ?? null });
  const session = stringMember(value, "session");
  if (session === undefined || session === "") return err("the hello names no session");
  if (kind === "side") return ok({ kind, version, session });
  if (kind === "run") return parseRun(value, version, session);
  return err("the hello is of no known kind");
}

function parseRun(value: JsonObject, version: string, session: string): Result<RunHello, string> {
  const argv = strings(member(value, "argv"));
  const env = textMap(member(value, "env"));
  const client = parseIdentity(member(value, "client"));
  const cwd = stringMember(value, "cwd");
  const home = stringMember(value, "home");
  const umask = member(value, "umask");
  if (argv === undefined || argv.length === 0 || argv[0] === "") return err("the hello names no command");
  if (env === undefined || cwd === undefined || home === undefined)
    return err("the hello lacks `env`, `cwd` or `home`");
  if (client === undefined || typeof umask !== "number") return err("the hello lacks `client` or `umask`");
  const resume = stringMember(value, "resume");
  const policy = stringMember(value, "policy");
  const server = stringMember(value, "server");
  const tag = stringMember(value, "tag");
  return ok({
    kind: "run",
    version,
    home,
    session,
    argv,
    cwd,
    env,
    umask: umask & 0o777,
    client,
    above: parseIdentities(member(value, "above")),
    ...(resume === undefined ? {} : { resume }),
    ...(policy === undefined ? {} : { policy }),
    ...(server === undefined ? {} : { server }),
    ...(tag === undefined ? {} : { tag }),
  });
}

/** Checks the identity of a process in a message; undefined if it is invalid. */
export function parseIdentity(value: Json | undefined): ProcessIdentity | undefined {
  const pid = member(value, "pid");
  const startedAt = stringMember(value, "startedAt");
  // Pids 0 and 1 and negative ones would turn a later kill of a group into a kill of far more than a group.
  if (typeof pid !== "number" || !Number.isInteger(pid) || pid < 1 || startedAt === undefined) return undefined;
  return { pid, startedAt };
}

/** The identities in a list; what is none is left out. */
export function parseIdentities(value: Json | undefined): readonly ProcessIdentity[] {
  const found = isArray(value) ? value.slice(0, ancestorsMax).map((one) => parseIdentity(one)) : [];
  return found.filter((one) => one !== undefined);
}

function strings(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === "string");
  return texts.length === value.length ? texts : undefined;
}

function textMap(value: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries);
}
