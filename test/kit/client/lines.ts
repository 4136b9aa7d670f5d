import type { JsonObject } from "../../../src/core/json.ts";

/** One request as a line. */
export function request(id: string | number, method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
}

export function notify(method: string, params?: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}

export function call(id: string | number, name: string, args: JsonObject = {}, more: JsonObject = {}): string {
  return request(id, "tools/call", { name, arguments: args, ...more });
}

export const clientInfo: JsonObject = { name: "playbook", version: "1.0.0" };
export const clientCapabilities: JsonObject = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

export function initialize(revision: string, capabilities: JsonObject = clientCapabilities): string {
  return request("init", "initialize", { protocolVersion: revision, capabilities, clientInfo });
}

export const initialized = notify("notifications/initialized");

/** Metadata that every request of the modern era carries (SEP-2575). */
export function modernMeta(more: JsonObject = {}, capabilities: JsonObject = clientCapabilities): JsonObject {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...more,
  };
}

/** One request of the modern era as a line. */
export function modern(id: string | number, method: string, params: JsonObject = {}): string {
  return request(id, method, { _meta: modernMeta(), ...params });
}

/** What the playbook's client answers when a server asks. */
export const clientAnswers: JsonObject = {
  "elicitation/create": { action: "accept", content: { username: "ada", email: "ada@example.com", name: "Ada" } },
  "sampling/createMessage": {
    role: "assistant",
    content: { type: "text", text: "Paris" },
    model: "none",
    stopReason: "endTurn",
  },
  "roots/list": { roots: [{ uri: "file:///home/ada/project", name: "project" }] },
};
