/**
 * The hand labels of `scenarios/labels` beside the lists that they are about. Lists of npm servers are no part of the
 * project or of the evaluation data: each is the answer of the server's `tools/list`, saved as `SERVER.json`.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readManifest } from "../../../app/policy/manifest.ts";
import { fileBytes } from "../../../app/state/text-file.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import type { EffectsForm } from "../../../policy/document/long-form.ts";
import { type HandTool, type ListSource, handLabelFolder, listSource, readHandLabels, yamlOf } from "./hand-labels.ts";

/** What a labeller says of one tool. */
export type HandLabel = {
  readonly tool: string;
  readonly effects: EffectsForm;
  /** Roles that count as right, by argument; the first is the labeller's choice. */
  readonly args: ReadonlyMap<string, readonly string[]>;
  /** It may do more than read, beyond the state of its own process. */
  readonly sink: boolean;
};

export type HandServer = {
  readonly server: string;
  /** False for a server that nothing may be tuned on. */
  readonly seen: boolean;
  readonly listed: readonly JsonObject[];
  readonly tools: readonly HandLabel[];
};

/** A tool that acts, of a list whose other tools have no labels. */
export type Sink = { readonly server: string; readonly listed: readonly JsonObject[]; readonly tool: JsonObject };

export type Hands = {
  readonly servers: readonly HandServer[];
  readonly sinks: readonly Sink[];
  /** Servers and sinks whose lists are not at hand: they count in nothing. */
  readonly absent: readonly string[];
};

/** Where lists are: the evaluation data, and a folder of saved lists `SERVER.json`. */
export type ListFolders = { readonly data: string | undefined; readonly lists: string | undefined };

const fileBytesMax = 16 * 1024 * 1024;

export function readHands(folders: ListFolders, labelFolder = handLabelFolder): Result<Hands, string> {
  const labels = readHandLabels(labelFolder);
  if (!labels.ok) return labels;
  const servers: HandServer[] = [];
  const absent: string[] = [];
  for (const { name, unseen, manifest, tools } of labels.value.values()) {
    const listed = listOf(name, manifest, folders);
    if (listed === undefined) absent.push(name);
    else servers.push({ server: name, seen: !unseen, listed, tools: [...tools].map(labelOf) });
  }
  const sinks = readSinks(labelFolder, folders, absent);
  return sinks.ok ? ok({ servers, sinks: sinks.value, absent }) : sinks;
}

function labelOf([tool, { must, may, args, sink }]: readonly [string, HandTool]): HandLabel {
  return { tool, effects: { must, may }, args, sink };
}

function objectIn(value: Json | undefined, name: string): JsonObject {
  const found = member(value, name);
  return isObject(found) ? found : {};
}

function wordsIn(value: Json): readonly string[] {
  return typeof value === "string" ? [value] : isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The list that a label file is about; undefined where it is not at hand. */
function listOf(name: string, source: ListSource, folders: ListFolders): readonly JsonObject[] | undefined {
  if (folders.lists !== undefined && source.npm !== undefined) {
    const read = readManifest(join(folders.lists, `${name}.json`));
    if (read.ok) return Object.values(read.value)[0];
  }
  if (source.data === undefined || folders.data === undefined) return undefined;
  return listsIn(folders.data, source.data).get(source.server ?? name);
}

const read = new Map<string, ReadonlyMap<string, readonly JsonObject[]>>();

/** Lists by server, of a file with a server on each line, of a folder with one for each server, or of ToolEmu. */
function listsIn(data: string, place: string): ReadonlyMap<string, readonly JsonObject[]> {
  const path = join(data, place);
  const known = read.get(path);
  if (known !== undefined) return known;
  const found = path.endsWith(".jsonl") ? fromLines(path) : path.endsWith(".json") ? fromSuite(path) : fromFolder(path);
  read.set(path, found);
  return found;
}

function jsonFile(path: string): Json | undefined {
  const bytes = fileBytes(path, fileBytesMax);
  return bytes.ok ? (JSON.parse(bytes.value.toString("utf8")) as Json) : undefined;
}

function fromLines(path: string): ReadonlyMap<string, readonly JsonObject[]> {
  const bytes = fileBytes(path, fileBytesMax);
  const lines = bytes.ok ? bytes.value.toString("utf8").split("\n") : [];
  return new Map(
    lines
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const row = JSON.parse(line) as Json;
        const single = stringMember(row, "Attacker Tool");
        const tools = single === undefined ? objects(member(row, "tools")) : [attackTool(single, row)];
        return [stringMember(row, "server") ?? single ?? "", tools] as const;
      }),
  );
}

/** ASB describes a tool by name and sentence. */
function attackTool(name: string, row: Json): JsonObject {
  return { name, description: stringMember(row, "Description") ?? "", inputSchema: { type: "object" } };
}

/** AgentDojo: one suite, whose tools are those of one server. */
function fromSuite(path: string): ReadonlyMap<string, readonly JsonObject[]> {
  return new Map([["", objects(member(jsonFile(path), "tools"))]]);
}

function fromFolder(path: string): ReadonlyMap<string, readonly JsonObject[]> {
  const toolkits = jsonFile(join(path, "all_toolkits.json"));
  return toolkits === undefined ? fromFolders(path) : fromToolkits(toolkits);
}

function fromFolders(path: string): ReadonlyMap<string, readonly JsonObject[]> {
  return new Map(
    namesIn(path).flatMap((server) => {
      const tools = jsonFile(join(path, server, "tools.json"));
      return tools === undefined ? [] : [[server, objects(tools).map(withSchema)] as const];
    }),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A registry lists arguments by name; a server would list them as a schema. */
function withSchema(tool: JsonObject): JsonObject {
  const { arguments: given, parameters, summary, ...rest } = tool;
  const named = isArray(given) ? given : isArray(parameters) ? parameters : undefined;
  const described = summary === undefined ? rest : { ...rest, description: summary };
  if (named === undefined) return described;
  const properties = objects(named).map((one): [string, Json] => [
    stringMember(one, "name") ?? "",
    {
      type: member(one, "type") ?? "string",
      description: stringMember(one, "desc") ?? stringMember(one, "description") ?? "",
    },
  ]);
  const required = objects(named).flatMap((one) =>
    member(one, "required") === true ? (stringMember(one, "name") ?? []) : [],
  );
  return { ...described, inputSchema: { type: "object", properties: Object.fromEntries(properties), required } };
}

function fromToolkits(toolkits: Json): ReadonlyMap<string, readonly JsonObject[]> {
  return new Map(
    objects(toolkits).map((kit) => [stringMember(kit, "toolkit") ?? "", objects(member(kit, "tools")).map(withSchema)]),
  );
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return isArray(value) ? value.filter(isObject) : [];
}

function readSinks(folder: string, folders: ListFolders, absent: string[]): Result<readonly Sink[], string> {
  const [sinks, steps] = ["sinks.yaml", "two-step.yaml"].map((file) => yamlOf(join(folder, file)));
  if (sinks === undefined || steps === undefined)
    return err(`${folder} has no readable list of sinks: it is part of the package, install it again`);
  const found: Sink[] = [];
  for (const group of objects(member(sinks, "sinks"))) {
    const from = listSource(member(group, "from"));
    for (const name of wordsIn(member(group, "tools") ?? [])) {
      const sink = sinkOf(name, from, folders);
      if (sink === undefined) absent.push(name);
      else found.push(sink);
    }
  }
  for (const [name, form] of Object.entries(objectIn(steps, "tools"))) {
    const properties = Object.entries(objectIn(form, "args")).map(([argument, type]): [string, Json] => [
      argument,
      { type },
    ]);
    const annotations = member(form, "readOnlyHint") === true ? { annotations: { readOnlyHint: true } } : {};
    const inputSchema = {
      type: "object",
      properties: Object.fromEntries(properties),
      required: properties.map(([one]) => one),
    };
    const tool = { name, description: stringMember(form, "description") ?? "", inputSchema, ...annotations };
    found.push({ server: "steps", listed: [tool], tool });
  }
  return ok(found);
}

function sinkOf(name: string, from: ListSource, folders: ListFolders): Sink | undefined {
  const { server: named, data: place } = from;
  if (place === undefined || folders.data === undefined) {
    const listed = named === undefined ? undefined : listOf(named, from, folders);
    return sinkIn(named ?? "", listed ?? [], name);
  }
  const lists = listsIn(folders.data, place);
  if (named !== undefined) return sinkIn(named, lists.get(named) ?? [], name);
  // Tools of ToolEmu are named with their toolkit; other sets have names of their own.
  const dot = name.indexOf(".");
  if (dot > 0) return sinkIn(name.slice(0, dot), lists.get(name.slice(0, dot)) ?? [], name.slice(dot + 1));
  for (const [server, listed] of lists) {
    const found = sinkIn(server, listed, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function sinkIn(server: string, listed: readonly JsonObject[], name: string): Sink | undefined {
  const tool = listed.find((one) => stringMember(one, "name") === name);
  return tool === undefined ? undefined : { server, listed, tool };
}
