import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/json.ts";
import { lintLabels } from "./lint-labels.ts";

const key = "io.github.sluicegate/labels";
const place = "/_meta/io.github.sluicegate~1labels";
const labelled = (labels: Json, more: JsonObject = {}): JsonObject => ({
  name: "tool",
  _meta: { [key]: labels },
  ...more,
});
const found = (...tools: JsonObject[]) =>
  lintLabels({ server: "app", tools }).map(({ rule, place: at }) => [rule, at] as const);

const url = { inputSchema: { properties: { url: { type: "string", format: "uri" } } } };
const out = {
  outputSchema: {
    type: "object",
    properties: { items: { type: "array", items: { properties: { id: {} } } }, any: {} },
  },
};

test("what agrees is not mentioned, and a list without labels is none of its business", () => {
  const good = labelled(
    {
      version: 1,
      effects: ["read.external"],
      args: { url: "destination" },
      output: { fields: { "/items/*/id": "public", "/any/x": "public" } },
    },
    { name: "get_page", annotations: { readOnlyHint: true, openWorldHint: true }, ...url, ...out },
  );
  expect(found(good)).toEqual([]);
  expect(found({ name: "a" }, { name: "b", annotations: { readOnlyHint: true } })).toEqual([]);
});

test.each([
  ["no label beside labelled ones", [labelled({}), { name: "b" }], [["unlabelled", ""]]],
  ["a label of the wrong form", [labelled({ effects: ["fly"] })], [["form", `${place}/effects/0`]]],
  ["labels of stores", [labelled({ reads: "a" })], [["form", `${place}/reads`]]],
  ["labels beside the name", [{ name: "a", labels: {} }], [["place", "/labels"]]],
  [
    "a keyword without a reader",
    [{ name: "a", inputSchema: { properties: { "x/y": { "x-sluicegate-rule": 1, "x-sluicegate-role": "path" } } } }],
    [["place", "/inputSchema/properties/x~1y/x-sluicegate-rule"]],
  ],
  ["an argument that is not there", [labelled({ args: { to: "recipient" } })], [["argument", `${place}/args/to`]]],
  ["an address as content", [labelled({ args: { url: "content" } }, url)], [["argument", `${place}/args/url`]]],
  [
    "a part of the result that is not there",
    [labelled({ output: { fields: { "/items/*/name": "public" } } }, out)],
    [["field", `${place}/output/fields/~1items~1*~1name`]],
  ],
  [
    "reading beside a sign of acting",
    [labelled({ effects: ["read.local"] }, { name: "get_page", inputSchema: { properties: { webhook_url: {} } } })],
    [["sign", `${place}/effects`]],
  ],
] as const)("%s is found", (_what, tools, wanted) => {
  expect(found(...(tools as readonly JsonObject[]))).toEqual(wanted);
});

test.each([
  ["readOnlyHint", true, "write.local"],
  ["readOnlyHint", false, "read.local"],
  ["destructiveHint", true, "read.local"],
  ["destructiveHint", false, "write.local.delete"],
  ["openWorldHint", false, "write.external"],
  ["openWorldHint", true, "write.local"],
])("a hint %s of %s beside %s is found", (hint, value, effect) => {
  const tool = labelled({ effects: [effect] }, { annotations: { [hint]: value } });
  expect(found(tool)).toEqual([["annotation", `/annotations/${hint}`]]);
});
