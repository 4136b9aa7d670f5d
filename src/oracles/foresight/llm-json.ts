/** The JSON form of an answer: its schema, with nothing but listed tools in the list, and its reader. */
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import { objectIn } from "../judges/json-answer.ts";
import type { ShownTool } from "./llm-prompt.ts";
import type { Written } from "./llm-verdict.ts";
import { isStateClass } from "./llm-verdict.ts";

/** Schema of an answer. Only keywords that every server with structured output knows. */
export function answerSchema(tools: readonly ShownTool[]): JsonObject {
  const names = tools.map((tool) => tool.shown);
  const item = names.length === 0 ? { type: "string" } : { type: "string", enum: names };
  return {
    type: "object",
    properties: {
      next_state: { type: "string" },
      reasoning: { type: "string" },
      safety: { type: "string", enum: ["safe", "critical", "unsafe"] },
      filtered_tools: { type: "array", items: item },
    },
    required: ["next_state", "reasoning", "safety", "filtered_tools"],
    additionalProperties: false,
  };
}

/** Reads an answer in JSON, alone or inside prose. A name that appears twice could say two things: it is refused. */
export function readJson(text: string): Result<Written, string> {
  const found = objectIn(text);
  if (!found.ok) return found;
  const { value } = found;
  const safety = stringMember(value, "safety")?.trim().toLowerCase();
  if (!isStateClass(safety)) return err("its answer has no label");
  return ok({
    nextState: stringMember(value, "next_state") ?? "",
    reasoning: stringMember(value, "reasoning") ?? "",
    safety,
    filtered: namesOf(member(value, "filtered_tools")),
  });
}

function namesOf(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  // What is no text names no tool; it still says that the list was not meant to be empty.
  return value.map((each) => (typeof each === "string" ? each : ""));
}
