import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "./json.ts";
import { escapeToken, leaves, matchesPattern, pointerOf, pointerTokens, unescapeToken, valueAt } from "./pointer.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

// The example document of RFC 6901, section 5.
const rfc = JSON.parse(
  String.raw`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`,
);

describe("JSON Pointer", () => {
  test.each([
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/m~0n", 8],
    ["", rfc],
    ["/foo/2", undefined],
    ["/foo/01", undefined],
    ["/foo/-", undefined],
    ["/foo/0/x", undefined],
    ["/x/y", undefined],
    ["foo", undefined],
    ["/a~2b", undefined],
    ["/toString", undefined],
    ["/__proto__", undefined],
  ])("%s", (pointer, value) => {
    expect(valueAt(rfc, pointer)).toEqual(value);
    expect(valueAt({ "\0": 1 }, `x${pointer}`), "not a pointer").toBeUndefined();
  });

  test("tokens survive escaping", () => {
    fc.assert(
      fc.property(fc.string(), (token) => {
        expect(unescapeToken(escapeToken(token))).toBe(token);
        expect(pointerTokens(pointerOf([token, "x"]))).toEqual([token, "x"]);
      }),
      { numRuns: runs },
    );
  });

  test("every leaf is found at its pointer, in document order", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // `jsonValue` yields plain JSON; the cast only adds `readonly`.
        const document = value as Json;
        for (const leaf of leaves(document)) expect(valueAt(document, leaf.pointer)).toBe(leaf.value);
      }),
      { numRuns: runs },
    );
    const document = JSON.parse('{"b":[1,{"__proto__":"x"}],"a":null,"e":[],"o":{}}');
    expect([...leaves(document)].map((leaf) => leaf.pointer)).toEqual(["/b/0", "/b/1/__proto__", "/a"]);
    expect([...leaves(JSON.rawJSON("1.0"), "/x")]).toEqual([{ pointer: "/x", value: JSON.rawJSON("1.0") }]);
  });

  test("patterns", () => {
    expect(matchesPattern("/a/*/c", "/a/0/c")).toBe(true);
    expect(matchesPattern("/a/*/c", "/a/0/d")).toBe(false);
    expect(matchesPattern("/a/*", "/a")).toBe(false);
    expect(matchesPattern("/a/*", "/a/b/c")).toBe(false);
    expect(matchesPattern("/a/**", "/a")).toBe(true);
    expect(matchesPattern("/a/**", "/a/b/c")).toBe(true);
    expect(matchesPattern("/a/**", "/ab")).toBe(false);
    expect(matchesPattern("/**", "/anything")).toBe(true);
    expect(matchesPattern("", "")).toBe(true);
  });
});
