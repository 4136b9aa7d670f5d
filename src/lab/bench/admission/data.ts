/**
 * Lists of tools of hostile and of honest servers: those of `scenarios/admission`, and those below `manifests/` of the
 * evaluation data: `NAME.jsonl` (one server a line), `NAME/<server>/tools.json`, and `MCP-SafetyBench/cases.jsonl` (tools
 * changed in or added to a base server).
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileBytes, fileSentence } from "../../../app/state/text-file.ts";
import { packageFolder } from "../../../app/policy/policy-source.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";

/** One entry of a list beside the names of the other tools of its server. */
export type AdmissionCase = {
  readonly server: string;
  readonly entry: JsonObject;
  readonly siblings: readonly string[];
};

export type AdmissionSuite = {
  readonly name: string;
  /** Label that the data give to the servers of the suite: `benign`, `malicious` or `vulnerable`. */
  readonly label: string;
  readonly cases: readonly AdmissionCase[];
};

const fileBytesMax = 64 * 1024 * 1024;
const serversMax = 10_000;

/**
 * The lists that come with the package: attacks in other words than those of public suites, and honest entries that are
 * hard to tell from them. `seen` halves were looked at while the rules were written, `unseen` ones were not.
 */
export function ownSuites(): Result<readonly AdmissionSuite[], string> {
  return packagedSuites("admission");
}

/** Where a climbing attacker starts: the attacks that were looked at, and what the hostile fixtures list. */
export function climbStarts(): Result<readonly AdmissionSuite[], string> {
  const own = ownSuites();
  const fixtures = packagedSuites("climb");
  if (!own.ok || !fixtures.ok) return own.ok ? fixtures : own;
  return ok([...own.value.filter(({ name }) => name === "attacks-seen"), ...fixtures.value]);
}

function packagedSuites(of: "admission" | "climb"): Result<readonly AdmissionSuite[], string> {
  const folder = join(packageFolder, "scenarios", of);
  const suites: AdmissionSuite[] = [];
  for (const name of namesIn(folder) ?? []) {
    const read = fromLines(join(folder, name), name, new Map());
    if (!read.ok) return read;
    suites.push(...read.value);
  }
  return ok(suites);
}

/** All suites of the folder, sorted by name; the error names the file and the way on. */
export function admissionSuites(dataFolder: string): Result<readonly AdmissionSuite[], string> {
  const folder = join(dataFolder, "manifests");
  const suites: AdmissionSuite[] = [];
  const bases = new Map<string, readonly JsonObject[]>();
  for (const name of namesIn(folder) ?? []) {
    const read = name.endsWith(".jsonl") ? fromLines(join(folder, name), name, bases) : fromFolders(folder, name);
    if (!read.ok) return read;
    suites.push(...read.value);
  }
  const overlaid = overlays(join(folder, "MCP-SafetyBench", "cases.jsonl"), bases);
  if (!overlaid.ok) return overlaid;
  suites.push(...overlaid.value);
  if (suites.length === 0)
    return err(`${folder} holds no list of tools: name the folder that holds manifests/ with --data`);
  return ok(suites);
}

function namesIn(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder).toSorted().slice(0, serversMax);
  } catch {
    return undefined;
  }
}

function lines(file: string): Result<readonly Json[], string> {
  const bytes = fileBytes(file, fileBytesMax);
  if (!bytes.ok)
    return err(fileSentence(file, bytes.error, `larger than ${fileBytesMax} bytes: split it.`, "restore it."));
  const rows: Json[] = [];
  for (const [at, line] of bytes.value.toString("utf8").split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      rows.push(JSON.parse(line) as Json); // JSON.parse yields JSON
    } catch {
      return err(`${file}, line ${at + 1}, is not JSON: restore it, or take the file out of the folder`);
    }
  }
  return ok(rows);
}

function fromLines(
  file: string,
  name: string,
  bases: Map<string, readonly JsonObject[]>,
): Result<readonly AdmissionSuite[], string> {
  const rows = lines(file);
  if (!rows.ok) return rows;
  const byLabel = new Map<string, AdmissionCase[]>();
  for (const row of rows.value) {
    const tools = objects(member(row, "tools"));
    const server = stringMember(row, "server") ?? "";
    bases.set(stringMember(member(row, "serverInfo"), "name") ?? server, tools);
    const label = stringMember(row, "label") ?? "unlabelled";
    const instructions = stringMember(row, "instructions");
    const said = instructions === undefined ? [] : [{ text: instructions }];
    byLabel.set(label, [...(byLabel.get(label) ?? []), ...casesOf(server, [...tools, ...said])]);
  }
  return ok([...byLabel].map(([label, cases]) => ({ name: name.slice(0, -".jsonl".length), label, cases })));
}

/** Lists of a registry, one folder a server; a folder without `tools.json` says nothing of tools. */
function fromFolders(folder: string, name: string): Result<readonly AdmissionSuite[], string> {
  const cases: AdmissionCase[] = [];
  for (const server of namesIn(join(folder, name)) ?? []) {
    const file = join(folder, name, server, "tools.json");
    const bytes = fileBytes(file, fileBytesMax);
    if (!bytes.ok) continue;
    try {
      cases.push(...casesOf(server, objects(JSON.parse(bytes.value.toString("utf8")) as Json).map(withSchema)));
    } catch {
      return err(`${file} is not JSON: restore it, or take it out of the folder`);
    }
  }
  return ok(cases.length === 0 ? [] : [{ name, label: name.startsWith("benign") ? "benign" : "unlabelled", cases }]);
}

/** A registry lists arguments by name; a server would list them as a schema. */
function withSchema(tool: JsonObject): JsonObject {
  const { arguments: given, ...rest } = tool;
  if (!isArray(given)) return tool;
  const properties = objects(given).map((one): [string, Json] => [
    stringMember(one, "name") ?? "",
    { type: member(one, "type") ?? "string", description: stringMember(one, "desc") ?? "" },
  ]);
  return { ...rest, inputSchema: { type: "object", properties: Object.fromEntries(properties) } };
}

/** Cases of MCP-SafetyBench whose attack is in a list: a changed description, or a tool added. */
function overlays(
  file: string,
  bases: ReadonlyMap<string, readonly JsonObject[]>,
): Result<readonly AdmissionSuite[], string> {
  if (!fileBytes(file, fileBytesMax).ok) return ok([]);
  const rows = lines(file);
  if (!rows.ok) return rows;
  const suites = new Map<string, AdmissionCase[]>();
  for (const row of rows.value) {
    const kind = stringMember(row, "kind") ?? "";
    if (kind !== "modify_description" && kind !== "add_tool") continue;
    const overlay = member(row, "overlay");
    for (const change of isArray(overlay) ? objects(overlay) : objects([overlay ?? null])) {
      const name = stringMember(change, "tool_name") ?? "";
      const tools = [...bases.values()].find((list) => list.some((tool) => stringMember(tool, "name") === name));
      const beside = tools ?? bases.get(stringMember(row, "base_server") ?? "") ?? [];
      const cases = suites.get(kind) ?? [];
      cases.push({
        server: stringMember(row, "id") ?? "",
        entry: changed(change, name, beside),
        siblings: namesOf(beside),
      });
      suites.set(kind, cases);
    }
  }
  return ok([...suites].map(([kind, cases]) => ({ name: `MCP-SafetyBench ${kind}`, label: "malicious", cases })));
}

function changed(change: JsonObject, name: string, tools: readonly JsonObject[]): JsonObject {
  const description = stringMember(change, "modification_description");
  const base = tools.find((tool) => stringMember(tool, "name") === name) ?? {};
  if (description !== undefined) return { ...base, name, description };
  const properties = member(change, "input_parameters");
  const inputSchema = { type: "object", properties: isObject(properties) ? properties : {} };
  return { name, description: stringMember(change, "description") ?? "", inputSchema };
}

function casesOf(server: string, tools: readonly JsonObject[]): AdmissionCase[] {
  const names = namesOf(tools);
  return tools.map((entry) => ({
    server,
    entry,
    siblings: names,
  }));
}

const namesOf = (tools: readonly JsonObject[]): string[] => tools.flatMap((tool) => stringMember(tool, "name") ?? []);

function objects(value: Json | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}
