import type { JsonObject } from "../../../src/core/json.ts";
import { announce } from "./board.ts";
import { embedded, image, silenceWav, text } from "./content.ts";
import { codes, RpcFailure } from "./json-rpc.ts";
import { pause, tool, type Tool } from "./tool.ts";

/** Delay that the scenarios ask for between two notifications, in milliseconds. */
const stepMs = 50;
const lastStepMs = 250;

const schema2020: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is the JSON Schema keyword; nobody awaits a schema.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const contentTools: readonly Tool[] = [
  tool("test_simple_text", "Returns one text", {}, () => ({
    content: [text("This is a simple text response for testing.")],
  })),
  tool("test_image_content", "Returns one image", {}, () => ({ content: [image] })),
  tool("test_audio_content", "Returns one sound", {}, () => ({
    content: [{ type: "audio", data: silenceWav, mimeType: "audio/wav" }],
  })),
  tool("test_embedded_resource", "Returns an embedded resource", {}, () => ({
    content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  })),
  tool("test_multiple_content_types", "Returns text, image and resource", {}, () => ({
    content: [
      text("Multiple content types test:"),
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  })),
  tool("test_error_handling", "Always fails", {}, () => ({
    content: [text("This tool intentionally returns an error for testing")],
    isError: true,
  })),
  {
    listed: {
      name: "json_schema_2020_12_tool",
      description: "Tool with JSON Schema 2020-12 features",
      inputSchema: schema2020,
    },
    run: (call) => ({ content: [text(JSON.stringify(call.arguments))] }),
  },
];

const streamTools: readonly Tool[] = [
  tool("test_tool_with_logging", "Logs three lines while it runs", {}, async (call) => {
    call.log("info", "Tool execution started");
    await pause(stepMs, call.signal);
    call.log("info", "Tool processing data");
    await pause(stepMs, call.signal);
    call.log("info", "Tool execution completed");
    return { content: [text("Tool with logging executed successfully")] };
  }),
  tool("test_logging_tool", "Logs one line where the client asked for logs", {}, (call) => {
    call.log("info", "Logging tool was called");
    return { content: [text("Logged")] };
  }),
  tool("test_tool_with_progress", "Reports progress in three steps", {}, async (call) => {
    for (const done of [0, 50, 100]) {
      call.progress(done, 100, `Completed step ${done} of 100`);
      await pause(stepMs, call.signal);
    }
    // The official clients drop progress that they read in one chunk with the answer, as a busy client would.
    await pause(lastStepMs, call.signal);
    return { content: [text("Progress reported")] };
  }),
  tool("test_trigger_tool_change", "Adds a tool to the list or removes it", {}, (_call, board) => {
    board.dynamicTool = !board.dynamicTool;
    announce(board, "notifications/tools/list_changed");
    return { content: [text("Tool list changed")] };
  }),
  tool("test_trigger_prompt_change", "Adds a prompt to the list or removes it", {}, (_call, board) => {
    board.dynamicPrompt = !board.dynamicPrompt;
    announce(board, "notifications/prompts/list_changed");
    return { content: [text("Prompt list changed")] };
  }),
  tool("test_missing_capability", "Needs the sampling capability", {}, (call) => {
    if (call.capabilities["sampling"] === undefined) {
      throw new RpcFailure(codes.missingCapability, "This tool needs the client capability sampling", {
        data: { requiredCapabilities: { sampling: {} } },
        status: 400,
      });
    }
    return { content: [text("The client declared sampling")] };
  }),
];

/** Tools that the server scenarios of the conformance suite call, without those that ask back. */
export const conformanceTools: readonly Tool[] = [...contentTools, ...streamTools];
