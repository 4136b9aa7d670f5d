import { describe, expect, test } from "vitest";
import type { JsonObject } from "../core/json.ts";
import { classify, invalidSentence, negotiateLegacy, type InvalidReason, type Surroundings } from "./classify.ts";
import type { Message } from "./message.ts";
import { legacyRevisions } from "./revision.ts";

const request = (method: string, params?: JsonObject): Message => ({ kind: "request", id: 1, method, params });
const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const modern = (text: unknown, method = "tools/list"): Message =>
  request(method, { _meta: { [version]: text as string, [capabilities]: {} } });
const stdio: Surroundings = { transport: "stdio" };
const http = (header?: string): Surroundings => ({ transport: "http", header });
const notification: Message = { kind: "notification", method: "notifications/cancelled", params: undefined };

describe("classification", () => {
  test.each<[string, Message, Surroundings, object]>([
    ["modern on stdio", modern("2026-07-28"), stdio, { kind: "modern", revision: "2026-07-28" }],
    ["modern over HTTP", modern("2026-07-28"), http("2026-07-28"), { kind: "modern" }],
    ["metadata beats initialize", modern("2026-07-28", "initialize"), stdio, { kind: "modern" }],
    ["header differs", modern("2026-07-28"), http("2025-11-25"), { kind: "invalid", code: -32020 }],
    ["header missing", modern("2026-07-28"), http(), { kind: "invalid", code: -32020 }],
    ["future version", modern("2030-01-01"), stdio, { kind: "modern-unsupported", requested: "2030-01-01" }],
    ["legacy version in metadata", modern("2025-11-25"), stdio, { kind: "modern-unsupported" }],
    ["version of wrong type", modern(7), stdio, { kind: "invalid", reason: "version-not-text" }],
    [
      "no capabilities",
      request("tools/list", { _meta: { [version]: "2026-07-28" } }),
      stdio,
      { kind: "invalid", reason: "capabilities-missing" },
    ],
    [
      "initialize",
      request("initialize", { protocolVersion: "2025-06-18" }),
      http(),
      { kind: "initialize", requested: "2025-06-18", revision: "2025-06-18" },
    ],
    [
      "initialize for the modern revision gets the newest legacy one",
      request("initialize", { protocolVersion: "2026-07-28" }),
      stdio,
      { kind: "initialize", revision: "2025-11-25" },
    ],
    ["initialize without version", request("initialize"), stdio, { reason: "initialize-without-version" }],
    [
      "modern header, bare body",
      request("tools/list"),
      http("2026-07-28"),
      { code: -32602, reason: "modern-header-without-metadata" },
    ],
    ["no header", request("tools/list"), http(), { kind: "legacy", revision: "2025-03-26" }],
    ["nothing known on stdio", request("ping"), stdio, { kind: "legacy", revision: undefined }],
    ["negotiated", request("ping"), { ...stdio, negotiated: "2025-06-18" }, { kind: "legacy", revision: "2025-06-18" }],
    [
      "negotiated, same header",
      request("ping"),
      { ...http("2025-06-18"), negotiated: "2025-06-18" },
      { kind: "legacy" },
    ],
    [
      "negotiated, other header",
      request("ping"),
      { ...http("2025-03-26"), negotiated: "2025-06-18" },
      { kind: "invalid", reason: "header-differs-from-body" },
    ],
    ["unknown header", request("ping"), http("1999-01-01"), { kind: "invalid", reason: "unknown-version-header" }],
    ["modern notification", notification, http("2026-07-28"), { kind: "modern" }],
    ["notification after a modern start", notification, { ...stdio, negotiated: "2026-07-28" }, { kind: "modern" }],
    ["answer", { kind: "response", id: 1, result: {} }, http(), { kind: "legacy", revision: "2025-03-26" }],
    ["error", { kind: "error", id: null, error: { code: 1, message: "" } }, stdio, { kind: "legacy" }],
  ])("%s", (_name, message, around, expected) => {
    expect(classify(message, around)).toMatchObject(expected);
  });

  test("every refusal says what to do", () => {
    const reasons: readonly InvalidReason[] = [
      "version-not-text",
      "header-differs-from-body",
      "modern-header-without-metadata",
      "capabilities-missing",
      "initialize-without-version",
      "unknown-version-header",
    ];
    for (const reason of reasons) {
      expect(invalidSentence(reason)).toMatch(/^.{10,240}$/);
      expect(invalidSentence(reason)).toContain("Send");
    }
  });
});

describe("negotiation of a legacy revision", () => {
  test.each([
    ["2025-03-26", "2025-03-26"],
    ["2026-07-28", "2025-11-25"],
    ["2025-05-01", "2025-03-26"],
    ["2024-10-07", "2025-11-25"],
    ["nonsense", "2025-11-25"],
  ])("%s gets %s", (requested, offered) => {
    expect(negotiateLegacy(requested, legacyRevisions)).toBe(offered);
  });

  test("stays within what is offered", () => {
    expect(negotiateLegacy("2025-11-25", ["2025-06-18", "2026-07-28"])).toBe("2025-06-18");
    expect(negotiateLegacy("2025-11-25", [])).toBe("2025-11-25");
  });
});
