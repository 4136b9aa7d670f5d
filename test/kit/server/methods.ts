import { member, stringMember, type Json, type JsonObject } from "../../../src/core/json.ts";
import type { Board } from "./board.ts";
import { InputRequired, sealState, type Call } from "./call.ts";
import { completionWords, readResource, resources, resourceTemplates } from "./content.ts";
import { codes, RpcFailure } from "./json-rpc.ts";
import { findByName, objectParameter, page, promptsOf, toolsOf } from "./lists.ts";

export type MethodFacts = {
  readonly board: Board;
  readonly pageSize: number;
  readonly params: JsonObject;
  /** Makes the call context; `stateful` lets it carry answers over rounds. */
  readonly open: (name: string, args: JsonObject) => Call;
  /** All answers known in this round, for the state of the next one. */
  readonly answers: () => JsonObject;
  readonly modern: boolean;
};

type Method = (facts: MethodFacts) => Promise<JsonObject> | JsonObject;

/** Runs what may ask back, and turns the question into an `input_required` result (SEP-2322). */
async function withRounds(
  facts: MethodFacts,
  name: string,
  stateful: boolean,
  run: () => Promise<JsonObject>,
): Promise<JsonObject> {
  try {
    return await run();
  } catch (cause) {
    if (!(cause instanceof InputRequired)) throw cause;
    const state = stateful ? { requestState: sealState(name, facts.answers()) } : {};
    return { resultType: "input_required", inputRequests: cause.inquiries, ...state };
  }
}

const callTool: Method = async (facts) => {
  const name = stringMember(facts.params, "name") ?? "";
  const found = findByName(toolsOf(facts.board), name);
  if (found === undefined) throw new RpcFailure(codes.invalidParams, `Unknown tool: ${name}`);
  const args = objectParameter(member(facts.params, "arguments"), "arguments");
  return await withRounds(facts, name, found.stateful === true, async () =>
    found.run(facts.open(name, args), facts.board),
  );
};

const getPrompt: Method = async (facts) => {
  const name = stringMember(facts.params, "name") ?? "";
  const found = findByName(promptsOf(facts.board), name);
  if (found === undefined) throw new RpcFailure(codes.invalidParams, `Unknown prompt: ${name}`);
  const args = objectParameter(member(facts.params, "arguments"), "arguments");
  return await withRounds(facts, name, false, async () => {
    const messages = await found.messages(facts.open(name, args));
    return { description: found.listed["description"] ?? "", messages };
  });
};

const readOne: Method = (facts) => {
  const uri = stringMember(facts.params, "uri") ?? "";
  const contents = readResource(uri, facts.board.watchedVersion);
  if (contents !== undefined) return { contents };
  // SEP-2164 moved this error to -32602; earlier revisions have a code of their own.
  const code = facts.modern ? codes.invalidParams : codes.legacyResourceNotFound;
  throw new RpcFailure(code, "Resource not found", { data: { uri } });
};

const complete: Method = (facts) => {
  const typed = stringMember(member(facts.params, "argument"), "value") ?? "";
  const values: readonly Json[] = completionWords.filter((word) => word.startsWith(typed));
  return { completion: { values, total: values.length, hasMore: false } };
};

function listed(entries: readonly { readonly listed: JsonObject }[]): readonly JsonObject[] {
  return entries.map((entry) => entry.listed);
}

function lister(key: string, entries: (board: Board) => readonly JsonObject[]): Method {
  return (facts) => page(key, entries(facts.board), member(facts.params, "cursor"), facts.pageSize);
}

/** Methods that both eras share. */
export const sharedMethods: Readonly<Record<string, Method>> = {
  "tools/list": lister("tools", (board) => listed(toolsOf(board))),
  "tools/call": callTool,
  "prompts/list": lister("prompts", (board) => listed(promptsOf(board))),
  "prompts/get": getPrompt,
  "resources/list": lister("resources", () => resources),
  "resources/templates/list": lister("resourceTemplates", () => resourceTemplates),
  "resources/read": readOne,
  "completion/complete": complete,
};

export const serverInfo: JsonObject = { name: "sluicegate-fixture", version: "1.0.0" };
export const instructions = "A server for tests: every tool says in its description what it does.";
