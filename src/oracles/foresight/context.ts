/** Reads the context out of a question. A mechanism wrote it, but it went through JSON: nothing is believed unseen. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { PredictionContext, PredictionStep } from "../../core/prediction.ts";

const outcomes = ["pending", "succeeded", "failed", "unknown"] as const;

/** The context, or undefined if a part is missing: then there is nothing that a model could be asked. */
export function readContext(content: Json): PredictionContext | undefined {
  const instruction = stringMember(content, "instruction");
  const evidence = words(member(content, "evidence"));
  const tools = listOf(member(content, "tools"), readTool);
  const steps = listOf(member(content, "steps"), readStep);
  const given = member(content, "pending");
  const pending = given === undefined ? undefined : readStep(given);
  if (member(content, "version") !== 1 || (given !== undefined && pending === undefined)) return undefined;
  if (instruction === undefined || evidence === undefined || tools === undefined || steps === undefined)
    return undefined;
  return { version: 1, instruction, tools, steps, evidence, ...(pending === undefined ? {} : { pending }) };
}

function readTool(value: Json): PredictionContext["tools"][number] | undefined {
  const name = stringMember(value, "name");
  const effects = words(member(value, "effects"));
  return name === undefined || effects === undefined ? undefined : { name, effects };
}

function readStep(value: Json): PredictionStep | undefined {
  const server = stringMember(value, "server");
  const tool = stringMember(value, "tool");
  const effects = words(member(value, "effects"));
  const brought = words(member(value, "brought"));
  const given = member(value, "arguments");
  const outcome = outcomes.find((each) => each === member(value, "outcome"));
  const declared = words(member(value, "declared"));
  if (server === undefined || tool === undefined || effects === undefined) return undefined;
  if (brought === undefined || outcome === undefined || !isObject(given)) return undefined;
  const known: JsonObject = given;
  return { server, tool, effects, arguments: known, brought, outcome, ...(declared === undefined ? {} : { declared }) };
}

function words(value: Json | undefined): readonly string[] | undefined {
  return listOf(value, (each) => (typeof each === "string" ? each : undefined));
}

/** All elements, or undefined if one of them cannot be read: half a context would hide the other half. */
function listOf<T>(value: Json | undefined, read: (each: Json) => T | undefined): readonly T[] | undefined {
  if (!isArray(value)) return undefined;
  const found = value.map(read);
  return found.some((each) => each === undefined)
    ? undefined
    : found.flatMap((each) => (each === undefined ? [] : [each]));
}
