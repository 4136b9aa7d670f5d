/**
 * Recorded or scripted traces: what `replay` reads (system.md 6). A trace needs no server and no model, so an outside
 * corpus can be decided as if the agent obeyed every instruction that it read.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";

/** A trace file beyond this is refused before it is parsed. */
export const traceBytesMax = 64 * 1024 * 1024;
export const traceStepsMax = 100_000;

export type TraceStep =
  | {
      readonly kind: "call";
      readonly server: string;
      readonly tool: string;
      readonly arguments: JsonObject;
      readonly result: Json | undefined;
      readonly isError: boolean;
    }
  | { readonly kind: "run" }
  | { readonly kind: "user"; readonly text: string };

export type Trace = {
  /** The listed tools of each server, as `tools/list` gives them. */
  readonly servers: ReadonlyMap<string, readonly JsonObject[]>;
  /** Digests of whole entries, by server and tool, where a saved run knows them and has the entries in part only. */
  readonly digests?: Digests;
  /** A `labels:` section as in a policy; it is added to the policy the trace is decided under. */
  readonly labels: JsonObject | undefined;
  readonly instruction: string | undefined;
  readonly steps: readonly TraceStep[];
};

type Digests = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Reads a trace; the error names the place and what is expected there. */
export function readTrace(value: Json): Result<Trace, string> {
  if (!isObject(value)) return err("a trace is a JSON object with `version`, `tools` or `servers`, and `steps`");
  if (member(value, "version") !== 1) return err("`version` of the trace must be 1");
  const servers = readServers(value);
  if (!servers.ok) return servers;
  const digests = readDigests(value);
  if (!digests.ok) return digests;
  const rows = member(value, "steps");
  if (!isArray(rows)) return err("`steps` of the trace must be a list");
  if (rows.length > traceStepsMax) return err(`the trace has more than ${traceStepsMax} steps: split it`);
  const steps: TraceStep[] = [];
  for (const [index, row] of rows.entries()) {
    const step = readStep(row, servers.value);
    if (!step.ok) return err(`steps[${index}]: ${step.error}`);
    steps.push(step.value);
  }
  const labels = member(value, "labels");
  return ok({
    servers: servers.value,
    digests: digests.value,
    labels: isObject(labels) ? labels : undefined,
    instruction: stringMember(value, "instruction"),
    steps,
  });
}

/** Name of the one server of a trace that lists `tools` at its top. */
export const onlyServer = "server";

function readServers(value: JsonObject): Result<ReadonlyMap<string, readonly JsonObject[]>, string> {
  const tools = member(value, "tools");
  if (tools !== undefined) {
    const list = readTools(tools);
    return list === undefined ? err("`tools` must be a list of tools with names") : ok(new Map([[onlyServer, list]]));
  }
  const named = member(value, "servers");
  if (!isObject(named)) return err("the trace names neither `tools` nor `servers`: give the listed tools");
  const servers = new Map<string, readonly JsonObject[]>();
  for (const [name, server] of Object.entries(named)) {
    const list = readTools(member(server, "tools"));
    if (list === undefined) return err(`servers.${name}.tools must be a list of tools with names`);
    servers.set(name, list);
  }
  return ok(servers);
}

const digestShape = /^[0-9a-f]{64}$/;

function readDigests(value: JsonObject): Result<Digests, string> {
  const named = member(value, "servers");
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [name, server] of isObject(named) ? Object.entries(named) : []) {
    const digests = member(server, "digests");
    if (digests === undefined) continue;
    const pairs = isObject(digests) ? Object.entries(digests) : [];
    const texts = pairs.filter(
      (pair): pair is [string, string] => typeof pair[1] === "string" && digestShape.test(pair[1]),
    );
    if (!isObject(digests) || texts.length < pairs.length) {
      return err(`servers.${name.slice(0, 40)}.digests must map names of tools to SHA-256 digests in hex`);
    }
    found.set(name, new Map(texts));
  }
  return ok(found);
}

function readTools(value: Json | undefined): readonly JsonObject[] | undefined {
  if (!isArray(value)) return undefined;
  const tools = value.filter(isObject).filter((tool) => stringMember(tool, "name") !== undefined);
  return tools.length === value.length ? tools : undefined;
}

function readStep(row: Json, servers: ReadonlyMap<string, readonly JsonObject[]>): Result<TraceStep, string> {
  if (member(row, "run") === "new") return ok({ kind: "run" });
  const text = stringMember(row, "user");
  if (text !== undefined) return ok({ kind: "user", text });
  const tool = stringMember(row, "tool");
  if (tool === undefined) return err('a step is {"tool", "arguments"}, {"run": "new"} or {"user": "text"}');
  const server = stringMember(row, "server") ?? ownerOf(tool, servers);
  if (server === undefined) return err(`no server of the trace, or more than one, lists \`${tool}\`: name the server`);
  const listed = servers.get(server);
  if (listed === undefined) return err(`\`${server}\` is not a server of the trace`);
  if (!listed.some((one) => stringMember(one, "name") === tool)) return err(`\`${server}\` lists no tool \`${tool}\``);
  const given = member(row, "arguments") ?? {};
  if (!isObject(given)) return err("`arguments` must be an object");
  return ok({
    kind: "call",
    server,
    tool,
    arguments: given,
    result: member(row, "result"),
    isError: member(row, "isError") === true,
  });
}

function ownerOf(tool: string, servers: ReadonlyMap<string, readonly JsonObject[]>): string | undefined {
  const owners = [...servers].filter(([, tools]) => tools.some((one) => stringMember(one, "name") === tool));
  return owners.length === 1 ? owners[0]?.[0] : undefined;
}
