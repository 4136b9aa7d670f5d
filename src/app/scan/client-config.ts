/**
 * Servers in the configuration file of an MCP client, or in one of Sluicegate's own. Clients agree on little: the map of
 * servers has one of seven names, a command is a text or a list, and the variables of an environment are written in two
 * ways. What is not understood is a fault of that server alone.
 */
import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { parse } from "yaml";
import { attempt } from "../../adapters/attempt.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { type GatewayConfig, type ServerConfig, configBytesMax, configOf } from "../gateway/config.ts";
import { shortPath, shown } from "../state/sentences.ts";
import { fileSentence, textFile } from "../state/text-file.ts";

/** A server as its file names it, with the line of that name; `config` is a reason where the entry cannot be used. */
export type ConfiguredServer = {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly config: Result<ServerConfig, string>;
};

/**
 * Names of the map of servers: Claude, Cursor, Windsurf, Cline, Gemini, Continue; VS Code; OpenCode; Zed; Codex; Amp; and
 * Goose, whose map holds parts of its own as well.
 */
const serverMaps = [
  "mcpServers",
  "servers",
  "mcp",
  "context_servers",
  "mcp_servers",
  "amp.mcpServers",
  "extensions",
] as const;

/** Kinds of entries that start no server: parts of Goose itself. */
const ownParts: ReadonlySet<unknown> = new Set(["builtin", "platform", "frontend", "inline_python"]);

const serversMax = 256;

/** Why no servers were found: the file could not be read or names none. `sentence` says so with the way on. */
export type NoServers = { readonly kind: "unread" | "none"; readonly sentence: string };

/** The servers of a file. A file without servers is an error, an empty map is not. */
export function configuredServers(file: string): Result<readonly ConfiguredServer[], NoServers> {
  const unread = (sentence: string): Result<never, NoServers> => err({ kind: "unread", sentence });
  const text = textFile(file, configBytesMax);
  if (!text.ok)
    return unread(fileSentence(file, text.error, `larger than ${configBytesMax} bytes.`, "name another file."));
  const document = parsed(file, text.value);
  if (document === undefined) {
    return unread(`${shortPath(file)} is neither JSON, YAML nor TOML: name the client's configuration.`);
  }
  const servers = serverEntries(document);
  if (servers === undefined) {
    const sentence = `${shortPath(file)} names no servers (${serverMaps.join(", ")}): name the client's configuration.`;
    return err({ kind: "none", sentence });
  }
  if (servers.length > serversMax) return unread(`${shortPath(file)} names more than ${serversMax} servers: split it.`);
  return ok(servers.map(([name, entry]) => configuredServer(file, text.value, name, entry)));
}

/** A server named on the command line: an address, or the words of a command. */
export function serverOfWords(words: readonly string[], folder: string): ConfiguredServer {
  const [first = "", ...args] = words;
  const address = /^https?:/i.test(first);
  const file = join(folder, "command-line");
  const entry = address ? { url: first } : { command: first, args, cwd: folder };
  const name = address && URL.canParse(first) ? new URL(first).host : nameOfCommand(words);
  return { name, file, line: 1, config: serverConfig(file, entry) };
}

/** What a command is about: its last word that is no option, without the folders that every package has. */
function nameOfCommand(words: readonly string[]): string {
  const subject = words.findLast((word) => !word.startsWith("-")) ?? "";
  const parts = subject.split(/[\\/]/).filter((part) => !/^(?:index\.\w+|dist|build|src|bin|lib|)$/.test(part));
  return parts.at(-1) ?? "server";
}

function parsed(file: string, text: string): unknown {
  return attempt(
    () =>
      /\.toml$/i.test(file) ? parseToml(text, { maxDepth: 32 }) : parse(withoutComments(text), { maxAliasCount: 16 }),
    undefined,
  );
}

/** JSON with comments as JSON: several clients write it. YAML comments are left to its parser. */
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => (part.startsWith("/") ? " " : part));
}

/** The servers of a document with their names; undefined where it has no place for any. */
function serverEntries(document: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (!isRecord(document)) return undefined;
  const own = serverMaps.map((key) => document[key]).filter((one) => isRecord(one) || isNamedList(one));
  // VS Code's settings nest the map, and Claude Code keeps one for each project.
  const nested = own.map((one) => (isRecord(one) && isRecord(one["servers"]) ? one["servers"] : one));
  const projects = isRecord(document["projects"]) ? Object.values(document["projects"]) : [];
  const further = projects.map((one) => (isRecord(one) ? one["mcpServers"] : undefined)).filter(isRecord);
  const found = [...nested, ...further].map(entriesOf).filter(isServers);
  return found.length === 0 ? undefined : found.flat().filter(([, entry]) => !isOwnPart(entry));
}

/** Continue writes a list of entries that name themselves. */
function isNamedList(value: unknown): value is readonly Record<string, unknown>[] {
  return Array.isArray(value) && value.every((one) => isRecord(one) && typeof one["name"] === "string");
}

function entriesOf(found: unknown): readonly (readonly [string, unknown])[] {
  if (isNamedList(found)) return found.map((entry) => [String(entry["name"]), entry]);
  return isRecord(found) ? Object.entries(found) : [];
}

/** A saved list has a map `servers` as well, of lists of tools. */
function isServers(entries: readonly (readonly [string, unknown])[]): boolean {
  return entries.every(([, entry]) => !isRecord(entry) || !Array.isArray(entry["tools"]));
}

function isOwnPart(entry: unknown): boolean {
  return isRecord(entry) && ownParts.has(entry["type"]);
}

function configuredServer(file: string, text: string, name: string, entry: unknown): ConfiguredServer {
  const word = `["']?${escaped(name)}["']?`;
  // As a key of JSON or YAML, a table of TOML, or an entry of a list that names itself.
  const place = new RegExp(`^\\s*(?:${word}\\s*:|\\[[\\w.]+\\.${word}\\]|-?\\s*"?name"?\\s*:\\s*${word}\\s*,?\\s*$)`);
  const written = text.split("\n").findIndex((line) => place.test(line));
  return { name, file, line: Math.max(0, written) + 1, config: serverConfig(file, entry) };
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

function serverConfig(file: string, entry: unknown): Result<ServerConfig, string> {
  if (!isRecord(entry)) return err("its entry is not a map with `command` or `url`");
  const config = configOf({ version: 1, servers: { server: ownForm(entry) } }, file);
  if (!config.ok) {
    const { sentence } = config.error;
    return err(shown(sentence.replace(`${file}: `, "").replaceAll(/servers\.server\b\.?/g, ""), 200));
  }
  const server = config.value.servers.get("server");
  return server === undefined ? err("its entry names no server") : ok(server);
}

/** An entry as Sluicegate's own configuration would have it; members of other programs are left out. */
function ownForm(entry: Record<string, unknown>): Record<string, unknown> {
  const path = isRecord(entry["command"]) ? entry["command"] : entry;
  const words = Array.isArray(path["command"])
    ? path["command"]
    : [path["command"] ?? path["path"] ?? path["cmd"], ...list(path["args"])];
  const [command, ...args] = unwrapped(words);
  const env = entry["env"] ?? entry["environment"] ?? entry["envs"] ?? path["env"];
  const url = entry["url"] ?? entry["httpUrl"] ?? entry["serverUrl"] ?? entry["uri"];
  const headers = headersOf(entry);
  if (url !== undefined) return { url, ...(headers === undefined ? {} : { headers: filled(headers) }) };
  return {
    command,
    args,
    ...(env === undefined ? {} : { env: filled(env) }),
    ...(entry["cwd"] === undefined ? {} : { cwd: entry["cwd"] }),
  };
}

/** Headers of a remote server; Codex names the variable that holds its token. */
function headersOf(entry: Record<string, unknown>): unknown {
  const headers = entry["headers"] ?? entry["http_headers"];
  const token = entry["bearer_token_env_var"];
  if (typeof token !== "string") return headers;
  return { ...(isRecord(headers) ? headers : {}), authorization: `Bearer \${${token}}` };
}

/** The command behind `sluicegate run -- COMMAND`: the server is looked at, not this program. */
function unwrapped(words: readonly unknown[]): readonly unknown[] {
  const own = words.findIndex(
    (word) => typeof word === "string" && /(?:^|[\\/@])(?:sluicegate|sluice)(?:@[\w.-]+|\.js)?$/.test(word),
  );
  const end = words.indexOf("--");
  return own !== -1 && own < 3 && words[own + 1] === "run" && end !== -1 ? words.slice(end + 1) : words;
}

/** `${env:NAME}` is the same as `${NAME}`; what is not set is refused where the entry is checked. */
function filled(texts: unknown): unknown {
  if (!isRecord(texts)) return texts;
  const entries = Object.entries(texts).map(([name, text]) => [
    name,
    typeof text === "string" ? text.replaceAll(/\$\{env:([A-Za-z_]\w*)\}/g, "$${$1}") : text,
  ]);
  return Object.fromEntries(entries);
}

/**
 * One gateway configuration of several servers. The workspace of an isolated server is the first folder that its command
 * names, which some need to start; else it is `empty`.
 */
export function scanConfig(
  configured: ReadonlyMap<string, ServerConfig>,
  policy: string,
  empty: string,
): GatewayConfig {
  const servers = [...configured].map(([name, server]): [string, ServerConfig] => {
    const { target } = server;
    if (target.kind !== "stdio") return [name, server];
    return [name, { ...server, target: { ...target, workspace: folderAmong(target.args) ?? empty } }];
  });
  return { file: policy, servers: new Map(servers), policies: [policy], workspace: empty, hosts: [], origins: [] };
}

function folderAmong(words: readonly string[]): string | undefined {
  const isFolder = (word: string): boolean => attempt(() => statSync(word).isDirectory(), false);
  return words.find((word) => isAbsolute(word) && isFolder(word));
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
