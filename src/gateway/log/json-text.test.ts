import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isRawNumber, type Json } from "../../core/json.ts";
import { readJson } from "./json-text.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const numbers = [
  "0",
  "7",
  "-0",
  "1.0",
  "1e2",
  "1E400",
  "0.10",
  "0.0000001",
  "9007199254740993",
  "12345678901234567890",
];

/** JSON texts with numbers as somebody else may write them. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...numbers, "true", "null"),
    fc.string().map((value) => JSON.stringify(value)),
    fc.array(tie("text"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc
      .uniqueArray(fc.tuple(fc.string({ minLength: 1 }), tie("text")), { selector: ([name]) => name, maxLength: 4 })
      // Whole numbers as names change places when they are parsed.
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(`_${name}`)}:${value}`).join(",")}}`),
  ),
}));

describe("stored JSON", () => {
  it("law: comes back with every number as it was written", () => {
    fc.assert(
      fc.property(text, (written) => {
        const value = readJson(written);
        expect(JSON.stringify(value)).toBe(written);
      }),
      { numRuns: runs * 5 },
    );
  });

  it("keeps a lexeme only where a double would lose it, however the text is spaced", () => {
    const value = readJson('{ "a": [1, 1.0],\n"b": 9007199254740993, "c": "1.0" }') as {
      readonly [name: string]: Json;
    };
    expect(value).toEqual({ a: [1, expect.anything()], b: expect.anything(), c: "1.0" });
    expect(isRawNumber((value["a"] as Json[])[1] ?? null)).toBe(true);
    expect(JSON.stringify(value)).toBe('{"a":[1,1.0],"b":9007199254740993,"c":"1.0"}');
  });

  it.each(["", "{", "[1,]", "01", "nul", "\u{feff}1"])("%j is none", (broken) => {
    expect(readJson(broken)).toBeUndefined();
  });
});
