/**
 * The gateway's configuration: which servers there are, how to reach them, which policy holds. Errors name the place
 * in the file and the way on; a file with errors starts nothing.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { attempt } from "../../adapters/attempt.ts";
import { hostName } from "../../adapters/http/http-guard.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ServerTarget } from "../../gateway/ports/transport.ts";
import { tagShape } from "../policy/names.ts";
import { shortPath } from "../state/sentences.ts";
import { textFile } from "../state/text-file.ts";

export const configBytesMax = 1024 * 1024;
export const configServersMax = 256;

export type AuthMode = "static" | "same-origin";

export type ServerConfig = { readonly target: ServerTarget; readonly auth: AuthMode };

export type GatewayConfig = {
  /** Absolute path of the file itself. */
  readonly file: string;
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** Absolute paths of policies that `match` selects from; none = the default policy. */
  readonly policies: readonly string[];
  /** The tag for `match: {tag}` of those policies. */
  readonly tag?: string;
  /** The folder in which local writes need no question: what `workspace` names, else the folder of the configuration. */
  readonly workspace: string;
  /** Names under which clients reach the HTTP endpoint besides loopback: those of a reverse proxy in front of it. */
  readonly hosts: readonly string[];
  /** Memory in MiB that the local servers of all clients may use together; undefined: half of the machine's. */
  readonly memoryMb?: number;
  /** Origins of browsers that may use the HTTP endpoint, besides loopback. */
  readonly origins: readonly string[];
};

/** A fault of the configuration: where, what, and what to do. */
export type ConfigFault = { readonly code: string; readonly place: string; readonly sentence: string };

const configKeys = ["version", "servers", "policy", "tag", "workspace", "memoryMb", "hosts", "origins"];

/** Bounds of `memoryMb`: one small server, and more than any machine has. */
const memoryMbMin = 64;
const memoryMbMax = 16 * 1024 * 1024;

const nameShape = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const fault = (code: string, place: string, sentence: string): Result<never, ConfigFault> =>
  err({ code, place, sentence });

/** Reads a configuration file (YAML or JSON). */
export function readConfig(file: string): Result<GatewayConfig, ConfigFault> {
  const text = textFile(file, configBytesMax);
  if (!text.ok) {
    return text.error.kind === "large"
      ? fault(
          "SG-CONFIG-SIZE",
          file,
          `${file} is larger than ${configBytesMax} bytes: split the servers over several gateways`,
        )
      : fault("SG-CONFIG-READ", file, `${file} cannot be read (${text.error.why}): check the path given with --config`);
  }
  if (!text.value.isWellFormed()) return fault("SG-CONFIG-SYNTAX", file, `${file} is not UTF-8: save it as UTF-8`);
  try {
    const read = configOf(parse(text.value, { maxAliasCount: 16 }), file);
    return read.ok && !isFolder(read.value.workspace) ? missingWorkspace(read.value.workspace, file) : read;
  } catch (cause) {
    const first = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "";
    return fault(
      "SG-CONFIG-SYNTAX",
      file,
      `${file} is neither YAML nor JSON (${first.slice(0, 100)}): correct it there`,
    );
  }
}

function isFolder(path: string): boolean {
  return attempt(() => statSync(path).isDirectory(), false);
}

function missingWorkspace(workspace: string, file: string): Result<never, ConfigFault> {
  const sentence = `${file}: \`workspace\` leads to ${shortPath(workspace)}, which is not a folder: create it, or correct the path`;
  return fault("SG-CONFIG-WORKSPACE", "workspace", sentence);
}

/** Variables for finding a program and its files, and for the user's language; none of them holds a secret. */
export const usualVariables = [
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TERM",
  "TMPDIR",
  "TZ",
  "USER",
];

/**
 * Gives each local server what it would have in a shell beside what the configuration says. Nothing else of this
 * process's environment: the keys of one server are not those of the next.
 */
export function withUsualVariables(config: GatewayConfig, environment: NodeJS.ProcessEnv): GatewayConfig {
  const usual = Object.fromEntries(
    usualVariables.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
  const servers = [...config.servers].map(([name, server]): [string, ServerConfig] => {
    const { target } = server;
    if (target.kind !== "stdio") return [name, server];
    const named = Object.keys(target.env);
    return [name, { ...server, target: { ...target, env: { ...usual, ...target.env }, named } }];
  });
  return { ...config, servers: new Map(servers) };
}

/** Checks a configuration value; paths in it are relative to the folder of `file`. */
export function configOf(value: unknown, file: string): Result<GatewayConfig, ConfigFault> {
  if (!isRecord(value)) return fault("SG-CONFIG-SHAPE", file, `${file} must be a map with \`version\` and \`servers\``);
  const unknown = Object.keys(value).find((key) => !configKeys.includes(key));
  if (unknown !== undefined) {
    return fault(
      "SG-CONFIG-KEY",
      unknown,
      `${file}: \`${unknown.slice(0, 40)}\` is unknown: use ${configKeys.slice(0, -1).join(", ")} or ${configKeys.at(-1)}`,
    );
  }
  if (value["version"] !== 1) return fault("SG-CONFIG-VERSION", "version", `${file}: \`version\` must be 1`);
  const listed = value["servers"];
  if (!isRecord(listed) || Object.keys(listed).length === 0) {
    return fault("SG-CONFIG-SERVERS", "servers", `${file}: \`servers\` must name at least one server`);
  }
  if (Object.keys(listed).length > configServersMax) {
    return fault(
      "SG-CONFIG-SERVERS",
      "servers",
      `${file}: more than ${configServersMax} servers: split them over several gateways`,
    );
  }
  const servers = new Map<string, ServerConfig>();
  for (const [name, entry] of Object.entries(listed)) {
    const server = serverOf(name, entry, file);
    if (!server.ok) return server;
    servers.set(name, server.value);
  }
  const apart = notAlone(servers, file);
  if (apart !== undefined) return apart;
  const policy = value["policy"] ?? [];
  const policies = typeof policy === "string" ? [policy] : policy;
  if (!isTexts(policies)) {
    return fault(
      "SG-CONFIG-POLICY",
      "policy",
      `${file}: \`policy\` must be the path of a policy file, or a list of them`,
    );
  }
  const tag = value["tag"];
  if (tag !== undefined && !(typeof tag === "string" && tagShape.test(tag))) {
    return fault("SG-CONFIG-TAG", "tag", `${file}: \`tag\` must be a name of 1-64 of a-z A-Z 0-9 . _ -`);
  }
  const hosts = hostsOf(value["hosts"] ?? [], file);
  if (!hosts.ok) return hosts;
  const origins = value["origins"] ?? [];
  if (!isTexts(origins)) return fault("SG-CONFIG-ORIGINS", "origins", `${file}: \`origins\` must be a list of origins`);
  const memoryMb = value["memoryMb"];
  if (memoryMb !== undefined && !isMemoryMb(memoryMb)) {
    const sentence = `${file}: \`memoryMb\` must be a whole number of MiB, ${memoryMbMin} or more: correct it, or leave it out`;
    return fault("SG-CONFIG-MEMORY", "memoryMb", sentence);
  }
  const workspace = value["workspace"] ?? ".";
  if (typeof workspace !== "string") {
    return fault("SG-CONFIG-WORKSPACE", "workspace", `${file}: \`workspace\` must be the folder that clients work in`);
  }
  const beside = (path: string): string => placeOf(path, dirname(file));
  return ok({
    file: resolve(file),
    servers: new Map([...servers].map(([name, server]) => [name, workingIn(server, beside(workspace))])),
    policies: policies.map(beside),
    workspace: beside(workspace),
    hosts: hosts.value,
    origins,
    ...(tag === undefined ? {} : { tag }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
  });
}

function isMemoryMb(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= memoryMbMin && Number(value) <= memoryMbMax;
}

/** An absolute path as it is, `~/x` below the home folder, any other one relative to a folder. */
function placeOf(path: string, folder: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : resolve(folder, path);
}

/** A local server works in the workspace of the gateway's clients, wherever its program is started. */
function workingIn({ target, ...server }: ServerConfig, workspace: string): ServerConfig {
  return { ...server, target: target.kind === "stdio" ? { ...target, workspace } : target };
}

function hostsOf(value: unknown, file: string): Result<readonly string[], ConfigFault> {
  const names = isTexts(value) ? value.map((name) => name.toLowerCase()) : undefined;
  const wrong = names?.findIndex((name) => hostName(name) !== name || !/[a-z0-9]/.test(name));
  if (names !== undefined && wrong === -1) return ok(names);
  const place = wrong === undefined ? "hosts" : `hosts.${wrong}`;
  return fault(
    "SG-CONFIG-HOSTS",
    place,
    `${file}: \`${place}\` must be a host name, such as api.example, in a list: leave scheme, port and path out, and name each one`,
  );
}

/** A client's credentials for `same-origin` are meant for one server, and the run's labels belong to one user there. */
function notAlone(servers: ReadonlyMap<string, ServerConfig>, file: string): Result<never, ConfigFault> | undefined {
  const passing = [...servers].find(([, { auth }]) => auth === "same-origin");
  if (passing === undefined || servers.size === 1) return undefined;
  const place = `servers.${passing[0]}.auth`;
  return fault(
    "SG-CONFIG-AUTH",
    place,
    `${file}: ${place} is refused: with several servers a client's credentials would reach others than they are meant for; give this one a gateway of its own`,
  );
}

function serverOf(name: string, entry: unknown, file: string): Result<ServerConfig, ConfigFault> {
  const place = `servers.${name.slice(0, 40)}`;
  if (!nameShape.test(name)) {
    return fault(
      "SG-CONFIG-NAME",
      place,
      `${file}: ${place}: names are 1-32 of a-z 0-9 _ - and start with a letter or digit`,
    );
  }
  if (!isRecord(entry))
    return fault("SG-CONFIG-SERVER", place, `${file}: ${place} must be a map with \`command\` or \`url\``);
  const known = ["command", "args", "env", "cwd", "url", "flavour", "headers", "auth"];
  const unknown = Object.keys(entry).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    return fault(
      "SG-CONFIG-KEY",
      `${place}.${unknown}`,
      `${file}: ${place}.${unknown.slice(0, 40)} is unknown: use ${known.join(", ")}`,
    );
  }
  if ((entry["command"] === undefined) === (entry["url"] === undefined)) {
    return fault(
      "SG-CONFIG-SERVER",
      place,
      `${file}: ${place} needs either \`command\` or \`url\`, not both and not neither`,
    );
  }
  const auth = authOf(entry["auth"] ?? "static", place, file);
  if (!auth.ok) return auth;
  const target = entry["url"] === undefined ? commandOf(entry, place, file) : urlOf(entry, place, file);
  if (!target.ok) return target;
  const reason = auth.value === "same-origin" ? noSameOrigin(target.value) : undefined;
  return reason === undefined ? ok({ target: target.value, auth: auth.value }) : refusedAuth(place, file, reason);
}

/** Why a client's credentials cannot go on to a target. */
function noSameOrigin(target: ServerTarget): string | undefined {
  if (target.kind === "stdio") return "a command has no origin and takes no credentials of clients; use `static`";
  const own = Object.keys(target.headers).some((name) => name.toLowerCase() === "authorization");
  return own ? "who sends none would act with the `Authorization` in `headers`; remove it, or use `static`" : undefined;
}

function refusedAuth(place: string, file: string, reason: string): Result<never, ConfigFault> {
  return fault("SG-CONFIG-AUTH", `${place}.auth`, `${file}: ${place}.auth is refused: ${reason}`);
}

/** Only two modes of gateway.md 8 are here; every other one is refused with the reason, never half done. */
function authOf(value: unknown, place: string, file: string): Result<AuthMode, ConfigFault> {
  if (value === "static" || value === "same-origin") return ok(value);
  const reasons: Readonly<Record<string, string>> = {
    client: "the gateway cannot yet sign in on your behalf",
    resource: "official clients reject the resource metadata of another origin",
  };
  const reason = typeof value === "string" ? (reasons[value] ?? "it is unknown") : "it is not a text";
  return refusedAuth(place, file, `${reason}; use \`static\` or \`same-origin\``);
}

function commandOf(entry: Record<string, unknown>, place: string, file: string): Result<ServerTarget, ConfigFault> {
  const { command, args = [], env = {}, cwd } = entry;
  if (typeof command !== "string" || command === "") {
    return fault("SG-CONFIG-COMMAND", `${place}.command`, `${file}: ${place}.command must be the program to start`);
  }
  if (!isTexts(args)) return fault("SG-CONFIG-ARGS", `${place}.args`, `${file}: ${place}.args must be a list of texts`);
  if (!isRecord(env) || !isTexts(Object.values(env))) {
    return fault("SG-CONFIG-ENV", `${place}.env`, `${file}: ${place}.env must map names to texts`);
  }
  if (cwd !== undefined && typeof cwd !== "string") {
    return fault("SG-CONFIG-CWD", `${place}.cwd`, `${file}: ${place}.cwd must be a folder`);
  }
  const folder = dirname(file);
  const filled = withVariables(env, { code: "SG-CONFIG-ENV", place: `${place}.env`, file });
  if (!filled.ok) return filled;
  return ok({
    kind: "stdio",
    command,
    args,
    env: filled.value,
    workingDirectory: placeOf(cwd ?? ".", folder),
  });
}

function urlOf(entry: Record<string, unknown>, place: string, file: string): Result<ServerTarget, ConfigFault> {
  const { url, flavour = "auto", headers = {} } = entry;
  if (typeof url !== "string" || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return fault("SG-CONFIG-URL", `${place}.url`, `${file}: ${place}.url must be an http or https address`);
  }
  if (new URL(url).username !== "" || new URL(url).password !== "") {
    return fault("SG-CONFIG-URL", `${place}.url`, `${file}: ${place}.url holds a password: move it into \`headers\``);
  }
  if (flavour !== "auto" && flavour !== "streamable" && flavour !== "sse") {
    return fault("SG-CONFIG-FLAVOUR", `${place}.flavour`, `${file}: ${place}.flavour must be auto, streamable or sse`);
  }
  if (!isRecord(headers) || !isTexts(Object.values(headers))) {
    return fault("SG-CONFIG-HEADERS", `${place}.headers`, `${file}: ${place}.headers must map names to texts`);
  }
  if (url.includes("${")) {
    const reason = "holds `${`, which is filled in for `headers` and `env` only: move the secret into `headers`";
    return fault("SG-CONFIG-URL", `${place}.url`, `${file}: ${place}.url ${reason}`);
  }
  const filled = withVariables(headers, { code: "SG-CONFIG-HEADERS", place: `${place}.headers`, file });
  if (!filled.ok) return filled;
  return ok({ kind: "http", url, flavour, headers: filled.value });
}

/**
 * Texts with each `${NAME}` replaced by that variable of the gateway's own environment. What is not filled in is refused: sent
 * literally, it would be a wrong credential.
 */
function withVariables(
  texts: Record<string, unknown>,
  at: { readonly code: string; readonly place: string; readonly file: string },
): Result<Record<string, string>, ConfigFault> {
  const filled: [string, string][] = [];
  for (const [key, one] of Object.entries(texts)) {
    const place = `${at.place}.${key.slice(0, 40)}`;
    const absent: string[] = [];
    const text = String(one).replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_all, name: string) => {
      const value = process.env[name] ?? "";
      if (value === "" || /[\r\n\0]/.test(value)) absent.push(name);
      return value;
    });
    const [name] = absent;
    if (name !== undefined) {
      const reason = `needs the variable ${name.slice(0, 60)}, which is not set to one line of text: set it where the gateway starts`;
      return fault(at.code, place, `${at.file}: ${place} ${reason}`);
    }
    if (/\$\{(?![A-Za-z_][A-Za-z0-9_]*\})/.test(String(one))) {
      const reason = "holds a `${` that is no variable: write `${NAME}`, with letters, digits and underscores";
      return fault(at.code, place, `${at.file}: ${place} ${reason}`);
    }
    filled.push([key, text]);
  }
  return ok(Object.fromEntries(filled));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
