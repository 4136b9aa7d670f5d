/** Shape of the section `isolation`, and of the scope that a label pack gives. */
import { isolationTiers, tracings, violationActs } from "../../core/scope.ts";
import type { LimitScope, ToolScope } from "../../core/scope.ts";
import type {
  EffectsJudgeText,
  IsolationSection,
  PackScopeText,
  ScopeText,
  ServerIsolationText,
} from "../document-isolation.ts";
import { scopeEntriesMax } from "../limits.ts";
import type { Shape } from "./shape.ts";
import { either, flag, integer, list, mapOf, object, oneOf, optional, required, text } from "./shape.ts";

/** Names of environment variables as POSIX shells take them. */
const variablePattern = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
const namePattern = "^[^\\s\\p{C}]{1,128}$";
const hour = 3_600_000;
const gibibyte = 1_073_741_824;

const paths = list(text("path"), 0, scopeEntriesMax);
const destinations = list(text("destination"), 0, scopeEntriesMax);
const programs = list(text("program"), 0, scopeEntriesMax);
const trace = oneOf("trace mode", tracings);
const onViolation = oneOf("act", violationActs);
const requireTier = oneOf("tier", ["strict", ...isolationTiers]);
const variable = text("environment variable", variablePattern, "API_TOKEN");

const workspace = object<NonNullable<NonNullable<ScopeText["files"]>["workspace"]>>("a workspace", {
  mode: optional(oneOf("workspace mode", ["overlay", "direct", "read", "none"]), "how the server sees the workspace"),
  commit: optional(oneOf("commit mode", ["allow", "review", "never"]), "which of its writes reach the workspace"),
  per: optional(oneOf("choice", ["call", "run"]), "when the verdict on its writes falls"),
  quotaMb: optional(integer("mebibytes", 1, 1_048_576), "mebibytes that may wait for a verdict"),
});

const files = object<NonNullable<ScopeText["files"]>>("a files section", {
  read: optional(paths, "files and folders that it may read"),
  write: optional(paths, "files and folders that it may read and write"),
  deny: optional(paths, "neither read nor written, although a wider entry names it"),
  workspace: optional(workspace, "how it sees the workspace"),
});

const net = object<NonNullable<ScopeText["net"]>>("a net section", {
  mode: optional(oneOf("net mode", ["none", "list", "open"]), "`list`: what `allow` names, and nothing else"),
  allow: optional(destinations, "`host:port`, `*.host:port` or an address; 443 where no port stands"),
  callBytesMax: optional(integer("bytes", 1, 1_024 * gibibyte), "bytes of one call, both ways"),
  serverBytesMax: optional(integer("bytes", 1, 1_024 * gibibyte), "bytes over the life of the server, both ways"),
});

const exec = object<NonNullable<ScopeText["exec"]>>("an exec section", {
  mode: optional(oneOf("exec mode", ["any", "list", "none"]), "which programs it may start"),
  programs: optional(programs, "names or paths of programs"),
});

const env = object<NonNullable<ScopeText["env"]>>("an env section", {
  pass: optional(list(variable, 0, scopeEntriesMax), "variables that reach it with their value"),
  set: optional(mapOf("environment variable", text("value"), variablePattern), "variables with a value of their own"),
});

const limits = object<Partial<LimitScope>>("limits of a server", {
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
  sensitive: optional(paths, "entries that give away keys or this machine, named a second time on purpose"),
};

const toolScope = object<Partial<ToolScope>>("the scope of a tool", {
  read: optional(paths, "what it may read beyond its server"),
  write: optional(paths, "what it may write beyond its server"),
  allow: optional(destinations, "what it may connect to while it is called"),
  programs: optional(programs, "what it may start beyond its server"),
});
const tools = optional(mapOf("tool", toolScope, namePattern), "what tools may touch beyond it, while they are called");

export const packScope: Shape<PackScopeText> = object<PackScopeText>("the scope of a pack", { ...scopeFields, tools });

const server = object<ServerIsolationText>("the isolation of a server", {
  backend: optional(oneOf("backend", ["auto", "learn", "off"]), "`learn` watches and rejects nothing; `off` runs bare"),
  require: optional(requireTier, "weakest tier that is accepted"),
  ...scopeFields,
  tools,
});

const judge = object<EffectsJudgeText>("the judge of isolation", {
  use: required(text("judge"), "its name under `judges`"),
  effects: optional(flag, "it is asked about acts that neither labels nor arguments explain"),
  domains: optional(flag, "it chooses what a call may reach, among hosts that its arguments name"),
  onDistrust: optional(oneOf("act", ["deny", "confirm"]), "what its distrust does to a result"),
});

export const isolation: Shape<IsolationSection> = object<IsolationSection>("an isolation section", {
  backend: optional(oneOf("backend", ["auto", "off"]), "`off` runs every server bare"),
  require: optional(requireTier, "weakest tier that is accepted; below it no server starts"),
  required: optional(flag, "as `require: B`"),
  trace: optional(trace, "which acts are traced"),
  onViolation: optional(onViolation, "what else happens to a server that went out of its scope"),
  judge: optional(judge, "a model that looks at what rules leave open"),
  defaults: optional(object<ScopeText>("a scope", scopeFields), "what holds for every server"),
  servers: optional(mapOf("server", server, namePattern), "what holds for one server"),
  trace_mode: optional(oneOf("trace mode", ["auto", "py", "full", "effects", "none"]), "as `trace`"),
  persist_workspace: optional(flag, "as `workspace: {per: run}` in the defaults"),
  link_inputs: optional(flag, "as `workspace: {mode: read}` in the defaults"),
  allowed_paths: optional(paths, "as `files: {read: ...}` in the defaults"),
  allowed_domains: optional(destinations, "as `net: {allow: ...}` in the defaults"),
  exec_trace_whitelisted: optional(
    either<[boolean, readonly string[]]>("a choice or a list of programs", flag, programs),
    "programs whose start needs no judge",
  ),
  callTimeoutMs: optional(integer("milliseconds", 1, 24 * hour), "as `limits: {callTimeoutMs: ...}` in the defaults"),
});
