import { member, stringMember, type Json, type JsonObject } from "../../src/core/json.ts";
import { clientAnswers, modern, modernMeta, notify, request } from "../kit/client/lines.ts";
import type { Script, Session } from "../kit/client/session.ts";

function call(id: string | number, name: string, args: JsonObject = {}, more: JsonObject = {}): string {
  return modern(id, "tools/call", { name, arguments: args, ...more });
}

export const modernCalls: Script = async (session) => {
  await session.step("discover", [modern("d", "server/discover")], 1);
  await session.step("tools", [modern(1, "tools/list")], 1);
  await session.step("resources", [modern(2, "resources/list")], 1);
  await session.step("templates", [modern(3, "resources/templates/list")], 1);
  await session.step("prompts", [modern(4, "prompts/list")], 1);
  await session.step("ok", [call(5, "echo", { message: "hello" })], 1);
  await session.step("tool error", [call(6, "test_error_handling")], 1);
  await session.step("unknown tool", [call(7, "no_such_tool")], 1);
  await session.step("structured", [call(8, "add", { a: 1, b: 2 })], 1);
  await session.step("one megabyte", [call(9, "large_text", { bytes: 1_048_576 })], 1);
  const progress = { _meta: modernMeta({ progressToken: "p" }) };
  await session.step("progress", [call(10, "test_tool_with_progress", {}, progress)], 4);
  const logs = { _meta: modernMeta({ "io.modelcontextprotocol/logLevel": "info" }) };
  await session.step("logs where asked", [call(11, "test_tool_with_logging", {}, logs)], 4);
  await session.step("no logs where not asked", [call(12, "test_tool_with_logging")], 1);
  // Whoever answers the echo behind it has the long call, and then the cancellation, before it.
  await session.step("long call", [call(13, "wait", { ms: 30_000 }), call(21, "echo", { message: "behind" })], 1);
  const cancelled = notify("notifications/cancelled", { requestId: 13, reason: "enough" });
  await session.step("cancel", [cancelled, call(22, "echo", { message: "behind" })], 1);
  await session.step("it was cancelled", [call(14, "count_cancelled")], 1);
  await session.step("header parameter", [call(15, "select_region", { region: "eu" })], 1);
  await session.step("read", [modern(16, "resources/read", { uri: "test://static-text" })], 1);
  await session.step("read nothing", [modern(17, "resources/read", { uri: "test://none" })], 1);
  await session.step("prompt", [modern(18, "prompts/get", { name: "test_simple_prompt" })], 1);
  const completion = {
    ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
    argument: { name: "arg1", value: "par" },
  };
  await session.step("completion", [modern(19, "completion/complete", completion)], 1);
  await session.step("exact numbers", [call(20, "exact_numbers")], 1);
};

export const modernRefusals: Script = async (session) => {
  await session.step("unknown method", [modern(1, "no/such/method")], 1);
  await session.step("removed method", [modern(2, "ping")], 1);
  const other = { _meta: { ...modernMeta(), "io.modelcontextprotocol/protocolVersion": "v999.0.0" } };
  await session.step("unknown revision", [modern(3, "tools/list", other)], 1);
  const half = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
  await session.step("half the metadata", [request(4, "tools/list", half)], 1);
  await session.step("no metadata", [request(5, "server/discover", {})], 1);
  const poor = { _meta: modernMeta({}, {}) };
  await session.step("undeclared capability", [call(6, "test_missing_capability", {}, poor)], 1);
  await session.step("question without capability", [call(7, "test_elicitation", { message: "?" }, poor)], 1);
};

/** Answers what an `input_required` result asks, with its state where it has one. */
function retry(result: Json | undefined): JsonObject {
  const asked = Object.entries(member(result, "inputRequests") ?? {});
  const answers = asked.map(([key, inquiry]) => [key, clientAnswers[stringMember(inquiry, "method") ?? ""] ?? {}]);
  const state = member(result, "requestState");
  return { inputResponses: Object.fromEntries(answers), ...(state === undefined ? {} : { requestState: state }) };
}

async function rounds(session: Session, name: string, count: number): Promise<void> {
  let more: JsonObject = {};
  for (let round = 1; round <= count; round += 1) {
    const [answer] = await session.step(`${name}, round ${round}`, [call(`${name}-${round}`, name, {}, more)], 1);
    more = retry(member(answer, "result"));
  }
}

export const modernRounds: Script = async (session) => {
  await rounds(session, "test_input_required_result_elicitation", 2);
  await rounds(session, "test_input_required_result_sampling", 2);
  await rounds(session, "test_input_required_result_list_roots", 2);
  await rounds(session, "test_input_required_result_request_state", 2);
  await rounds(session, "test_input_required_result_multiple_inputs", 2);
  await rounds(session, "test_input_required_result_multi_round", 3);
  const forged = { inputResponses: {}, requestState: "forged.state" };
  await session.step("forged state", [call("f", "test_input_required_result_tampered_state", {}, forged)], 1);
  const name = "test_input_required_result_prompt";
  const [asked] = await session.step("prompt, round 1", [modern("p1", "prompts/get", { name })], 1);
  await session.step("prompt, round 2", [modern("p2", "prompts/get", { name, ...retry(member(asked, "result")) })], 1);
};

export const modernSubscriptions: Script = async (session) => {
  const filter = { toolsListChanged: true, resourceSubscriptions: ["test://watched-resource"] };
  await session.step("listen", [modern("sub", "subscriptions/listen", { notifications: filter })], 1);
  await session.step("tools change", [call(1, "test_trigger_tool_change")], 2);
  await session.step("prompts change unheard", [call(2, "test_trigger_prompt_change")], 1);
  await session.step("resource changes", [call(3, "touch_watched")], 2);
  await session.step("stop listening", [notify("notifications/cancelled", { requestId: "sub" })], 0);
  await session.step("tools change unheard", [call(4, "test_trigger_tool_change")], 1);
};
