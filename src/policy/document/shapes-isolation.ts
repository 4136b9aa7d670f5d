/** Shape of the section `isolation`, and of the scope that a label pack gives. */
import { isolationTiers, tracings, violationActs } from "../../core/isolation/scope.ts";
import { scopeEntriesMax } from "../values/limits.ts";
import {
  type Infer,
  type Members,
  type Shape,
  flag,
  integer,
  list,
  mapOf,
  object,
  oneOf,
  optional,
  required,
  text,
} from "./shape.ts";
import { namePattern } from "./shapes-labels.ts";

/** Names of environment variables as POSIX shells take them; any other text is likely to be a key itself. */
export const variablePattern = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
const hour = 3_600_000;
const gibibyte = 1_073_741_824;

const paths = list(text("path"), 0, scopeEntriesMax);
const destinations = list(text("destination"), 0, scopeEntriesMax);
const programs = list(text("program"), 0, scopeEntriesMax);
const trace = oneOf("trace mode", tracings);
const onViolation = oneOf("act", violationActs);
const requireTier = oneOf("tier", ["strict", ...isolationTiers]);
/** `strict` is the best tier there is. */
export type RequireText = Infer<typeof requireTier>;
const variable = text("environment variable", variablePattern, "API_TOKEN");

const workspace = object("a workspace", {
  mode: optional(oneOf("workspace mode", ["overlay", "direct", "read", "none"]), "how the server sees the workspace"),
  commit: optional(oneOf("commit mode", ["allow", "review", "never"]), "which of its writes reach the workspace"),
  per: optional(oneOf("choice", ["call", "run"]), "when the verdict on its writes falls"),
  quotaMb: optional(integer("mebibytes", 1, 1_048_576), "mebibytes that may wait for a verdict"),
});

const files = object("a files section", {
  read: optional(paths, "files and folders that it may read"),
  write: optional(paths, "files and folders that it may read and write"),
  deny: optional(paths, "neither read nor written, although a wider entry names it"),
  workspace: optional(workspace, "how it sees the workspace"),
});

const net = object("a net section", {
  mode: optional(oneOf("net mode", ["none", "list", "open"]), "`list`: what `allow` names, and nothing else"),
  allow: optional(destinations, "`host:port`, `*.host:port` or an address; 443 where no port stands"),
  callBytesMax: optional(integer("bytes", 1, 1_024 * gibibyte), "bytes of one call, both ways"),
  serverBytesMax: optional(integer("bytes", 1, 1_024 * gibibyte), "bytes over the life of the server, both ways"),
});

const exec = object("an exec section", {
  mode: optional(oneOf("exec mode", ["any", "list", "none"]), "which programs it may start"),
  programs: optional(programs, "names or paths of programs"),
});

const env = object("an env section", {
  pass: optional(list(variable, 0, scopeEntriesMax), "variables that reach it with their value"),
  set: optional(mapOf("environment variable", text("value"), variablePattern), "variables with a value of their own"),
});

const limits = object("limits of a server", {
  memoryMb: optional(integer("mebibytes", 16, 1_048_576), "memory of all its processes"),
  processes: optional(integer("processes", 1, 100_000), "processes and threads at once"),
  openFiles: optional(integer("files", 16, 1_048_576), "files that one process has open"),
  cpuSeconds: optional(integer("seconds", 1, 31_536_000), "processor time of one process"),
  fileMb: optional(integer("mebibytes", 1, 1_048_576), "size of one file"),
  callTimeoutMs: optional(integer("milliseconds", 1, 24 * hour), "longest call"),
});

const scopeFields = {
  files: optional(files, "what it may read and write"),
  net: optional(net, "what it may connect to"),
  exec: optional(exec, "what it may start"),
  env: optional(env, "what it gets of the environment"),
  sockets: optional(paths, "sockets of this machine that it may connect to"),
  limits: optional(limits, "what it may use up"),
  trace: optional(trace, "which of its acts are traced"),
  serial: optional(flag, "one call at a time, so that every act belongs to one"),
  onViolation: optional(onViolation, "what else happens to a server that went out of its scope"),
  /** Entries of this layer that give away keys or this machine; each has to be named here as well. */
  sensitive: optional(paths, "entries that give away keys or this machine, named a second time on purpose"),
};

const toolScope = object("the scope of a tool", {
  read: optional(paths, "what it may read beyond its server"),
  write: optional(paths, "what it may write beyond its server"),
  allow: optional(destinations, "what it may connect to while it is called"),
  programs: optional(programs, "what it may start beyond its server"),
});
const tools = optional(mapOf("tool", toolScope, namePattern), "what tools may touch beyond it, while they are called");

/** A scope. An absent member is decided by the next wider layer: the pack, the defaults, the built-in scope. */
export interface ScopeText extends Members<typeof scopeFields> {}
const scope: Shape<ScopeText> = object("a scope", scopeFields);

const packScopeObject = object("the scope of a pack", { ...scopeFields, tools });
/** Scope that a label pack gives the servers that it describes. */
export interface PackScopeText extends Infer<typeof packScopeObject> {}
export const packScope: Shape<PackScopeText> = packScopeObject;

const server = object("the isolation of a server", {
  backend: optional(oneOf("backend", ["auto", "learn", "off"]), "`learn` watches and rejects nothing; `off` runs bare"),
  require: optional(requireTier, "weakest tier that is accepted"),
  ...scopeFields,
  tools,
});
export type ServerIsolationText = Infer<typeof server>;

const judge = object("the judge of isolation", {
  /** Its name under `judges`. */
  use: required(text("judge"), "its name under `judges`"),
  effects: optional(flag, "it is asked about acts that neither labels nor arguments explain"),
  domains: optional(flag, "it chooses what a call may reach, among hosts that its arguments name"),
  onDistrust: optional(oneOf("act", ["deny", "confirm"]), "what its distrust does to a result"),
  programs: optional(programs, "programs whose start it is not asked about; they are traced like all others"),
});
/** A judge of what rules leave open. It tightens, and chooses destinations among names that arguments hold. */
export type EffectsJudgeText = Infer<typeof judge>;

const isolationObject = object("an isolation section", {
  backend: optional(
    oneOf("backend", ["auto", "where-possible", "off"]),
    "`where-possible` runs bare what tier A cannot hold, `off` every server",
  ),
  require: optional(requireTier, "weakest tier that is accepted; below it no server starts"),
  /** The former way to write `require: B`, the weakest tier that confines a server at all. */
  required: optional(flag, "as `require: B`"),
  trace: optional(trace, "which acts are traced"),
  onViolation: optional(onViolation, "what else happens to a server that went out of its scope"),
  judge: optional(judge, "a model that looks at what rules leave open"),
  /** Holds for every server. */
  defaults: optional(scope, "what holds for every server"),
  servers: optional(mapOf("server", server, namePattern), "what holds for one server"),
  /** The paper's key. `py` names its tracer for one language; every tracer here sees at least as much. */
  trace_mode: optional(oneOf("trace mode", ["auto", "py", "full", "effects", "none"]), "as `trace`"),
  persist_workspace: optional(flag, "as `workspace: {per: run}` in the defaults"),
  link_inputs: optional(flag, "as `workspace: {mode: read}` in the defaults"),
  allowed_paths: optional(paths, "as `files: {read: ...}` in the defaults"),
  allowed_domains: optional(destinations, "as `net: {mode: list, allow: ...}` in the defaults; it may be empty"),
  /** In the paper: whether servers that are already trusted are traced. Here they always are; the judge can be left out. */
  exec_trace_whitelisted: optional(flag, "`false`: the judge is not asked about servers with `trust: trusted`"),
  callTimeoutMs: optional(integer("milliseconds", 1, 24 * hour), "as `limits: {callTimeoutMs: ...}` in the defaults"),
});
export interface IsolationSection extends Infer<typeof isolationObject> {}
export const isolation: Shape<IsolationSection> = isolationObject;
