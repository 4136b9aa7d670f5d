/**
 * Scenarios of `bench regulation` (scenarios/regulation/README.md): an agent that goes wrong in two steps, its benign
 * twin, and for every list what must be absent from it. Everything is checked here, so that a slip of the pen cannot
 * count as a result.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";

/** A larger file is refused. */
const scenarioFileUnitsMax = 1024 * 1024;
const stepsMax = 64;

export type Part = "enabler" | "risk" | undefined;

export type Step =
  | {
      readonly kind: "call";
      /** `server.tool`. */
      readonly tool: string;
      readonly arguments: JsonObject;
      readonly gives: Json | undefined;
      readonly part: Part;
      /** Tools that must be absent from the list before this call. */
      readonly hidden: ReadonlySet<string>;
      readonly afterMs: number;
    }
  /** Uncontrollable moves: an opened channel is used, the client acts by itself. */
  | { readonly kind: "uncontrollable"; readonly name: string; readonly part: Part }
  | { readonly kind: "run"; readonly user: string | undefined };

export type ScenarioTool = { readonly about: string; readonly takes: readonly string[] };

export type Scenario = {
  readonly id: string;
  readonly title: string;
  readonly harm: string;
  readonly family: string;
  readonly instruction: string;
  readonly policy: JsonObject;
  readonly tools: ReadonlyMap<string, ScenarioTool>;
  readonly wrong: readonly Step[];
  readonly benign: readonly Step[];
};

/** All scenarios of a folder, in the order of file names; the error names file and scenario. */
export function readScenarios(folder: string): Result<readonly Scenario[], string> {
  const found: Scenario[] = [];
  const ids = new Set<string>();
  let files: readonly string[];
  try {
    files = readdirSync(folder).filter((name) => name.endsWith(".yaml") && !name.endsWith("-labels.yaml"));
  } catch {
    return err(`${folder} cannot be read: the scenarios are part of the package, install it again`);
  }
  for (const file of files.toSorted()) {
    const value = readYaml(join(folder, file));
    if (!value.ok) return value;
    const rows = member(value.value, "scenarios");
    if (!isArray(rows)) return err(`${file}: \`scenarios\` must be a list`);
    for (const row of rows) {
      const scenario = readScenario(row, member(value.value, "worlds"), file.replace(/\.yaml$/, ""));
      if (!scenario.ok) return err(`${file}: ${stringMember(row, "id") ?? "a scenario without id"}: ${scenario.error}`);
      if (ids.has(scenario.value.id)) return err(`${file}: the id ${scenario.value.id} is used twice`);
      ids.add(scenario.value.id);
      found.push(scenario.value);
    }
  }
  return ok(found);
}

/** A YAML file of ours as plain data. */
export function readYaml(file: string): Result<Json, string> {
  try {
    const text = readFileSync(file, "utf8");
    if (text.length > scenarioFileUnitsMax) return err(`${file} is too large for scenarios`);
    return ok(parse(text, { maxAliasCount: 1_000 }) as Json); // YAML of the core schema parses to JSON values
  } catch {
    return err(`${file} cannot be read as YAML`);
  }
}

function readScenario(row: Json, worlds: Json | undefined, family: string): Result<Scenario, string> {
  const world = stringMember(row, "world");
  const base = world === undefined ? row : member(worlds, world);
  if (!isObject(base)) return err(`there is no world \`${world ?? ""}\``);
  const tools = readTools(member(base, "tools"));
  if (tools === undefined) return err("`tools` must give `about` and `takes` for each `server.tool`");
  const own = world === undefined ? undefined : member(row, "policy");
  const policy = member(base, "policy");
  if (!isObject(policy)) return err("it has no policy");
  const wrong = readSteps(member(row, "wrong"), tools);
  const benign = readSteps(member(row, "benign"), tools);
  if (!wrong.ok) return err(`wrong: ${wrong.error}`);
  if (!benign.ok) return err(`benign: ${benign.error}`);
  const parts = wrong.value.map((step) => (step.kind === "run" ? undefined : step.part));
  const risk = parts.indexOf("risk");
  if (risk === -1 || risk !== parts.lastIndexOf("risk") || !parts.slice(0, risk).includes("enabler")) {
    return err("`wrong` must have an enabler and after it exactly one risk");
  }
  if (benign.value.some((step) => step.kind !== "run" && step.part !== undefined)) return err("`benign` has no parts");
  const [id, title, instruction] = [
    stringMember(row, "id"),
    stringMember(row, "title"),
    stringMember(row, "instruction"),
  ];
  if (id === undefined || title === undefined || instruction === undefined)
    return err("give id, title and instruction");
  const harm = stringMember(row, "kind") ?? "other";
  const whole = overlaid(policy, isObject(own) ? own : {});
  return ok({ id, title, harm, family, instruction, policy: whole, tools, wrong: wrong.value, benign: benign.value });
}

/** Sections of the second over those of the first: objects are joined, everything else is replaced. */
function overlaid(under: JsonObject, over: JsonObject): JsonObject {
  const both = Object.entries(over).map(([key, value]) => {
    const before = under[key];
    return [key, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return { ...under, ...Object.fromEntries(both) };
}

function readTools(value: Json | undefined): ReadonlyMap<string, ScenarioTool> | undefined {
  if (!isObject(value)) return undefined;
  const tools = new Map<string, ScenarioTool>();
  for (const [name, tool] of Object.entries(value)) {
    const about = stringMember(tool, "about");
    const takes = strings(member(tool, "takes"));
    if (about === undefined || takes === undefined || !/^[^.]+\.[^.]+$/.test(name)) return undefined;
    tools.set(name, { about, takes });
  }
  return tools;
}

function strings(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  const found = value.filter((one) => typeof one === "string");
  return found.length === value.length ? found : undefined;
}

function readSteps(value: Json | undefined, tools: ReadonlyMap<string, ScenarioTool>): Result<readonly Step[], string> {
  if (!isArray(value) || value.length === 0 || value.length > stepsMax) return err(`give 1 to ${stepsMax} steps`);
  const steps: Step[] = [];
  for (const [index, row] of value.entries()) {
    const step = readStep(row, tools);
    if (!step.ok) return err(`step ${index + 1}: ${step.error}`);
    steps.push(step.value);
  }
  return ok(steps);
}

function readStep(row: Json, tools: ReadonlyMap<string, ScenarioTool>): Result<Step, string> {
  const word = stringMember(row, "part");
  if (word !== undefined && word !== "enabler" && word !== "risk") return err(`\`${word}\` is not a part`);
  if (member(row, "run") === "new") return ok({ kind: "run", user: stringMember(row, "user") });
  const store = stringMember(row, "fire");
  const host = stringMember(row, "host");
  if (store !== undefined) {
    return ok({ kind: "uncontrollable", name: `${stringMember(row, "to") ?? "anyone"} reads ${store}`, part: word });
  }
  if (host !== undefined) return ok({ kind: "uncontrollable", name: `the client does \`${host}\``, part: word });
  const tool = stringMember(row, "call");
  const known = tool === undefined ? undefined : tools.get(tool);
  if (tool === undefined || known === undefined) return err(`there is no tool \`${tool ?? ""}\``);
  const args = member(row, "with");
  if (!isObject(args)) return err("`with` must give the arguments");
  const stranger = Object.keys(args).find((name) => !known.takes.includes(name));
  if (stranger !== undefined) return err(`${tool} takes no \`${stranger}\``);
  const hidden = strings(member(row, "hidden") ?? []);
  const unknown = hidden === undefined ? "hidden" : hidden.find((name) => !tools.has(name));
  if (hidden === undefined || unknown !== undefined) return err(`\`hidden\` names no tool with \`${unknown ?? ""}\``);
  const after = member(row, "afterSeconds");
  const afterMs = typeof after === "number" ? after * 1_000 : 0;
  const gives = member(row, "gives");
  return ok({ kind: "call", tool, arguments: args, gives, part: word, hidden: new Set(hidden), afterMs });
}
