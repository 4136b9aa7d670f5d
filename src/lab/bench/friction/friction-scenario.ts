/**
 * Scenarios of `bench friction` (scenarios/friction/README.md): a published server, a fake for the services that it
 * reaches, what a user asked for, and the calls that an honest agent makes for it.
 */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { type FakeSpec, readFake } from "./fake-spec.ts";

/** A larger file is refused. */
const scenarioFileUnitsMax = 256 * 1024;
const callsMax = 64;
const paceMsMax = 5_000;

export type FrictionCall = {
  readonly tool: string;
  /** Strings may hold `{2/pointer}` or `{2~pattern}`: parts of the answer to the second call. */
  readonly given: JsonObject;
  /** True for a call that changes, sends or runs something; by the hand of the scenario's author. */
  readonly acts: boolean;
};

export type FrictionScenario = {
  /** Name of the server in the policy, and of the file. */
  readonly name: string;
  /** `package@version` of the npm registry. */
  readonly package: string;
  /** The command among those of the package; absent = its first. */
  readonly bin: string | undefined;
  /** `network`: it reaches something beyond this machine, here the fake. */
  readonly reach: "local" | "network";
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files of the workspace before the first call. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands that prepare the workspace; `node` is this Node. */
  readonly setup: readonly (readonly string[])[];
  readonly fake: FakeSpec | undefined;
  readonly instruction: string;
  readonly calls: readonly FrictionCall[];
  /** Time between calls, for servers that refuse more than one a second. */
  readonly paceMs: number;
  /** Patterns of what differs between two runs of the same calls. */
  readonly mask: readonly RegExp[];
};

/** All scenarios of a folder, by name; the error names the file and what is wrong in it. */
export function readFrictionScenarios(folder: string): Result<readonly FrictionScenario[], string> {
  let files: readonly string[];
  try {
    files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
  } catch {
    return err(`${folder} cannot be read: name a folder of scenarios`);
  }
  const found: FrictionScenario[] = [];
  for (const file of files.toSorted()) {
    const read = readScenario(join(folder, file), file.slice(0, -".yaml".length));
    if (!read.ok) return err(`${file}: ${read.error}`);
    found.push(read.value);
  }
  return found.length === 0 ? err(`${folder} holds no scenario`) : ok(found);
}

function readScenario(file: string, name: string): Result<FrictionScenario, string> {
  const value = yamlOf(file);
  if (!isObject(value)) return err("this is not a YAML mapping");
  const spec = stringMember(value, "package");
  const instruction = stringMember(value, "instruction");
  const reach = stringMember(value, "reach");
  if (!/^[a-z0-9][a-z0-9-]{0,31}$/.test(name)) return err("the file must have the name of a server");
  if (spec === undefined || !/^(@[\w.-]+\/)?[\w.-]+@[\w.+-]+$/.test(spec)) return err("`package` is PACKAGE@VERSION");
  if (instruction === undefined) return err("`instruction` says what the user asked for");
  if (reach !== "local" && reach !== "network") return err("`reach` is local or network");
  const args = texts(member(value, "args") ?? []);
  const env = textRecord(member(value, "env") ?? {});
  const files = textRecord(member(value, "files") ?? {});
  const setup = listOf(member(value, "setup") ?? [], texts);
  const mask = listOf(member(value, "mask") ?? [], pattern);
  if (args === undefined || env === undefined || files === undefined) return err("args, env and files hold texts");
  if (setup === undefined || mask === undefined) return err("`setup` holds commands and `mask` patterns");
  const fake = member(value, "fake") === undefined ? ok(undefined) : readFake(member(value, "fake"));
  if (!fake.ok) return fake;
  const calls = readCalls(member(value, "calls"));
  if (!calls.ok) return calls;
  const bin = stringMember(value, "bin");
  const pace = member(value, "paceMs") ?? 0;
  if (typeof pace !== "number" || pace < 0 || pace > paceMsMax) return err(`\`paceMs\` is at most ${paceMsMax}`);
  const described = { name, package: spec, bin, reach, args, env, files, setup } as const;
  return ok({ ...described, fake: fake.value, instruction, calls: calls.value, paceMs: pace, mask });
}

function yamlOf(file: string): Json | undefined {
  try {
    const text = readFileSync(file, "utf8");
    if (text.length > scenarioFileUnitsMax) return undefined;
    // YAML without tags of its own is JSON.
    const value: Json = parse(text, { maxAliasCount: 64 });
    return value;
  } catch {
    return undefined;
  }
}

function readCalls(value: Json | undefined): Result<readonly FrictionCall[], string> {
  if (!isArray(value) || value.length === 0 || value.length > callsMax) return err(`give 1 to ${callsMax} calls`);
  const calls: FrictionCall[] = [];
  for (const [index, row] of value.entries()) {
    const tool = stringMember(row, "call");
    const given = member(row, "with") ?? {};
    if (tool === undefined || !isObject(given)) return err(`call ${index + 1} needs \`call\` and \`with\``);
    calls.push({ tool, given, acts: member(row, "acts") === true });
  }
  return ok(calls);
}

function texts(value: Json | undefined): readonly string[] | undefined {
  return listOf(value, (one) => (typeof one === "string" ? one : undefined));
}

function listOf<T>(value: Json | undefined, read: (one: Json) => T | undefined): readonly T[] | undefined {
  if (!isArray(value)) return undefined;
  const found: T[] = [];
  for (const one of value) {
    const made = read(one);
    if (made === undefined) return undefined;
    found.push(made);
  }
  return found;
}

function textRecord(value: Json | undefined): Readonly<Record<string, string>> | undefined {
  if (!isObject(value)) return undefined;
  const found = Object.entries(value).flatMap(([key, one]): [string, string][] =>
    typeof one === "string" ? [[key, one]] : [],
  );
  return found.length === Object.keys(value).length ? Object.fromEntries(found) : undefined;
}

function pattern(value: Json): RegExp | undefined {
  try {
    return typeof value === "string" ? new RegExp(value, "g") : undefined;
  } catch {
    return undefined;
  }
}
