/** Labels of real servers written by hand (scenarios/labels/README.md), read strictly: a slip of the pen is an error. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { packageFolder } from "../../../app/policy/policy-source.ts";
import { type Role, roles } from "../../../core/contract.ts";
import { type Effect, isEffect } from "../../../core/effect.ts";
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";

export type HandTool = {
  readonly must: readonly Effect[];
  readonly may: readonly Effect[];
  /** Roles by argument, the likeliest first; each of them counts as right. */
  readonly args: ReadonlyMap<string, readonly Role[]>;
  readonly output: { readonly confidentiality: string; readonly categories: readonly string[]; readonly trust: string };
  /** It does more than read. */
  readonly sink: boolean;
};

/** `npm`: `package@version` of the registry. `data` and `server`: a place in the evaluation data, and the name there. */
export type ListSource = {
  readonly npm: string | undefined;
  readonly data: string | undefined;
  readonly server: string | undefined;
};

export type HandServer = {
  readonly name: string;
  /** Where its list comes from. */
  readonly manifest: ListSource;
  /** True where it was not looked at while inference was tuned. */
  readonly unseen: boolean;
  readonly tools: ReadonlyMap<string, HandTool>;
};

export const handLabelFolder = join(packageFolder, "scenarios", "labels");

/** Files of the folder that hold something else than the labels of one server. */
const others = new Set(["again.yaml", "sinks.yaml", "two-step.yaml"]);

/** By name of the server. */
export function readHandLabels(folder: string): Result<ReadonlyMap<string, HandServer>, string> {
  const servers = new Map<string, HandServer>();
  let files: readonly string[];
  try {
    files = readdirSync(folder).filter((name) => name.endsWith(".yaml") && !others.has(name));
  } catch {
    return err(`${folder} cannot be read: it is part of the package, install it again`);
  }
  for (const file of files.toSorted()) {
    const read = readServer(join(folder, file), file.endsWith("-unseen.yaml"));
    if (!read.ok) return err(`${file}: ${read.error}`);
    servers.set(read.value.name, read.value);
  }
  return ok(servers);
}

/** The tools of `again.yaml`, labelled a second time, by `server.tool`. */
export function readSecondLabels(folder: string): Result<ReadonlyMap<string, HandTool>, string> {
  const value = yamlOf(join(folder, "again.yaml"));
  return readTools(member(value, "tools"), { confidentiality: "unsure", categories: [], trust: "unsure" });
}

function readServer(file: string, unseen: boolean): Result<HandServer, string> {
  const value = yamlOf(file);
  const name = stringMember(value, "server");
  const results = outputOf(member(value, "results"));
  if (name === undefined || results === undefined) return err("`server` and `results` are missing");
  const tools = readTools(member(value, "tools"), results);
  if (!tools.ok) return tools;
  return ok({ name, manifest: listSource(member(value, "manifest")), unseen, tools: tools.value });
}

export function listSource(value: Json | undefined): ListSource {
  const [npm, data, server] = ["npm", "data", "server"].map((name) => stringMember(value, name));
  return { npm, data, server };
}

export function yamlOf(file: string): Json | undefined {
  try {
    // YAML without tags of its own is JSON.
    const value: Json = parse(readFileSync(file, "utf8"));
    return value;
  } catch {
    return undefined;
  }
}

function readTools(rows: Json | undefined, results: HandTool["output"]): Result<ReadonlyMap<string, HandTool>, string> {
  const tools = new Map<string, HandTool>();
  if (!isObject(rows)) return err("`tools` is missing");
  for (const [name, row] of Object.entries(rows)) {
    const [effects, args] = [effectsOf(member(row, "effects")), argsOf(member(row, "args"))];
    const [sink, given] = [member(row, "sink"), member(row, "output")];
    const output = given === undefined ? results : outputOf(given);
    if (effects === undefined || args === undefined || output === undefined || typeof sink !== "boolean")
      return err(`the label of ${name} is not one`);
    tools.set(name, { ...effects, args, output, sink });
  }
  return ok(tools);
}

function effectsOf(value: Json | undefined): Pick<HandTool, "must" | "may"> | undefined {
  const [must, may] = isArray(value) ? [value, value] : [member(value, "must"), member(value, "may")];
  const read = [must, may].map((list) => (isArray(list) ? list.filter(isPath) : undefined));
  const [left, right] = read;
  if (left === undefined || right === undefined || !isArray(must) || !isArray(may)) return undefined;
  return left.length === must.length && right.length === may.length ? { must: left, may: right } : undefined;
}

const isPath = (value: Json): value is Effect => typeof value === "string" && isEffect(value);

function argsOf(value: Json | undefined): ReadonlyMap<string, readonly Role[]> | undefined {
  const args = new Map<string, readonly Role[]>();
  for (const [name, given] of Object.entries(isObject(value) ? value : {})) {
    const words = isArray(given) ? given : [given];
    const read = roles.filter((role) => words.includes(role));
    if (read.length !== words.length) return undefined;
    args.set(
      name,
      words.flatMap((word) => roles.find((role) => role === word) ?? []),
    );
  }
  return args;
}

function outputOf(value: Json | undefined): HandTool["output"] | undefined {
  const [confidentiality, trust] = ["confidentiality", "trust"].map((name) => stringMember(value, name));
  const categories = member(value, "categories") ?? [];
  if (confidentiality === undefined || trust === undefined || !isArray(categories)) return undefined;
  return { confidentiality, trust, categories: categories.filter((one) => typeof one === "string") };
}
