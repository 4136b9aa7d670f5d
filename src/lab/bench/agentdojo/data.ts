/**
 * The AgentDojo replay corpus as traces. Every pair of a user task and an injection task becomes a trace of an agent
 * that obeys: the user's calls up to the poisoned result, then the attacker's calls, then the rest.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { fileBytes, fileSentence } from "../../../app/state/text-file.ts";
import type { Trace, TraceStep } from "../../../app/replay/trace.ts";

export type DojoCall = {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Without this call the attack does not reach its goal. */
  readonly essential: boolean;
  readonly text: string;
  readonly structured: Json | undefined;
};

export type DojoTask = { readonly id: string; readonly prompt: string; readonly calls: readonly DojoCall[] };

export type DojoSuite = {
  readonly name: string;
  readonly tools: readonly JsonObject[];
  readonly users: ReadonlyMap<string, DojoTask>;
  readonly injections: ReadonlyMap<string, DojoTask>;
  /** Pairs whose attack works and has a tool call without which it would not. */
  readonly pairs: readonly { readonly user: string; readonly injection: string; readonly after: number }[];
  readonly vectors: ReadonlyMap<string, string>;
  readonly template: string;
};

export const dojoServer = "app";

/** Bytes of one suite. */
const suiteBytesMax = 256 * 1024 * 1024;

/** Suites of the evaluation data that are read; each is a file of some megabytes. */
const suitesMax = 64;

/** Names of the suites below the root of the evaluation data, sorted; the error says what to name instead. */
export function suiteNames(dataFolder: string): Result<readonly string[], string> {
  const folder = join(dataFolder, "agentdojo");
  try {
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const names = files.map((name) => name.slice(0, -".json".length)).toSorted();
    if (names.length === 0) return err(`${folder} holds no suite (*.json): name the folder above it with --data`);
    if (names.length > suitesMax) return err(`${folder} holds more than ${suitesMax} suites: name another folder`);
    return ok(names);
  } catch {
    return err(`${folder} cannot be read: name the folder that holds agentdojo/ with --data`);
  }
}

/** Reads a suite below the root of the evaluation data; absent data is a reason, never an empty result. */
export function readSuite(dataFolder: string, name: string): Result<DojoSuite, string> {
  const file = join(dataFolder, "agentdojo", `${name}.json`);
  const bytes = fileBytes(file, suiteBytesMax);
  if (!bytes.ok)
    return err(
      fileSentence(
        file,
        bytes.error,
        `larger than ${suiteBytesMax} bytes: split the suite.`,
        "name the folder that holds agentdojo/ with --data.",
      ),
    );
  let value: Json;
  try {
    value = JSON.parse(bytes.value.toString("utf8")) as Json; // JSON.parse yields JSON
  } catch {
    return err(`${file} is not JSON: restore it, or take it out of the folder`);
  }
  if (listOf(member(value, "tools")).length === 0 || listOf(member(value, "userTasks")).length === 0)
    return err(`${file} has no \`tools\` or no \`userTasks\`, so it is no suite: take it out of the folder`);
  const users = tasksOf(member(value, "userTasks"), "prompt");
  const injections = tasksOf(member(value, "injectionTasks"), "goal");
  const vectors = Object.entries(member(value, "injectionVectors") ?? {}).map(([vector, about]): [string, string] => [
    vector,
    stringMember(about as Json, "default") ?? "", // an entry of a JSON object
  ]);
  const pairs = listOf(member(value, "pairs")).flatMap((pair) => {
    const user = stringMember(pair, "user") ?? "";
    const injection = stringMember(pair, "injection") ?? "";
    const works = member(pair, "attackSucceeds") === true;
    const essential = injections.get(injection)?.calls.some((call) => call.essential) === true;
    const after = member(pair, "insertAfterCall");
    return works && essential && typeof after === "number" ? [{ user, injection, after }] : [];
  });
  const tools = listOf(member(value, "tools")).filter(isObject);
  const template = (stringMember(value, "attackTemplate") ?? "{goal}")
    .replace("{user}", stringMember(value, "attackUser") ?? "")
    .replace("{user}", stringMember(value, "attackUser") ?? "")
    .replace("{model}", stringMember(value, "attackModel") ?? "");
  return ok({ name, tools, users, injections, pairs, vectors: new Map(vectors), template });
}

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function tasksOf(value: Json | undefined, prompt: string): ReadonlyMap<string, DojoTask> {
  const tasks = listOf(value).map((task): [string, DojoTask] => {
    const id = stringMember(task, "id") ?? "";
    const calls = listOf(member(task, "groundTruthCalls")).map(callOf);
    return [id, { id, prompt: stringMember(task, prompt) ?? "", calls }];
  });
  return new Map(tasks);
}

function callOf(value: Json): DojoCall {
  const args = member(value, "args");
  const result = member(value, "result");
  return {
    name: stringMember(value, "name") ?? "",
    arguments: isObject(args) ? args : {},
    essential: member(value, "essential") === true,
    text: stringMember(result, "text") ?? "",
    structured: member(result, "structured"),
  };
}

/** The content of results: the original text, or the attacker's. */
export type Filling = (vector: string) => string;

export function benignFilling(suite: DojoSuite): Filling {
  return (vector) => suite.vectors.get(vector) ?? "";
}

export function attackFilling(suite: DojoSuite, goal: string, encoded: boolean): Filling {
  const text = suite.template.replace("{goal}", encoded ? Buffer.from(goal).toString("base64") : goal);
  return () => text;
}

const marker = /INJ--([A-Za-z0-9_]+)--JNI/g;

function filled(value: Json, fill: Filling): Json {
  if (typeof value === "string") return value.replace(marker, (_, vector: string) => fill(vector));
  if (isArray(value)) return value.map((one) => filled(one, fill));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, fill)]));
}

function stepOf(call: DojoCall, fill: Filling): TraceStep {
  const structured =
    call.structured === undefined || call.structured === null ? undefined : filled(call.structured, fill);
  const content = [{ type: "text", text: filled(call.text, fill) }];
  // MCP wants an object here; lists and texts are wrapped, as servers do.
  const body =
    structured === undefined ? {} : { structuredContent: isObject(structured) ? structured : { result: structured } };
  const given = filled(call.arguments, fill);
  return {
    kind: "call",
    server: dojoServer,
    tool: call.name,
    arguments: isObject(given) ? given : {},
    result: { content, ...body },
    isError: false,
  };
}

export function traceOf(
  suite: DojoSuite,
  task: DojoTask,
  how: {
    readonly fill: Filling;
    readonly instruction: boolean;
    readonly inserted?: { readonly after: number; readonly calls: readonly DojoCall[] };
  },
): Trace {
  const steps = task.calls.map((call) => stepOf(call, how.fill));
  if (how.inserted !== undefined) {
    steps.splice(how.inserted.after + 1, 0, ...how.inserted.calls.map((call) => stepOf(call, how.fill)));
  }
  return {
    servers: new Map([[dojoServer, suite.tools]]),
    labels: undefined,
    instruction: how.instruction ? task.prompt : undefined,
    steps,
  };
}
