import { stringMember, type Json } from "../../../src/core/json.ts";
import { announce } from "./board.ts";
import { text } from "./content.ts";
import { pause, tool, type Tool } from "./tool.ts";

/** A caller may ask for at most this much text. */
const textBytesMax = 16 * 1024 * 1024;
const waitMsMax = 60_000;

function numberOf(value: Json | undefined, max: number): number {
  return typeof value === "number" ? Math.min(Math.max(value, 0), max) : 0;
}

/** Numbers that a double cannot hold or would write differently. */
const lexemes = ["12345678901234567890", "9007199254740993", "1e400", "-0", "0.1000000000000000055", "1E5"];

/** Tools of our own: what the suite has no scenario for, and playbook, clients and end-to-end tests need. */
export const ownTools: readonly Tool[] = [
  {
    listed: {
      name: "echo",
      title: "Echo",
      description: "Returns its message",
      inputSchema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run: (call) => ({ content: [text(stringMember(call.arguments, "message") ?? "")] }),
  },
  {
    listed: {
      name: "add",
      description: "Adds two numbers, structured",
      inputSchema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
    },
    run: (call) => {
      const sum = Number(call.arguments["a"]) + Number(call.arguments["b"]);
      return { content: [text(JSON.stringify({ sum }))], structuredContent: { sum } };
    },
  },
  {
    listed: {
      name: "mirror",
      description: "Returns its arguments as they arrived",
      inputSchema: { type: "object", additionalProperties: true },
    },
    run: (call) => ({ content: [text(JSON.stringify(call.arguments))], structuredContent: call.arguments }),
  },
  tool("exact_numbers", "Returns numbers that a double cannot hold", {}, () => {
    const numbers = lexemes.map((lexeme) => JSON.rawJSON(lexeme));
    return { content: [text(lexemes.join(" "))], structuredContent: { numbers } };
  }),
  tool("large_text", "Returns a text of the given size", { bytes: { type: "integer" } }, (call) => {
    const bytes = numberOf(call.arguments["bytes"], textBytesMax);
    return { content: [text("0123456789abcdef".repeat(Math.ceil(bytes / 16)).slice(0, bytes))] };
  }),
  tool("wait", "Answers late, or never when cancelled", { ms: { type: "integer" } }, async (call, board) => {
    call.progress(0, 1, "waiting");
    await pause(numberOf(call.arguments["ms"], waitMsMax), call.signal);
    if (call.signal.aborted) board.cancelledCalls += 1;
    return { content: [text("waited")] };
  }),
  tool("count_cancelled", "Tells how many calls were cancelled", {}, (_call, board) => ({
    content: [text(String(board.cancelledCalls))],
  })),
  tool("touch_watched", "Changes the watched resource", {}, (_call, board) => {
    board.watchedVersion += 1;
    announce(board, "notifications/resources/updated", "test://watched-resource");
    return { content: [text(`version ${board.watchedVersion}`)] };
  }),
  tool("interrupt_stream", "Ends its stream, then answers to the client that resumes it", {}, async (call) => {
    call.interrupt();
    await pause(200, call.signal);
    return { content: [text("resumed")] };
  }),
  {
    listed: {
      name: "select_region",
      description: "Has an argument that travels in a header as well",
      inputSchema: {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" } },
        required: ["region"],
      },
    },
    run: (call) => ({ content: [text(`region ${stringMember(call.arguments, "region")}`)] }),
  },
];
