import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../core/json.ts";
import {
  filterJson,
  inputRequestsMax,
  inputRequiredResult,
  readFilter,
  readId,
  readInputRequired,
  readInputResponses,
  readRequestMeta,
  requestStateLengthMax,
  resultTypeOf,
  subscriptionsMax,
} from "./modern.ts";

const question: JsonObject = { method: "elicitation/create", params: { message: "Name?" } };
const required = (members: JsonObject): Json => ({ resultType: "input_required", ...members });
const many = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`q${index}`, question]));

test("result types; what nobody defined is never complete", () => {
  expect([{}, { resultType: "complete" }, { resultType: "task" }].map(resultTypeOf)).toEqual([
    "complete",
    "complete",
    "task",
  ]);
  expect(resultTypeOf({ resultType: "Complete" })).toBe("unknown");
  expect(resultTypeOf({ resultType: null })).toBe("unknown");
  expect(resultTypeOf("text")).toBe("complete");
});

describe("input_required", () => {
  test("is read and built", () => {
    const result = required({ inputRequests: { a: question, b: { method: "roots/list" } }, requestState: "s" });
    const read = readInputRequired(result);
    expect(read).toEqual({
      requests: [
        { key: "a", method: "elicitation/create", params: { message: "Name?" } },
        { key: "b", method: "roots/list", params: undefined },
      ],
      requestState: "s",
    });
    if (read === undefined) throw new Error("unread");
    expect(inputRequiredResult(read)).toEqual(result);
    expect(inputRequiredResult({ requests: [], requestState: undefined })).toEqual({ resultType: "input_required" });
  });

  test("may carry state alone, or many questions up to the limit", () => {
    expect(readInputRequired(required({ requestState: "s" }))).toEqual({ requests: [], requestState: "s" });
    expect(readInputRequired(required({ inputRequests: many(inputRequestsMax) }))?.requests).toHaveLength(
      inputRequestsMax,
    );
  });

  test.each<[string, Json]>([
    ["complete", { resultType: "complete", inputRequests: { a: question } }],
    ["nothing asked", required({})],
    ["state of wrong type", required({ requestState: 1 })],
    ["long state", required({ requestState: "x".repeat(requestStateLengthMax + 1) })],
    ["a list", required({ inputRequests: [question] })],
    ["too many", required({ inputRequests: many(inputRequestsMax + 1) })],
    ["no method", required({ inputRequests: { a: {} } })],
    ["params of wrong type", required({ inputRequests: { a: { method: "roots/list", params: [] } } })],
    ["a method that may not be embedded", required({ inputRequests: { a: { method: "tools/call", params: {} } } })],
  ])("is refused: %s", (_name, result) => {
    expect(readInputRequired(result)).toBeUndefined();
  });

  test("answers by key", () => {
    expect(readInputResponses({ inputResponses: { a: { action: "accept" } } })?.get("a")).toEqual({ action: "accept" });
    expect(readInputResponses(undefined)?.size).toBe(0);
    expect(readInputResponses({ inputResponses: { a: 1 } })).toBeUndefined();
    expect(readInputResponses({ inputResponses: [] })).toBeUndefined();
    expect(readInputResponses({ inputResponses: many(inputRequestsMax + 1) })).toBeUndefined();
  });
});

test("per-request metadata, only where it has the right type", () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "a", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/logLevel": "info",
    progressToken: 4,
  };
  expect(readRequestMeta({ _meta: meta })).toEqual({
    protocolVersion: "2026-07-28",
    clientInfo: { name: "a", version: "1" },
    clientCapabilities: {},
    logLevel: "info",
    progressToken: 4,
  });
  const bad = { "io.modelcontextprotocol/clientInfo": "x", "io.modelcontextprotocol/clientCapabilities": [] };
  expect(Object.values(readRequestMeta({ _meta: bad })).every((value) => value === undefined)).toBe(true);
  expect([readId("a"), readId(1), readId(1.5), readId(null)]).toEqual(["a", 1, undefined, undefined]);
});

describe("subscription filter", () => {
  const full: JsonObject = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["file:///a"],
    taskIds: ["t"],
  };

  test("is read and written", () => {
    for (const notifications of [full, {}]) {
      const filter = readFilter({ notifications });
      expect(filter && filterJson(filter)).toEqual(notifications);
    }
    const odd = readFilter({ notifications: { toolsListChanged: "yes" } });
    expect(odd?.toolsListChanged).toBe(false);
  });

  test("is refused when malformed or too long", () => {
    const uris = Array.from({ length: subscriptionsMax + 1 }, () => "file:///a");
    for (const notifications of [undefined, [], { resourceSubscriptions: "x" }, { taskIds: [1] }, { taskIds: uris }]) {
      expect(readFilter(notifications === undefined ? {} : { notifications })).toBeUndefined();
    }
  });
});
