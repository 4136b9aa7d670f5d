import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { ErrorMessage, NotificationMessage, RequestMessage } from "../message.ts";
import { inputRequestsMax, readFilter } from "../modern.ts";
import { answerToLegacy, answerToModern, questionToLegacy, questionToModern, retryWith } from "./input.ts";
import {
  acknowledged,
  filterAdmits,
  notificationToLegacy,
  notificationToModern,
  withSubscription,
} from "./notification.ts";
import { errorToLegacy, errorToModern, resultToLegacy, resultToModern, urlQuestions } from "./result.ts";
import { createdTaskToModern, taskToLegacy, taskToModern } from "./task.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const failure = (code: number, data?: JsonObject): ErrorMessage => ({
  kind: "error",
  id: 1,
  error: data === undefined ? { code, message: "m" } : { code, message: "m", data },
});
const telling = (method: string, params?: JsonObject): NotificationMessage => ({
  kind: "notification",
  method,
  params,
});
const ids = { request: 9, elicitation: "e1" };

describe("results", () => {
  test("gain and lose the modern members, nothing else", () => {
    const result = fc.dictionary(
      fc.string({ minLength: 1 }).filter((name) => name !== "_meta"),
      fc.jsonValue(),
      {
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(
        result,
        fc.constantFrom("tools/list", "tools/call", "prompts/get", "resources/read"),
        (members, method) => {
          // Plain JSON by construction; the cast only adds `readonly`.
          const modern = resultToModern(method, members as JsonObject);
          expect(modern["resultType"]).toBe("complete");
          expect(modern["ttlMs"] === 0).toBe(method === "tools/list" || method === "resources/read");
          expect(resultToLegacy(method, modern)).toEqual(members);
        },
      ),
      { numRuns: runs },
    );
  });

  test("a legacy server cannot forge a modern question", () => {
    const forged = { resultType: "input_required", inputRequests: {}, requestState: "s", ttlMs: 9, content: [] };
    expect(resultToModern("tools/call", forged)).toEqual({ resultType: "complete", content: [] });
  });

  test("what is not complete is no legacy result", () => {
    for (const resultType of ["input_required", "task", "new"]) {
      expect(resultToLegacy("tools/call", { resultType, content: [] })).toBeUndefined();
    }
  });

  test("server identity and subscription leave the metadata", () => {
    const meta = { "io.modelcontextprotocol/serverInfo": {}, "io.modelcontextprotocol/subscriptionId": 1 };
    expect(resultToLegacy("tools/call", { resultType: "complete", content: [], _meta: meta })).toEqual({ content: [] });
    expect(resultToLegacy("tools/call", { _meta: { ...meta, a: 1 } })).toEqual({ _meta: { a: 1 } });
  });
});

describe("errors", () => {
  test("codes of one era become codes of the other", () => {
    expect(errorToModern(failure(-32002, { uri: "a:b" }))).toEqual(failure(-32602, { uri: "a:b" }));
    expect(errorToModern(failure(-32601))).toEqual(failure(-32601));
    expect([-32020, -32021, -32022].map((code) => errorToModern(failure(code)).error.code)).toEqual(
      [1, 2, 3].map(() => -32600),
    );
    expect(errorToLegacy(failure(-32021))).toEqual(failure(-32600));
    expect(errorToLegacy(failure(-32602))).toEqual(failure(-32602));
  });

  test("a demand to visit URLs becomes questions", () => {
    const url = { mode: "url", url: "https://a.example", message: "Sign in", elicitationId: "e" };
    expect(urlQuestions(failure(-32042, { elicitations: [url] }))).toEqual([
      {
        key: "url-0",
        method: "elicitation/create",
        params: { mode: "url", url: "https://a.example", message: "Sign in" },
      },
    ]);
    const broken: readonly JsonObject[] = [
      {},
      { elicitations: [] },
      { elicitations: ["x"] },
      { elicitations: [{ ...url, mode: "form" }] },
      { elicitations: [{ mode: "url" }] },
      { elicitations: Array.from({ length: inputRequestsMax + 1 }, () => url) },
    ];
    for (const data of broken) expect(urlQuestions(failure(-32042, data))).toBeUndefined();
    expect(urlQuestions(failure(-32000))).toBeUndefined();
  });
});

describe("questions of a server", () => {
  const form = { mode: "form", message: "Name?", requestedSchema: { type: "object", properties: {} } };
  const visit = { mode: "url", message: "Sign in", url: "https://a.example" };

  test("from a legacy server", () => {
    const ask = (method: string, params?: JsonObject): RequestMessage => ({ kind: "request", id: 4, method, params });
    expect(questionToModern(ask("roots/list"), "k")).toEqual({ key: "k", method: "roots/list", params: undefined });
    const params = { ...visit, elicitationId: "e", _meta: {}, task: {} };
    expect(questionToModern(ask("elicitation/create", params), "k")?.params).toEqual(visit);
    expect(questionToModern(ask("ping"), "k")).toBeUndefined();
    expect(answerToLegacy(4, { resultType: "complete", action: "accept" })).toEqual({
      kind: "response",
      id: 4,
      result: { action: "accept" },
    });
  });

  test("to a legacy client, as its revision allows", () => {
    const ask = (
      params: JsonObject | undefined,
      revision: "2025-03-26" | "2025-06-18" | "2025-11-25",
      method = "elicitation/create",
    ) => questionToLegacy({ key: "k", method, params }, ids, revision)?.params;
    expect(ask(form, "2025-11-25")).toEqual(form);
    expect(ask(visit, "2025-11-25")).toEqual({ ...visit, elicitationId: "e1" });
    expect(ask(form, "2025-06-18")).toEqual({ message: "Name?", requestedSchema: form.requestedSchema });
    expect(ask(visit, "2025-06-18")).toBeUndefined();
    expect(ask(form, "2025-03-26")).toBeUndefined();
    expect(ask({ maxTokens: 1 }, "2025-03-26", "sampling/createMessage")).toEqual({ maxTokens: 1 });
    expect(ask({ tools: [] }, "2025-06-18", "sampling/createMessage")).toBeUndefined();
    expect(ask({ toolChoice: {} }, "2025-11-25", "sampling/createMessage")).toEqual({ toolChoice: {} });
    expect(questionToLegacy({ key: "k", method: "roots/list", params: undefined }, ids, "2024-11-05")).toEqual({
      kind: "request",
      id: 9,
      method: "roots/list",
      params: undefined,
    });
  });

  test("answers of a legacy client, and the repeated call", () => {
    const answer = (result: JsonObject | string) => answerToModern("roots/list", { kind: "response", id: 9, result });
    expect(answer({ roots: [] })).toEqual({ roots: [] });
    expect(answer("x")).toBeUndefined();
    expect(answerToModern("elicitation/create", failure(-1))).toEqual({ action: "cancel" });
    expect(answerToModern("roots/list", failure(-1))).toBeUndefined();
    const call: RequestMessage = {
      kind: "request",
      id: 1,
      method: "tools/call",
      params: { name: "a", requestState: "old" },
    };
    expect(retryWith(call, 2, new Map([["k", { action: "accept" }]]), "new")).toEqual({
      kind: "request",
      id: 2,
      method: "tools/call",
      params: { name: "a", inputResponses: { k: { action: "accept" } }, requestState: "new" },
    });
    expect(retryWith({ ...call, params: undefined }, 2, new Map(), undefined).params).toEqual({});
  });
});

describe("notifications", () => {
  const filter = readFilter({
    notifications: { toolsListChanged: true, resourceSubscriptions: ["file:///a"], taskIds: ["t"] },
  });
  if (filter === undefined) throw new Error("filter");

  test.each<[string, JsonObject | undefined, boolean]>([
    ["notifications/tools/list_changed", undefined, true],
    ["notifications/prompts/list_changed", undefined, false],
    ["notifications/resources/list_changed", undefined, false],
    ["notifications/resources/updated", { uri: "file:///a" }, true],
    ["notifications/resources/updated", { uri: "file:///b" }, false],
    ["notifications/resources/updated", undefined, false],
    ["notifications/tasks", { taskId: "t" }, true],
    ["notifications/tasks", undefined, false],
    ["notifications/message", { data: "x" }, false],
  ])("a stream carries only what was asked for: %s %j", (method, params, admitted) => {
    expect(filterAdmits(filter, telling(method, params))).toBe(admitted);
  });

  test("subscription ids come and go", () => {
    const updated = telling("notifications/resources/updated", { uri: "file:///a", _meta: { a: 1 } });
    const stamped = withSubscription(updated, 7);
    expect(stamped.params).toMatchObject({ _meta: { a: 1, "io.modelcontextprotocol/subscriptionId": 7 } });
    expect(notificationToLegacy(stamped, "2025-11-25")).toEqual(updated);
    expect(notificationToLegacy(updated, "2025-11-25")).toBe(updated);
    const bare = telling("notifications/tools/list_changed");
    expect(notificationToLegacy(withSubscription(bare, "s"), "2024-11-05")).toEqual(bare);
    expect(acknowledged(7, filter)).toMatchObject({ params: { notifications: { taskIds: ["t"] } } });
    expect(notificationToLegacy(acknowledged(7, filter), "2025-11-25")).toBeUndefined();
  });

  test("task status is spelt as its era wants", () => {
    const legacy = telling("notifications/tasks/status", { taskId: "t", status: "working", ttl: 5 });
    const modern = telling("notifications/tasks", { taskId: "t", status: "working", ttlMs: 5 });
    expect(notificationToModern(legacy)).toEqual(modern);
    expect(notificationToLegacy(modern, "2025-11-25")).toEqual(legacy);
    expect(notificationToLegacy(withSubscription(modern, 1), "2025-11-25")).toEqual(legacy);
    expect(notificationToLegacy(modern, "2025-06-18")).toBeUndefined();
    expect(notificationToModern(telling("notifications/elicitation/complete", {}))).toBeUndefined();
    expect(notificationToModern(telling("notifications/progress", {}))).toEqual(telling("notifications/progress", {}));
  });
});

test("what is no notification of its sender's era is not let in through translation", () => {
  for (const method of ["notifications/subscriptions/acknowledged", "notifications/tasks"]) {
    expect(notificationToModern(telling(method, { taskId: "t" }))).toBeUndefined();
  }
  for (const method of ["notifications/tasks/status", "notifications/elicitation/complete"]) {
    expect(notificationToLegacy(telling(method, { taskId: "t" }), "2025-11-25")).toBeUndefined();
  }
});

test("a legacy server cannot forge a question or a result in a task", () => {
  const inputRequests = { q: { method: "elicitation/create" } };
  const forged = { resultType: "input_required", inputRequests, requestState: "s", result: {}, error: {} };
  const created = { resultType: "task", taskId: "t" };
  expect(createdTaskToModern({ task: { taskId: "t", ...forged } })).toEqual(created);
  expect(createdTaskToModern({ task: { taskId: "t" }, ...forged })).toEqual(created);
  expect(notificationToModern(telling("notifications/tasks/status", { taskId: "t", ...forged }))).toEqual(
    telling("notifications/tasks", { taskId: "t" }),
  );
});

test("tasks", () => {
  const modern = { taskId: "t", status: "completed", ttlMs: null, pollIntervalMs: 5, result: { content: [] } };
  const legacy = { taskId: "t", status: "completed", ttl: null, pollInterval: 5 };
  expect(taskToLegacy(modern)).toEqual(legacy);
  expect(taskToModern(legacy)).toEqual({ taskId: "t", status: "completed", ttlMs: null, pollIntervalMs: 5 });
  expect(createdTaskToModern({ task: legacy, _meta: { a: 1 } })).toEqual({
    resultType: "task",
    taskId: "t",
    status: "completed",
    ttlMs: null,
    pollIntervalMs: 5,
    _meta: { a: 1 },
  });
  expect(createdTaskToModern({})).toBeUndefined();
});
