import { expect, it } from "vitest";
import { entryCharactersMax, namesOf, textsOf } from "./list-texts.ts";

const read = (entry: Parameters<typeof textsOf>[0]): string[] => textsOf(entry).texts.map((one) => one.text);

it("reads every string that a model is given, in document order, with its place", () => {
  const entry = {
    name: "find",
    title: "Find",
    description: "Finds things.",
    inputSchema: {
      type: "object",
      properties: { "a/b": { type: "string", description: "What to find", enum: ["x", "y"], default: "x" }, type: {} },
      required: ["a/b"],
    },
    annotations: { title: "Finder", readOnlyHint: true },
  };
  const { texts, complete } = textsOf(entry);
  expect(complete).toBe(true);
  expect(texts.map(({ pointer, name, text }) => `${name ? "name" : "text"} ${pointer} ${text}`)).toEqual([
    "name /name find",
    "text /title Find",
    "text /description Finds things.",
    "text /inputSchema/type object",
    "name /inputSchema/properties/a~1b a/b",
    "name /inputSchema/properties/type type",
    "text /inputSchema/properties/a~1b/type string",
    "text /inputSchema/properties/a~1b/description What to find",
    "text /inputSchema/properties/a~1b/enum/0 x",
    "text /inputSchema/properties/a~1b/enum/1 y",
    "text /inputSchema/properties/a~1b/default x",
    "text /inputSchema/required/0 a/b",
    "text /annotations/title Finder",
  ]);
});

it("leaves out what clients keep from models, unless an argument has that name", () => {
  expect(read({ icons: [{ src: "data:x" }], _meta: { note: "n" }, text: "t" })).toEqual(["t"]);
  expect(read({ properties: { icons: { description: "of the page" } } })).toEqual(["icons", "of the page"]);
});

it("reads numbers and switches as nothing", () => {
  expect(read({ a: 1, b: null, c: true, d: JSON.rawJSON("1e400") })).toEqual([]);
});

it("stops at its limits and says so", () => {
  const long = "x".repeat(entryCharactersMax);
  expect(textsOf({ a: long }).complete).toBe(true);
  const cut = textsOf({ a: long, b: "tail" });
  expect(cut.complete).toBe(false);
  expect(cut.texts.map((one) => one.text.length)).toEqual([entryCharactersMax, 0]);
  const many = textsOf({ list: Array.from({ length: 5000 }, () => "s") });
  expect(many.complete).toBe(false);
  expect(many.texts.length).toBeLessThan(4100);
});

it("reads an entry of any depth", () => {
  let nested: Parameters<typeof textsOf>[0] = { deep: "down here" };
  for (let level = 0; level < 20_000; level += 1) nested = { items: nested };
  expect(read(nested)).toEqual(["down here"]);
});

it("knows the name of an entry and of its arguments", () => {
  expect(namesOf({ name: "find", inputSchema: { properties: { a: {}, b: {} } } })).toEqual({
    own: "find",
    parameters: ["a", "b"],
  });
  expect(namesOf({ inputSchema: { properties: [] } })).toEqual({ own: "", parameters: [] });
});
