import { describe, expect, it } from "vitest";
import { diagnosticsMax, policyDepthMax } from "../values/limits.ts";
import { checkShape } from "./check.ts";
import { type Shape, anything, constant, either, list, mapOf, named, nothing, text } from "./shape.ts";

const said = (shape: Shape<unknown>, value: unknown): readonly string[] =>
  checkShape(shape, value).map(({ code, message, remedy }) => `${code}: ${message}; ${remedy}`);

/** A shape that contains itself, as patterns do. */
const nested: Shape<unknown> = named("nested", () => either("a text or a list of them", text("a text"), list(nested)));

describe("shapes that contain themselves", () => {
  it("are followed to their end", () => {
    expect(said(nested, ["a", ["b", ["c"]]])).toEqual([]);
    expect(said(nested, ["a", [7]])[0]).toContain("TYPE");
  });

  it("but only to a limit, so that a document cannot exhaust the stack", () => {
    let deep: unknown = "end";
    for (let level = 0; level < policyDepthMax + 10; level += 1) deep = [deep];
    expect(said(nested, deep)).toEqual([expect.stringContaining(`nested deeper than ${policyDepthMax} levels`)]);
  });
});

describe("what is wrong is said with what is right", () => {
  it("where nothing is wanted", () => expect(said(nothing, 7)[0]).toContain("nothing"));

  it("where one word is wanted", () => expect(said(constant("open"), "close")[0]).toContain("`open`"));

  it("and only for the first so many mistakes", () => {
    const wrong = Object.fromEntries(Array.from({ length: 3 * diagnosticsMax }, (_, index) => [`k${index}`, index]));
    expect(said(mapOf("names", text("a text")), wrong)).toHaveLength(diagnosticsMax);
  });

  it("and nothing where anything is allowed", () => {
    expect(said(either("a text or anything", text("a text"), anything), { a: [7] })).toEqual([]);
  });

  it("in a union by what the value comes closest to, also behind a name", () => {
    const shape = either(
      "a text or a list",
      named("words", () => list(text("a text"))),
      text("a text"),
    );
    expect(said(shape, [7])).toHaveLength(1);
    expect(said(shape, [7])[0]).toContain("text");
  });
});
