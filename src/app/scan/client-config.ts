/**
 * Servers in the configuration file of an MCP client, or in one of Sluicegate's own. Clients agree on little: the map of
 * servers has one of five names, a command is a text or a list, and the variables of an environment are written in two
 * ways. What is not understood is a fault of that server alone.
 */
import { statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { parse } from "yaml";
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

/** Names of the map of servers: Claude, Cursor, Windsurf, Cline, Gemini; VS Code; OpenCode; Zed; and lists of projects. */
const serverMaps = ["mcpServers", "servers", "mcp", "context_servers"] as const;

const serversMax = 256;

/** The servers of a file; the error is a sentence. A file without servers is an error, an empty map is not. */
export function configuredServers(file: string): Result<readonly ConfiguredServer[], string> {
  const text = textFile(file, configBytesMax);
  if (!text.ok) {
    return err(fileSentence(file, text.error, `larger than ${configBytesMax} bytes.`, "name another file."));
  }
  const document = parsed(text.value);
  if (document === undefined)
    return err(`${shortPath(file)} is neither JSON nor YAML: name the client's configuration.`);
  const maps = serverMapsOf(document).filter(isServerMap);
  if (maps.length === 0) {
    return err(`${shortPath(file)} names no servers (${serverMaps.join(", ")}): name the client's configuration.`);
  }
  const servers = maps.flatMap((map) => Object.entries(map));
  if (servers.length > serversMax) return err(`${shortPath(file)} names more than ${serversMax} servers: split it.`);
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

function parsed(text: string): unknown {
  try {
    return parse(withoutComments(text), { maxAliasCount: 16 });
  } catch {
    return undefined;
  }
}

/** JSON with comments as JSON: several clients write it. YAML comments are left to its parser. */
export function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => (part.startsWith("/") ? " " : part));
}

function serverMapsOf(document: unknown): Record<string, unknown>[] {
  if (!isRecord(document)) return [];
  const own = serverMaps.flatMap((key) => (isRecord(document[key]) ? [document[key]] : []));
  // VS Code's settings nest the map, and Claude Code keeps one for each project.
  const nested = own.filter((map) => isRecord(map["servers"])).map((map) => map["servers"]);
  const projects = isRecord(document["projects"]) ? Object.values(document["projects"]) : [];
  const further = [...nested, ...projects.map((one) => (isRecord(one) ? one["mcpServers"] : undefined))].filter(
    isRecord,
  );
  return [...own.filter((map) => !isRecord(map["servers"])), ...further];
}

/** A saved list has a map `servers` as well, of lists of tools. */
function isServerMap(map: Record<string, unknown>): boolean {
  return Object.values(map).every((entry) => !isRecord(entry) || !Array.isArray(entry["tools"]));
}

function configuredServer(file: string, text: string, name: string, entry: unknown): ConfiguredServer {
  const written = text.split("\n").findIndex((line) => new RegExp(`^\\s*"?${escaped(name)}"?\\s*:`).test(line));
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
    : [path["command"] ?? path["path"], ...list(path["args"])];
  const [command, ...args] = unwrapped(words);
  const env = entry["env"] ?? entry["environment"] ?? path["env"];
  const url = entry["url"] ?? entry["httpUrl"] ?? entry["serverUrl"];
  if (url !== undefined)
    return { url, ...(entry["headers"] === undefined ? {} : { headers: filled(entry["headers"]) }) };
  return {
    command,
    args,
    ...(env === undefined ? {} : { env: filled(env) }),
    ...(entry["cwd"] === undefined ? {} : { cwd: entry["cwd"] }),
  };
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
  return words.find((word) => isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isDirectory() === true);
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
