import { isObject, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import { askingTools } from "./asking-tools.ts";
import type { Board } from "./board.ts";
import { conformanceTools } from "./conformance-tools.ts";
import { prompts, text, type Prompt } from "./content.ts";
import { codes, RpcFailure } from "./json-rpc.ts";
import { ownTools } from "./own-tools.ts";
import { tool, type Tool } from "./tool.ts";

const fixedTools: readonly Tool[] = [...conformanceTools, ...askingTools, ...ownTools];

const dynamicTool = tool("test_dynamic_tool", "Comes and goes", {}, () => ({ content: [text("here for now")] }));

const dynamicPrompt: Prompt = {
  listed: { name: "test_dynamic_prompt", description: "Comes and goes" },
  messages: () => [{ role: "user", content: text("here for now") }],
};

export function toolsOf(board: Board): readonly Tool[] {
  return board.dynamicTool ? [...fixedTools, dynamicTool] : fixedTools;
}

export function promptsOf(board: Board): readonly Prompt[] {
  return board.dynamicPrompt ? [...prompts, dynamicPrompt] : prompts;
}

export function findByName<T extends { readonly listed: JsonObject }>(entries: readonly T[], name: Json | undefined) {
  return entries.find((entry) => stringMember(entry.listed, "name") === name);
}

/** One page of a list under its key, with `nextCursor` while there is more. */
export function page(
  key: string,
  entries: readonly JsonObject[],
  cursor: Json | undefined,
  pageSize: number,
): JsonObject {
  const start = cursor === undefined ? 0 : Number(/^page:(\d+)$/.exec(typeof cursor === "string" ? cursor : "")?.[1]);
  if (!Number.isInteger(start) || start > entries.length) throw new RpcFailure(codes.invalidParams, "Invalid cursor");
  const end = start + pageSize;
  const more = end < entries.length ? { nextCursor: `page:${end}` } : {};
  return { [key]: entries.slice(start, end), ...more };
}

/** A parameter that must be an object; absent counts as empty. */
export function objectParameter(value: Json | undefined, name: string): JsonObject {
  if (value === undefined) return {};
  if (!isObject(value)) throw new RpcFailure(codes.invalidParams, `${name} must be an object`, { status: 400 });
  return value;
}
