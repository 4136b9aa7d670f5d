/**
 * Tools of third-party corpora, unchanged: the risky tools of ToolSword RC, and the 330 tools of ToolEmu with and
 * without labels of ours. One call of each is judged in a fresh run, with arguments given by the user.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { Listed } from "./world.ts";
import { readYaml } from "./scenario.ts";

export type RiskyCase = { readonly id: string; readonly query: string; readonly tools: readonly JsonObject[] };

/** Upper bound of the entries of a corpus file; a larger file is refused. */
const casesMax = 10_000;

/** ToolSword RC: each case lists one risky tool and `finish`, which only ends the task. */
export function readToolSword(data: string): Result<readonly RiskyCase[], string> {
  const value = readJson(join(data, "toolsword", "data_RC.json"));
  if (!value.ok) return value;
  if (!isArray(value.value) || value.value.length > casesMax)
    return err("toolsword/data_RC.json is not a list of cases");
  const cases = value.value.map((row, index): RiskyCase => {
    const tools = member(row, "tools");
    const listed = (isArray(tools) ? tools : []).filter(isObject).map(asListed);
    return { id: `case ${index + 1}`, query: stringMember(row, "query") ?? "", tools: listed };
  });
  return ok(cases);
}

/** It is written in the form of function calling; MCP calls the same thing `inputSchema`. */
function asListed(tool: JsonObject): JsonObject {
  const { parameters, ...rest } = tool;
  return { ...rest, inputSchema: parameters ?? { type: "object" } };
}

export type Toolkit = { readonly name: string; readonly tools: readonly Listed[] };

/** ToolEmu: each toolkit as a server, each of its tools as that server would list it. */
export function readToolEmu(data: string): Result<readonly Toolkit[], string> {
  const value = readJson(join(data, "toolemu", "all_toolkits.json"));
  if (!value.ok) return value;
  if (!isArray(value.value) || value.value.length > casesMax) return err("toolemu/all_toolkits.json is not a list");
  const kits = value.value.map((row): Toolkit => {
    const name = stringMember(row, "toolkit") ?? "";
    const tools = member(row, "tools");
    return { name, tools: (isArray(tools) ? tools : []).map((tool) => ({ server: name, tool: toolOf(tool) })) };
  });
  return ok(kits);
}

const jsonTypes: ReadonlySet<string> = new Set(["string", "integer", "number", "boolean", "array", "object"]);

function toolOf(row: Json): JsonObject {
  const parameters = member(row, "parameters");
  const rows = isArray(parameters) ? parameters : [];
  const properties = rows.map((one): [string, JsonObject] => {
    const type = stringMember(one, "type") ?? "string";
    const description = stringMember(one, "description") ?? "";
    return [stringMember(one, "name") ?? "", { type: jsonTypes.has(type) ? type : "string", description }];
  });
  const required = rows.flatMap((one) => (member(one, "required") === true ? [stringMember(one, "name") ?? ""] : []));
  return {
    name: stringMember(row, "name") ?? "",
    description: stringMember(row, "summary") ?? "",
    inputSchema: { type: "object", properties: Object.fromEntries(properties), required },
  };
}

/** Label of a tool by hand (scenarios/regulation/toolemu-labels.yaml). */
export type HandLabel = { readonly effects: readonly string[]; readonly acts: boolean; readonly risky: boolean };

export function readHandLabels(folder: string): Result<ReadonlyMap<string, HandLabel>, string> {
  const value = readYaml(join(folder, "toolemu-labels.yaml"));
  if (!value.ok) return value;
  const tools = member(value.value, "tools");
  if (!isObject(tools)) return err("toolemu-labels.yaml has no `tools`");
  const found = new Map<string, HandLabel>();
  for (const [name, label] of Object.entries(tools)) {
    const effects = member(label, "effects");
    const [acts, risky] = [member(label, "acts"), member(label, "risky")];
    if (!isArray(effects) || typeof acts !== "boolean" || typeof risky !== "boolean")
      return err(`toolemu-labels.yaml: ${name} needs effects, acts and risky`);
    found.set(name, { effects: effects.filter((one) => typeof one === "string"), acts, risky });
  }
  return ok(found);
}

function readJson(file: string): Result<Json, string> {
  try {
    return ok(JSON.parse(readFileSync(file, "utf8")) as Json); // JSON.parse yields JSON
  } catch {
    return err(`${file} cannot be read: name the folder that holds the corpora with --data`);
  }
}
