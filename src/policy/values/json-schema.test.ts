import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { checkSchema, satisfies } from "./json-schema.ts";

// Written as text: an object with a member `then` looks like a promise to linters.
const branches: unknown = JSON.parse('{"if": {"type": "string"}, "then": {"minLength": 2}, "else": {"minimum": 5}}');
const branch: unknown = JSON.parse('{"if": {"type": "string"}, "then": {"minLength": 2}}');

describe("values", () => {
  test.each<[unknown, Json, boolean]>([
    [true, 1, true],
    [false, 1, false],
    [{ type: "integer" }, 1, true],
    [{ type: "integer" }, JSON.rawJSON("1.0"), true],
    [{ type: "integer" }, 1.5, false],
    [{ type: ["null", "boolean"] }, null, true],
    [{ type: "object" }, [], false],
    [{ type: "array" }, [], true],
    [{ type: "number" }, JSON.rawJSON("1e400"), true],
    [{ const: { a: [1, null] } }, { a: [1, null] }, true],
    [{ const: { a: 1 } }, { b: 1 }, false],
    [{ const: { a: 1 } }, [1], false],
    [{ const: { a: 1 } }, { a: 1, b: 2 }, false],
    [{ const: [1] }, [2], false],
    [{ enum: [1, "a"] }, "a", true],
    [{ enum: [1, "a"] }, "b", false],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, false],
    [{ anyOf: [{ const: 1 }, { const: 2 }] }, 3, false],
    [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, false],
    [{ oneOf: [{ minimum: 1 }, { minimum: 5 }] }, 3, true],
    [{ not: { const: 1 } }, 1, false],
    [branches, "a", false],
    [branches, 4, false],
    [branch, 4, true],
    [{ exclusiveMinimum: 1 }, 1, false],
    [{ exclusiveMaximum: 1 }, 1, false],
    [{ exclusiveMaximum: 1 }, 0.5, true],
    [{ minLength: 2 }, "\u{1f600}", false],
    [{ maxLength: 1 }, "\u{1f600}", true],
    [{ pattern: "^a+$" }, "aab", false],
    [{ minItems: 2 }, [1], false],
    [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [1, 2, 2], true],
    [{ prefixItems: [{ const: 1 }], items: { const: 2 } }, [1, 1], false],
    [{ contains: { const: 1 } }, [2], false],
    [{ uniqueItems: true }, [1, JSON.rawJSON("1.0")], false],
    [{ uniqueItems: true }, [1, "1"], true],
    [{ required: ["a"] }, {}, false],
    [{ required: ["toString"] }, {}, false],
    [{ minProperties: 1 }, {}, false],
    [{ properties: { a: { const: 1 } } }, { a: 2 }, false],
    [{ patternProperties: { "^x": { const: 1 } }, additionalProperties: false }, { xa: 1 }, true],
    [{ patternProperties: { "^x": { const: 1 } }, additionalProperties: false }, { a: 1 }, false],
    [{ propertyNames: { maxLength: 1 } }, { ab: 1 }, false],
    [{ $defs: { n: { const: 1 } }, $ref: "#/$defs/n" }, 2, false],
    [{ $ref: "#/nowhere" }, 1, false],
    [{ allOf: [{ const: 1 }], properties: { a: { $ref: "#/allOf/0" } } }, { a: 2 }, false],
  ])("%j accepts %j: %s", (schema, value, wanted) => {
    expect(checkSchema(schema)).toBeUndefined();
    expect(satisfies(schema, value)).toBe(wanted);
  });
});

test("what cannot be enforced is refused when it is read", () => {
  for (const schema of [
    1,
    { type: "text" },
    { type: 1 },
    { minimum: "1" },
    { minLength: 1.5 },
    { allOf: {} },
    { properties: [] },
    { patternProperties: { "(?=x)": {} } },
    { pattern: "(?=x)" },
    { enum: 1 },
    { uniqueItems: 1 },
    { $ref: "other.json" },
    { unevaluatedProperties: false },
    { items: { dependentRequired: {} } },
    { not: 5 },
    { required: {} },
    { $ref: 5 },
  ]) {
    expect(checkSchema(schema)).toBeTypeOf("string");
  }
  let deep: object = {};
  for (let index = 0; index < 100; index += 1) deep = { not: deep };
  expect(checkSchema(deep)).toMatch(/nested/);
});

test("work is bounded", () => {
  expect(satisfies({ $ref: "#" }, 1)).toBeUndefined();
  const wide = { allOf: Array.from({ length: 400 }, () => ({ items: { type: "number" } })) };
  expect(
    satisfies(
      wide,
      Array.from({ length: 400 }, () => 1),
    ),
  ).toBeUndefined();
  expect(satisfies(5, 1)).toBeUndefined();
});

test("a number with more digits than are kept cannot be judged", () => {
  const huge = JSON.rawJSON("1e9999");
  for (const schema of [{ maximum: 10 }, { not: { minimum: 10 } }, { not: { const: 10 } }, { enum: [10] }]) {
    expect(satisfies(schema, huge)).toBeUndefined();
  }
  expect(satisfies({ type: "number" }, huge)).toBe(true);
});

test("a bug of ours is no verdict: only running out of steps is", () => {
  const broken = Object.defineProperty({}, "type", { enumerable: true, get: () => JSON.parse("{") as unknown });
  expect(() => satisfies(broken, 1)).toThrow(SyntaxError);
});
