import { beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../core/json.ts";
import { registryOf } from "./registry.ts";
import { loadSchemaCheck, type SchemaCheck } from "./schema-check.ts";

let check: SchemaCheck;
beforeAll(async () => {
  check = await loadSchemaCheck();
});

const text = { content: [{ type: "text", text: "x" }] };
const info = { name: "a", version: "1" };
const one = JSON.rawJSON("1.0");

describe("schema check", () => {
  test.each<[string, Json]>([
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info }],
    ["tools/call", { name: "a", arguments: { b: 1 } }],
    ["tools/list", {}],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "file:///a" }],
    ["resources/subscribe", { uri: "file:///a" }],
    ["resources/unsubscribe", { uri: "file:///a" }],
    ["prompts/list", {}],
    ["prompts/get", { name: "a" }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "a" }, argument: { name: "b", value: "c" } }],
    ["logging/setLevel", { level: "info" }],
    ["sampling/createMessage", { messages: [], maxTokens: 5 }],
    ["elicitation/create", { message: "m", requestedSchema: { type: "object", properties: {} } }],
    ["notifications/cancelled", { requestId: 1 }],
    ["notifications/progress", { progressToken: 1, progress: one, total: JSON.rawJSON("2e0") }],
    ["notifications/message", { level: "info", data: [one, { a: null }] }],
    ["notifications/resources/updated", { uri: "file:///a" }],
  ])("params of %s fit", (method, params) => {
    expect(check.params(method, params)).toEqual({ kind: "fits" });
  });

  test.each<[string, Json]>([
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: info }],
    ["tools/call", text],
    ["tasks/result", text],
    ["tools/list", { tools: [{ name: "a", inputSchema: { type: "object" }, vendor: 1 }] }],
    ["resources/list", { resources: [{ name: "a", uri: "file:///a", size: one }] }],
    ["resources/templates/list", { resourceTemplates: [] }],
    ["resources/read", { contents: [{ uri: "file:///a", text: "x" }] }],
    ["prompts/list", { prompts: [] }],
    ["prompts/get", { messages: [{ role: "user", content: { type: "text", text: "x" } }] }],
    ["completion/complete", { completion: { values: ["a"] } }],
    ["sampling/createMessage", { role: "assistant", model: "m", content: { type: "text", text: "x" } }],
    ["elicitation/create", { action: "decline" }],
    ["roots/list", { roots: [] }],
    ["tools/call", { resultType: "input_required", requestState: "s" }],
  ])("result of %s fits", (method, result) => {
    expect(check.result(method, result)).toEqual({ kind: "fits" });
  });

  test("misfits name the place and the rule, never the value", () => {
    expect(check.params("tools/call", { name: 1 })).toEqual({ kind: "misfit", at: "/name", problem: "invalid_type" });
    expect(check.params("tools/call", undefined)).toMatchObject({ kind: "misfit", at: "" });
    expect(check.params("tools/call", { name: one })).toMatchObject({ kind: "misfit", at: "/name" });
    expect(check.result("roots/list", { roots: [{ uri: one }] })).toMatchObject({ kind: "misfit", at: "/roots/0/uri" });
    expect(check.result("tools/call", { resultType: "input_required" })).toMatchObject({ kind: "misfit" });
    expect(check.result("tools/list", { tools: [{ name: "a", inputSchema: { type: "string" } }] }).kind).toBe("misfit");
  });

  test("what has no schema is not checked", () => {
    expect(check.params("vendor/x", {}).kind).toBe("unchecked");
    expect(check.result("vendor/x", {}).kind).toBe("unchecked");
    expect(check.result("tools/call", { resultType: "task" }).kind).toBe("unchecked");
    expect(check.result("tools/call", { resultType: "new" }).kind).toBe("unchecked");
  });

  test("modern requests are checked by the schemas that exist for them", () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": info,
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    expect(check.params("server/discover", { _meta: meta }).kind).toBe("fits");
    expect(check.params("subscriptions/listen", { _meta: meta, notifications: {} }).kind).toBe("fits");
    const discover = {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: {},
      ttlMs: 0,
      cacheScope: "private",
    };
    expect(check.result("server/discover", discover).kind).toBe("fits");
  });

  test("nearly every request of a client has a schema", () => {
    const unchecked = registryOf("2025-11-25")
      .filter((entry) => entry.kind === "request" && entry.direction === "to-server")
      .filter((entry) => check.params(entry.method, {}).kind === "unchecked")
      .map((entry) => entry.method);
    expect(unchecked.toSorted()).toEqual(["ping", "tasks/cancel", "tasks/get", "tasks/list", "tasks/result"]);
  });
});
