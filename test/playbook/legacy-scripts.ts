import { call, clientAnswers, initialize, initialized, notify, request } from "../kit/client/lines.ts";
import type { Script, Session } from "../kit/client/session.ts";

async function open(session: Session, revision = "2025-11-25"): Promise<void> {
  session.answerWith(clientAnswers);
  await session.step("initialize", [initialize(revision), initialized], 1);
}

/** A handshake in a revision that exists or does not, then one call. */
export function handshake(revision: string): Script {
  return async (session) => {
    await open(session, revision);
    await session.step("ping", [request(1, "ping")], 1);
    await session.step("echo", [call(2, "echo", { message: revision })], 1);
    await session.step("progress", [call(3, "test_tool_with_progress", {}, { _meta: { progressToken: "p" } })], 4);
  };
}

export const calls: Script = async (session) => {
  await open(session);
  await session.step("ok", [call(1, "echo", { message: "hello" })], 1);
  await session.step("string id", [call("two", "echo", { message: "Grüße, 世界 \u2028 \u0000 \ud83d\ude00" })], 1);
  await session.step("tool error", [call(3, "test_error_handling")], 1);
  await session.step("unknown tool", [call(4, "no_such_tool")], 1);
  await session.step("structured", [call(6, "add", { a: 2, b: 3.5 })], 1);
  await session.step("content kinds", [call(7, "test_multiple_content_types"), call(8, "test_audio_content")], 2);
  await session.step("one megabyte", [call(9, "large_text", { bytes: 1_048_576 })], 1);
  const progress = { _meta: { progressToken: 10 } };
  await session.step("progress", [call(10, "test_tool_with_progress", {}, progress)], 4);
  await session.step("no progress asked", [call(11, "test_tool_with_progress")], 1);
  // Whoever answers the echo behind it has the long call, and then the cancellation, before it.
  await session.step("long call", [call(12, "wait", { ms: 30_000 }), call(17, "echo", { message: "behind" })], 1);
  const cancelled = notify("notifications/cancelled", { requestId: 12, reason: "the user left" });
  await session.step("cancel", [cancelled, call(18, "echo", { message: "behind" })], 1);
  await session.step("it was cancelled", [call(13, "count_cancelled")], 1);
  await session.step("cancel of nothing", [notify("notifications/cancelled", { requestId: 99 })], 0);
  // What is given up before it was decided never reaches a server behind a gateway; the client sees no difference.
  const atOnce = notify("notifications/cancelled", { requestId: 16 });
  await session.step("cancel at once", [call(16, "wait", { ms: 30_000 }), atOnce], 0);
  await session.step("answers out of order", [call(14, "wait", { ms: 150 }), call(15, "wait", { ms: 20 })], 2);
};

export const lists: Script = async (session) => {
  await open(session);
  await session.step("tools", [request(1, "tools/list")], 1);
  await session.step("resources", [request(2, "resources/list", {})], 1);
  await session.step("templates", [request(3, "resources/templates/list")], 1);
  await session.step("prompts", [request(4, "prompts/list")], 1);
  await session.step("bad cursor", [request(5, "tools/list", { cursor: "nonsense" })], 1);
  await session.step("tools change", [call(6, "test_trigger_tool_change")], 2);
  await session.step("tools again", [request(7, "tools/list")], 1);
  await session.step("the new tool", [call(8, "test_dynamic_tool")], 1);
  await session.step("prompts change", [call(9, "test_trigger_prompt_change")], 2);
  await session.step("prompts again", [request(10, "prompts/list")], 1);
};

export const resourcesAndPrompts: Script = async (session) => {
  const uri = "test://watched-resource";
  await open(session);
  await session.step("read text", [request(1, "resources/read", { uri: "test://static-text" })], 1);
  await session.step("read bytes", [request(2, "resources/read", { uri: "test://static-binary" })], 1);
  await session.step("read template", [request(3, "resources/read", { uri: "test://template/7/data" })], 1);
  await session.step("read large", [request(4, "resources/read", { uri: "test://large" })], 1);
  await session.step("read nothing", [request(5, "resources/read", { uri: "test://none" })], 1);
  await session.step("change before subscribing", [call(6, "touch_watched")], 1);
  await session.step("subscribe", [request(7, "resources/subscribe", { uri })], 1);
  await session.step("updated", [call(8, "touch_watched")], 2);
  await session.step("read updated", [request(9, "resources/read", { uri })], 1);
  await session.step("unsubscribe", [request(10, "resources/unsubscribe", { uri })], 1);
  await session.step("change after unsubscribing", [call(11, "touch_watched")], 1);
  await session.step("prompt", [request(12, "prompts/get", { name: "test_simple_prompt" })], 1);
  const args = { arg1: "hello", arg2: "wörld" };
  const named = { name: "test_prompt_with_arguments", arguments: args };
  await session.step("prompt with arguments", [request(13, "prompts/get", named)], 1);
  await session.step("prompt with image", [request(14, "prompts/get", { name: "test_prompt_with_image" })], 1);
  await session.step("unknown prompt", [request(15, "prompts/get", { name: "none" })], 1);
  const completion = {
    ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
    argument: { name: "arg1", value: "par" },
  };
  await session.step("completion", [request(16, "completion/complete", completion)], 1);
  const template = {
    ref: { type: "ref/resource", uri: "test://template/{id}/data" },
    argument: { name: "id", value: "t" },
  };
  await session.step("completion of a template", [request(17, "completion/complete", template)], 1);
};

export const serverRequests: Script = async (session) => {
  await open(session);
  await session.step("elicitation", [call(1, "test_elicitation", { message: "Who are you?" })], 2);
  await session.step("elicitation with defaults", [call(2, "test_elicitation_sep1034_defaults")], 2);
  await session.step("elicitation with choices", [call(3, "test_elicitation_sep1330_enums")], 2);
  session.answerWith({ ...clientAnswers, "elicitation/create": { action: "decline" } });
  await session.step("elicitation declined", [call(4, "test_elicitation", { message: "Who are you?" })], 2);
  session.answerWith({ ...clientAnswers, "elicitation/create": { action: "cancel" } });
  await session.step("elicitation cancelled", [call(5, "test_elicitation", { message: "Who are you?" })], 2);
  session.answerWith({});
  await session.step("elicitation refused", [call(6, "test_elicitation", { message: "Who are you?" })], 2);
  session.answerWith(clientAnswers);
  await session.step("sampling", [call(7, "test_sampling", { prompt: "Capital of France?" })], 2);
  await session.step("roots", [call(8, "list_client_roots")], 2);
  await session.step("two rounds", [call(9, "test_input_required_result_multi_round")], 3);
  await session.step("three questions", [call(10, "test_input_required_result_multiple_inputs")], 4);
  await session.step("roots changed", [notify("notifications/roots/list_changed")], 0);
};

/** A client that declared nothing is never asked. */
export const poorClient: Script = async (session) => {
  await session.step("initialize", [initialize("2025-06-18", {}), initialized], 1);
  await session.step("elicitation", [call(1, "test_elicitation", { message: "?" })], 1);
  await session.step("sampling", [call(2, "test_sampling", { prompt: "?" })], 1);
  await session.step("roots", [call(3, "list_client_roots")], 1);
};

export const logging: Script = async (session) => {
  await open(session);
  await session.step("ping", [request(1, "ping")], 1);
  await session.step("logs", [call(2, "test_tool_with_logging")], 4);
  await session.step("set level", [request(3, "logging/setLevel", { level: "error" })], 1);
  await session.step("fewer logs", [call(4, "test_tool_with_logging")], 1);
  await session.step("unknown level", [request(5, "logging/setLevel", { level: "loud" })], 1);
};

/** Numbers that a double cannot hold must come back digit by digit, in arguments and in results. */
export const numbers: Script = async (session) => {
  await open(session);
  await session.step("in results", [call(1, "exact_numbers")], 1);
  const lexemes = ["12345678901234567890", "-9007199254740993", "1e400", "-0", "0.1000000000000000055", "1E5", "7"];
  for (const [index, lexeme] of lexemes.entries()) {
    const line = `{"jsonrpc":"2.0","id":${index + 2},"method":"tools/call","params":{"name":"mirror","arguments":{"deep":[{"n":${lexeme}}]}}}`;
    await session.step(`in arguments: ${lexeme}`, [line], 1);
  }
  await session.step("own __proto__", [call(20, "mirror", JSON.parse('{"__proto__":{"a":1},"constructor":2}'))], 1);
};

export const oddities: Script = async (session) => {
  await open(session);
  await session.step("unknown method", [request(1, "no/such/method", { a: [1] })], 1);
  await session.step("unknown notification", [notify("notifications/nobody", { a: 1 })], 0);
  await session.step("answer to nothing", ['{"jsonrpc":"2.0","id":"ghost","result":{}}'], 0);
  await session.step("still there", [request(2, "ping")], 1);
};

/** What the gateway must answer itself: code and id are compared, the wording is its own. */
export const unreadable: Script = async (session) => {
  await open(session);
  await session.step("malformed JSON", ['{"jsonrpc":"2.0","id":1,"method":'], 1);
  await session.step("a bare number", ["7"], 1);
  // What is judged is an object, so nothing else may be sent as the arguments of a tool.
  await session.step("arguments of a wrong shape", [request(5, "tools/call", { name: "echo", arguments: [1] })], 1);
  await session.step("batch where there are none", [`[${request(2, "ping")},${request(3, "ping")}]`], 1);
  await session.step("still there", [request(4, "ping")], 1);
};

export const batch: Script = async (session) => {
  await open(session, "2025-03-26");
  const pair = `[${request(1, "ping")},${call(2, "echo", { message: "in a batch" })}]`;
  await session.step("two requests", [pair], 1);
  const mixed = `[${notify("notifications/roots/list_changed")},${call(3, "test_error_handling")}]`;
  await session.step("notification and request", [mixed], 1);
  await session.step("notifications only", [`[${notify("notifications/roots/list_changed")}]`], 0);
};
