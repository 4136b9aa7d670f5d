import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../core/json.ts";
import {
  decodeBase64,
  encodeBase64,
  checkHeaders,
  decodeHeaderValue,
  encodeHeaderValue,
  headerParameters,
  headersFor,
} from "./headers.ts";
import type { Message } from "./message.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const call = (args: JsonObject): Message => ({
  kind: "request",
  id: 1,
  method: "tools/call",
  params: { name: "execute_sql", arguments: args, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});
const region = { type: "string", "x-mcp-header": "Region" };
const schema = (properties: JsonObject): Json => ({ type: "object", properties });
const parameters = headerParameters(
  schema({
    region,
    limit: { type: "integer", "x-mcp-header": "Limit" },
    deep: schema({ dry: { type: "boolean", "x-mcp-header": "Dry" } }),
  }),
);

describe("header values", () => {
  // The examples of the specification.
  test.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
    ["", ""],
  ])("%j is sent as %s", (text, value) => {
    expect(encodeHeaderValue(text)).toBe(value);
    expect(decodeHeaderValue(value)).toBe(text);
  });

  test("every text survives and is safe on the wire", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const value = encodeHeaderValue(text);
        expect(value).toMatch(/^[\x20-\x7E\t]*$/);
        expect(value).toBe(value.trim());
        expect(decodeHeaderValue(value)).toBe(text);
      }),
      { numRuns: runs },
    );
  });

  test.each(["a\nb", "é", "=?base64?=", "=?base64?A?=", "=?base64?QQ?=", "=?base64?QR==?=", "=?base64?/w==?="])(
    "%j is malformed",
    (value) => {
      expect(decodeHeaderValue(value)).toBeUndefined();
    },
  );

  test("Base64 agrees with the platform", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(encodeBase64(text)).toBe(Buffer.from(text).toString("base64"));
        expect(decodeBase64(encodeBase64(text))).toBe(text);
      }),
      { numRuns: runs },
    );
  });
});

describe("annotations of a schema", () => {
  test("are found through `properties` alone", () => {
    expect(parameters?.map((parameter) => [parameter.header, parameter.path.join(".")]).toSorted()).toEqual([
      ["mcp-param-dry", "deep.dry"],
      ["mcp-param-limit", "limit"],
      ["mcp-param-region", "region"],
    ]);
    expect(headerParameters(undefined)).toEqual([]);
    expect(headerParameters(schema({ a: { type: "string", default: { "x-mcp-header": "A" } } }))).toEqual([]);
  });

  test.each<[string, Json]>([
    ["empty", schema({ a: { type: "string", "x-mcp-header": "" } })],
    ["no token", schema({ a: { type: "string", "x-mcp-header": "a b" } })],
    ["line break", schema({ a: { type: "string", "x-mcp-header": "a\r\nX" } })],
    ["not text", schema({ a: { type: "string", "x-mcp-header": 1 } })],
    ["number type", schema({ a: { type: "number", "x-mcp-header": "A" } })],
    ["no type", schema({ a: { "x-mcp-header": "A" } })],
    ["at the root", { type: "string", "x-mcp-header": "A" }],
    ["twice in another case", schema({ a: region, b: { type: "string", "x-mcp-header": "REGION" } })],
    ["through items", schema({ a: { type: "array", items: schema({ b: region }) } })],
    ["through oneOf", schema({ a: { oneOf: [region] } })],
    ["through $defs", { $defs: { a: region } }],
    ["too large a schema", { anyOf: Array.from({ length: 10_001 }, () => true) }],
  ])("are refused: %s", (_name, broken) => {
    expect(headerParameters(broken)).toBeUndefined();
  });
});

describe("headers of a message", () => {
  test("are made from the body", () => {
    expect(headersFor(call({ region: "us-west1", limit: 3, deep: { dry: true }, query: "x" }), parameters)).toEqual({
      "mcp-method": "tools/call",
      "mcp-name": "execute_sql",
      "mcp-param-region": "us-west1",
      "mcp-param-limit": "3",
      "mcp-param-dry": "true",
      "mcp-protocol-version": "2026-07-28",
    });
    expect(headersFor(call({ region: null }), parameters)).not.toHaveProperty("mcp-param-region");
    expect(headersFor({ kind: "notification", method: "notifications/cancelled", params: undefined })).toEqual({
      "mcp-method": "notifications/cancelled",
    });
    expect(headersFor({ kind: "response", id: 1, result: {} })).toEqual({});
    const update: Message = { kind: "request", id: 1, method: "tasks/update", params: { taskId: "t" } };
    expect(headersFor(update)?.["mcp-name"]).toBe("t");
  });

  test("a value without header form makes the call unsendable", () => {
    for (const value of [1.5, ["a"], { a: 1 }, "\ud800", 2 ** 53, JSON.rawJSON("9007199254740993")]) {
      expect(headersFor(call({ region: value }), parameters)).toBeUndefined();
      expect(checkHeaders({ "mcp-method": "tools/call" }, call({ region: value }), parameters)?.reason).toBe(
        "malformed",
      );
    }
    const request = { kind: "request", id: 1 } as const;
    expect(headersFor({ ...request, method: "\ud800", params: {} })).toBeUndefined();
    expect(headersFor({ ...request, method: "prompts/get", params: { name: "\ud800" } })).toBeUndefined();
    expect(headersFor({ ...request, method: "prompts/get", params: {} })).toEqual({ "mcp-method": "prompts/get" });
    expect(headersFor(call({ limit: JSON.rawJSON("42.0") }), parameters)?.["mcp-param-limit"]).toBe("42");
  });

  test("what we send is what we accept", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.maxSafeInteger(), (text, limit) => {
        const message = call({ region: text, limit });
        expect(checkHeaders(headersFor(message, parameters) ?? {}, message, parameters)).toBeUndefined();
      }),
      { numRuns: runs },
    );
  });

  const good = { "mcp-method": "tools/call", "mcp-name": "execute_sql", "mcp-param-region": "eu" };
  test.each<[string, Record<string, string | undefined>, object]>([
    ["method", { "mcp-method": "tools/list" }, { header: "mcp-method", reason: "differs" }],
    ["method in another case", { "mcp-method": "Tools/Call" }, { reason: "differs" }],
    ["no method", { "mcp-method": undefined }, { reason: "missing" }],
    ["name", { "mcp-name": "other" }, { header: "mcp-name", reason: "differs" }],
    ["parameter", { "mcp-param-region": "us" }, { header: "mcp-param-region", reason: "differs" }],
    ["no parameter", { "mcp-param-region": undefined }, { reason: "missing" }],
    ["broken parameter", { "mcp-param-region": "é" }, { reason: "malformed" }],
    ["parameter that the body lacks", { "mcp-param-limit": "1" }, { header: "mcp-param-limit", reason: "unexpected" }],
  ])("a difference in the %s is found", (_name, change, expected) => {
    expect(checkHeaders(good, call({ region: "eu" }), parameters)).toBeUndefined();
    expect(checkHeaders({ ...good, ...change }, call({ region: "eu" }), parameters)).toMatchObject(expected);
  });

  test("integers compare as numbers, unknown tools and notifications are not held to parameters", () => {
    const message = call({ limit: 42 });
    expect(
      checkHeaders({ ...good, "mcp-param-region": undefined, "mcp-param-limit": "42.0" }, message, parameters),
    ).toBeUndefined();
    expect(checkHeaders(good, call({}), undefined)).toBeUndefined();
    const cancelled: Message = { kind: "notification", method: "notifications/cancelled", params: {} };
    expect(checkHeaders({}, cancelled, [])).toBeUndefined();
    expect(checkHeaders({ "mcp-name": "x" }, cancelled, [])?.reason).toBe("unexpected");
  });
});
