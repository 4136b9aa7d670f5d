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
    ["initialize", { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: info }],
    ["tools/call", text],
    ["tasks/result", text],
    ["tools/list", { tools: [{ name: "a", inputSchema: { type: "object" }, vendor: 1 }] }],
    ["resources/list", { resources: [{ name: "a", uri: "file:///a", size: one }] }],
    ["resources/templates/list", { resourceTemplates: [] }],
    ["resources/read", { contents: [{ uri: "file:///a", text: "x" }] }],
    ["prompts/list", { prompts: [] }],
    ["prompts/get", { messages: [{ role: "user", content: { type: "text", text: "x" } }] }],
    ["completion/complete", { completion: { values: ["a"], total: JSON.rawJSON("2e0") } }],
    [
      "server/discover",
      {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: {},
        ttlMs: 0,
        cacheScope: "private",
      },
    ],
    ["tools/call", { resultType: "input_required", requestState: "s" }],
  ])("result of %s fits", (method, result) => {
    expect(check(method, result)).toEqual({ kind: "fits" });
  });

  test.each<[string, Json, string]>([
    ["tools/list", {}, "/tools"],
    ["tools/list", { tools: [{ name: "a", inputSchema: { type: "string" } }] }, "/tools/0/inputSchema/type"],
    ["resources/list", { resources: [{ name: "a", uri: one }] }, "/resources/0/uri"],
    ["prompts/list", [], ""],
    ["tools/call", { resultType: "input_required" }, "/inputRequests"],
  ])("a misfit of %s names the place and the rule, never the value", (method, result, at) => {
    expect(check(method, result)).toEqual({ kind: "misfit", at, problem: expect.stringMatching(/^[a-z_ ]+$/) });
  });

  test("what has no schema is not checked", () => {
    expect(check("vendor/x", {}).kind).toBe("unchecked");
    expect(check("tools/call", { resultType: "task" }).kind).toBe("unchecked");
    expect(check("tools/call", { resultType: "new" }).kind).toBe("unchecked");
  });

  test("nearly every request of a client has a schema for its answer", () => {
    const unchecked = registryOf("2025-11-25")
      .filter((entry) => entry.kind === "request" && entry.direction === "to-server")
      .filter((entry) => check(entry.method, null).kind === "unchecked")
      .map((entry) => entry.method);
    const empty = ["logging/setLevel", "ping", "resources/subscribe", "resources/unsubscribe"];
    expect(unchecked.toSorted()).toEqual([...empty, "tasks/cancel", "tasks/get", "tasks/list"].toSorted());
  });
});
