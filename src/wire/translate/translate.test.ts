import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { RequestMessage } from "../message.ts";
import { readRequestMeta } from "../modern.ts";
import { registryOf } from "../registry.ts";
import { legacyRevisions } from "../revision.ts";
import {
  clientCapabilitiesFor,
  discoverFromInitialize,
  initializeFromDiscover,
  initializeParams,
  legacyClient,
  perRequestMeta,
} from "./handshake.ts";
import { cleanMeta, requestToLegacy, requestToModern } from "./request.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const info = { name: "a", version: "1" };
const request = (method: string, params?: JsonObject): RequestMessage => ({ kind: "request", id: 1, method, params });
const client = legacyClient({
  protocolVersion: "2025-11-25",
  clientInfo: info,
  capabilities: { roots: { listChanged: true }, sampling: {}, tasks: { list: {} } },
});
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": info,
  "io.modelcontextprotocol/clientCapabilities": { roots: {}, sampling: {} },
};

describe("handshake", () => {
  const initialize = {
    protocolVersion: "2025-06-18",
    capabilities: { tools: { listChanged: true }, tasks: { list: {} } },
    serverInfo: info,
    instructions: "Use with care.",
    vendor: 1,
    _meta: { "com.example/a": 1 },
  };

  test("a legacy server as a modern one and back", () => {
    const discover = discoverFromInitialize(initialize);
    expect(discover).toEqual({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      instructions: "Use with care.",
      vendor: 1,
      ttlMs: 0,
      cacheScope: "private",
      _meta: { "com.example/a": 1, "io.modelcontextprotocol/serverInfo": info },
    });
    expect(initializeFromDiscover(discover, "2025-06-18")).toEqual({
      ...initialize,
      capabilities: { tools: { listChanged: true } },
    });
  });

  test("missing identity and capabilities get harmless defaults", () => {
    expect(discoverFromInitialize({}).capabilities).toEqual({});
    expect(initializeFromDiscover({}, "2025-11-25")).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: {},
      serverInfo: { name: "unknown", version: "0" },
    });
    expect(legacyClient(undefined)).toEqual({ clientInfo: undefined, capabilities: {}, logLevel: undefined });
  });

  test("a modern client initialises a legacy server with what that revision knows", () => {
    const both = { elicitation: { form: {}, url: {} }, extensions: { "a/b": {} }, sampling: {} };
    expect(clientCapabilitiesFor(both, "2025-11-25")).toEqual({ sampling: {}, elicitation: { form: {}, url: {} } });
    expect(clientCapabilitiesFor(both, "2025-06-18")).toEqual({ sampling: {}, elicitation: {} });
    expect(clientCapabilitiesFor({ elicitation: {} }, "2025-06-18")).toEqual({ elicitation: {} });
    expect(clientCapabilitiesFor({ elicitation: { url: {} } }, "2025-06-18")).toEqual({});
    expect(clientCapabilitiesFor(both, "2025-03-26")).toEqual({ sampling: {} });
    const read = readRequestMeta({ _meta: meta });
    expect(initializeParams(read, "2025-11-25")).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { roots: {}, sampling: {} },
      clientInfo: info,
    });
    expect(initializeParams(readRequestMeta(undefined), "2025-11-25").clientInfo).toEqual({
      name: "unknown",
      version: "0",
    });
  });

  test("a legacy client repeats itself on every modern request", () => {
    expect(perRequestMeta(client)).toEqual(meta);
    expect(perRequestMeta({ clientInfo: undefined, capabilities: {}, logLevel: "debug" })).toEqual({
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/logLevel": "debug",
    });
  });
});

describe("requests to a modern server", () => {
  test("gain metadata and lose what is ours or of the old era", () => {
    const params = {
      name: "a",
      arguments: { x: 1 },
      task: { ttl: 1 },
      inputResponses: { q: {} },
      requestState: "s",
      _meta: {
        progressToken: 1,
        "io.github.sluicegate/run": "r",
        "io.modelcontextprotocol/related-task": { taskId: "t" },
      },
    };
    expect(requestToModern(request("tools/call", params), client)).toEqual({
      kind: "send",
      message: request("tools/call", { name: "a", arguments: { x: 1 }, _meta: { progressToken: 1, ...meta } }),
      logLevel: undefined,
    });
    expect(requestToModern(request("tools/list"), client)).toMatchObject({ message: { params: { _meta: meta } } });
  });

  test.each<[string, JsonObject | undefined, object]>([
    ["initialize", {}, { kind: "local", method: "initialize" }],
    ["ping", undefined, { kind: "local", method: "ping" }],
    ["logging/setLevel", { level: "info" }, { kind: "log-level", level: "info" }],
    ["logging/setLevel", {}, { kind: "malformed" }],
    ["resources/subscribe", { uri: "file:///a" }, { kind: "subscribe", uri: "file:///a" }],
    ["resources/unsubscribe", { uri: "file:///a" }, { kind: "unsubscribe", uri: "file:///a" }],
    ["resources/subscribe", undefined, { kind: "malformed" }],
    ["tasks/get", { taskId: "t" }, { kind: "absent" }],
    ["vendor/x", {}, { kind: "absent" }],
  ])("%s %j", (method, params, expected) => {
    expect(requestToModern(request(method, params), client)).toEqual(expected);
  });

  test("every request of every legacy revision has a translation", () => {
    for (const revision of legacyRevisions) {
      for (const entry of registryOf(revision)) {
        if (entry.kind !== "request" || entry.direction !== "to-server") continue;
        const kind = requestToModern(request(entry.method, { uri: "a:b", level: "info" }), client).kind;
        expect(kind === "absent").toBe(entry.method.startsWith("tasks/"));
        expect(kind).not.toBe("malformed");
      }
    }
  });
});

describe("requests to a legacy server", () => {
  test("lose per-request metadata, answers and state", () => {
    const params = {
      name: "a",
      task: { ttl: 1 },
      inputResponses: { q: {} },
      requestState: "s",
      _meta: { ...meta, "io.modelcontextprotocol/logLevel": "debug", "com.example/x": 1 },
    };
    expect(requestToLegacy(request("tools/call", params), "2025-06-18")).toEqual({
      kind: "send",
      message: request("tools/call", { name: "a", _meta: { "com.example/x": 1 } }),
      logLevel: "debug",
    });
    expect(requestToLegacy(request("tools/list", { _meta: meta }), "2025-06-18")).toEqual({
      kind: "send",
      message: request("tools/list"),
      logLevel: undefined,
    });
  });

  test.each<[string, JsonObject | undefined, object]>([
    ["server/discover", {}, { kind: "local", method: "server/discover" }],
    ["subscriptions/listen", { notifications: { toolsListChanged: true } }, { kind: "listen" }],
    ["subscriptions/listen", {}, { kind: "malformed" }],
    ["tasks/update", {}, { kind: "absent" }],
    ["initialize", {}, { kind: "absent" }],
    ["vendor/x", {}, { kind: "absent" }],
  ])("%s %j", (method, params, expected) => {
    expect(requestToLegacy(request(method, params), "2025-11-25")).toMatchObject(expected);
  });

  test("to modern and back gives the legacy request again", () => {
    const args = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    fc.assert(
      fc.property(args, fc.option(fc.string(), { nil: undefined }), (values, token) => {
        // Plain JSON by construction; the cast only adds `readonly`.
        const given = {
          name: "a",
          arguments: values as JsonObject,
          ...(token === undefined ? {} : { _meta: { progressToken: token } }),
        };
        const there = requestToModern(request("tools/call", given), client);
        if (there.kind !== "send") throw new Error(there.kind);
        const back = requestToLegacy(there.message, "2025-11-25");
        expect(back).toEqual({ kind: "send", message: request("tools/call", given), logLevel: undefined });
      }),
      { numRuns: runs },
    );
  });
});

test("metadata that is no object is none", () => {
  expect(cleanMeta({ _meta: "x" })).toEqual({});
});
