import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effectActions, everyEffect, isEffect } from "../../core/effect.ts";
import type { JsonObject } from "../../core/json.ts";
import { inferTool } from "./infer.ts";
import { deedsByWord, wordsOf } from "./name-words.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const tool = (name: string, properties: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object", properties },
  ...more,
});
const text = { type: "string" };

test("names fall into words", () => {
  expect(wordsOf("createPullRequest")).toEqual(["create", "pull", "request"]);
  expect(wordsOf("HTTPGet_page-2")).toEqual(["http", "get", "page", "2"]);
  expect(wordsOf("")).toEqual([]);
  expect(wordsOf("a_".repeat(1_000)).length).toBeLessThanOrEqual(16);
});

test("every action of the word lists is one of the vocabulary", () => {
  for (const deeds of deedsByWord.values()) {
    for (const { action } of deeds)
      expect(action === undefined || (effectActions as readonly string[]).includes(action)).toBe(true);
  }
});

describe("effects", () => {
  test.each<[JsonObject, readonly string[]]>([
    [tool("read_file", { path: text }), ["read.local"]],
    [tool("send_email", { to: text, body: text }), ["write.external.send"]],
    [tool("fetch", { url: { type: "string", format: "uri" } }), ["read.external"]],
    [tool("get_page", { url: text }, { annotations: { readOnlyHint: true, openWorldHint: false } }), ["read.external"]],
    [tool("delete_file", { path: text }), ["write.local.delete"]],
    [tool("run_command", { command: text }), ["execute.external", "execute.local"]],
    [tool("list_comments", {}, { annotations: { openWorldHint: true } }), ["read.external"]],
    [tool("frob", {}, { annotations: { readOnlyHint: true, openWorldHint: false } }), ["read.local"]],
    [
      tool("frob", {}, { annotations: { readOnlyHint: false, openWorldHint: false, destructiveHint: true } }),
      ["execute.local", "write.local", "write.local.delete"],
    ],
    [
      tool("get_thing", {}, { annotations: { readOnlyHint: false, openWorldHint: false } }),
      ["execute.local", "read.local", "write.local"],
    ],
    [tool("thing", {}, { description: "Sends a mail to the team" }), ["write.external.send", "write.local.send"]],
    [tool("wipe_disk", {}, { annotations: { readOnlyHint: true } }), ["read.local"]],
  ])("%j", (listed, may) => {
    expect(inferTool(listed).may).toEqual(may);
  });

  test("of words that say nothing are everything", () => {
    expect(inferTool(tool("frobnicate")).may).toEqual(everyEffect);
    expect(inferTool({}).may).toEqual(everyEffect);
  });

  test("flags follow the hints, else the effects", () => {
    expect(inferTool(tool("send_email", { to: text }))).toMatchObject({ irreversible: true, openWorld: true });
    expect(inferTool(tool("read_file", { path: text }))).toMatchObject({ irreversible: false, openWorld: false });
    expect(inferTool(tool("x", {}, { annotations: { destructiveHint: true, openWorldHint: false } }))).toMatchObject({
      irreversible: true,
      openWorld: false,
    });
  });
});

describe("roles", () => {
  test.each<[string, JsonObject, string, string]>([
    ["send", text, "to", "recipient"],
    ["send", { type: "string", format: "email" }, "x", "recipient"],
    ["get", { type: "string", format: "uri" }, "x", "destination"],
    ["move_file", text, "destination", "path"],
    ["copy_file", text, "source", "path"],
    ["get", text, "destination_folder", "path"],
    ["pay", { type: "number" }, "amount", "amount"],
    ["run", text, "sqlQuery", "query"],
    ["run", text, "sql", "command"],
    ["get", text, "issue_id", "identifier"],
    ["write", text, "email_body", "content"],
    ["set", { type: "boolean" }, "message", "query"],
    ["set", { enum: ["a"] }, "message", "query"],
    ["delete_notes", text, "notes", "identifier"],
    ["get", text, "zorp", "query"],
  ])("%s %j %s is a %s", (name, schema, argument, role) => {
    expect(inferTool(tool(name, { [argument]: schema })).arguments.get(argument)?.role).toBe(role);
  });

  test("values that the schema offers are collected", () => {
    const found = inferTool(
      tool("x", { a: { enum: [1, 2], default: 1 }, b: { type: "array", items: { const: "c" } } }),
    );
    expect(found.arguments.get("a")?.schemaValues).toEqual([1, 2, 1]);
    expect(found.arguments.get("b")?.schemaValues).toEqual(["c"]);
  });
});

test("law: any listing gets an answer whose effects are of the vocabulary and never certain", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const listed = JSON.parse(
        JSON.stringify({ name: "get_x", inputSchema: { properties: value }, annotations: value }),
      ) as JsonObject; // JSON by construction
      const found = inferTool(listed);
      expect(found.may.length).toBeGreaterThan(0);
      expect(found.may.every(isEffect)).toBe(true);
      expect("must" in found).toBe(false);
    }),
    { numRuns: runs },
  );
});
