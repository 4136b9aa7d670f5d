import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { satisfies } from "../../policy/values/json-schema.ts";
import { type SampleKind, sampleOf } from "./sample.ts";

const text = ({ path }: { readonly path: readonly string[] }): string => path.at(-1) ?? "text";

function sample(schema: unknown, kind: SampleKind = "required"): unknown {
  const made = sampleOf(schema as Json, { kind, text });
  return made.ok ? made.value : made.error;
}

const tool = {
  type: "object",
  required: ["city"],
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 1, maximum: 10 },
    unit: { enum: ["metric", "imperial"] },
    tags: { type: "array", items: { type: "string" } },
    deep: { type: "object", properties: { on: { type: "boolean" } } },
  },
};

describe("a sample", () => {
  it("has what is required, all that is declared, or the ends of ranges", () => {
    expect(sample(tool)).toEqual({ city: "city" });
    expect(sample(tool, "all")).toEqual({ city: "city", days: 5, unit: "metric", tags: ["0"], deep: { on: true } });
    expect(sample({ ...tool, required: ["city", "days", "unit", "tags"] }, "edge")).toEqual({
      city: "",
      days: 1,
      unit: "imperial",
      tags: [],
    });
    expect(sample({ type: "object", required: ["x"] })).toEqual({ x: "x" });
    expect(sample({ properties: { on: { type: "boolean" } }, required: ["on"] }, "edge")).toEqual({ on: false });
  });

  it.each<readonly [unknown, unknown]>([
    [true, "text"],
    [{ const: 7 }, 7],
    [{ type: "null" }, null],
    [{ type: ["null", "integer"] }, 5],
    [{ type: "number", exclusiveMinimum: 7 }, 7.5],
    [{ type: "number", exclusiveMaximum: 3 }, 2.5],
    [{ type: "number", default: 3 }, 3],
    [{ minimum: 9 }, 9],
    [{ type: "integer", multipleOf: 4 }, 8],
    [{ type: "integer", multipleOf: 4, maximum: 7 }, 4],
    [{ type: "string", minLength: 6 }, "texttext".slice(0, 6)],
    [{ type: "string", maxLength: 2 }, "te"],
    [{ type: "string", pattern: "^[A-Z][0-9]$" }, "A1"],
    [{ type: "string", pattern: "^#[0-9a-f]{6}$", examples: ["#aabbcc"] }, "#aabbcc"],
    [{ type: "string", pattern: "^v1$", default: "v1" }, "v1"],
    [{ items: { type: "integer" } }, [5]],
    [{ prefixItems: [{ const: 1 }, { const: 2 }] }, [1, 2]],
    [{ type: "array", items: { type: "string" }, minItems: 2, uniqueItems: true }, ["0", "1"]],
    [{ type: "array", items: { const: "a" }, minItems: 2 }, ["a", "a"]],
    [{ type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true }, [5, 6, 7]],
    [
      { type: "array", items: { const: "a" }, minItems: 3, uniqueItems: true },
      "no value was found that its schema accepts",
    ],
    [
      { type: "object", minProperties: 2 },
      { key0: "key", key1: "key" },
    ],
    [{ oneOf: [{ type: "null" }, { type: "integer" }] }, 5],
    [{ anyOf: [{ required: ["a"] }, { required: ["b"] }], type: "object", properties: { a: { const: 1 } } }, { a: 1 }],
    [{ anyOf: [true], type: "string" }, "text"],
    [{ allOf: [{ properties: { a: { const: 1 } } }, { required: ["a"] }], type: "object" }, { a: 1 }],
    [{ $ref: "#/$defs/one", $defs: { one: { const: 1 } } }, 1],
    [{ type: "object", required: ["a"], properties: { a: { $ref: "#" }, b: true } }, "its schema"],
    [{ $ref: "https://example.com/schema" }, "its schema"],
    [{ $ref: "#/nowhere" }, "its schema"],
    [false, "its schema"],
    [{ oneOf: [false] }, "its schema"],
    [{ type: "array", items: false, minItems: 1 }, "its schema"],
    [{ type: "array", items: true, minItems: 100 }, "its schema"],
    [{ type: "string", minLength: 100_000 }, "its schema"],
    [{ type: "string", pattern: "^(zz|yy)q$" }, "its schema"],
    [{ type: "object", required: Array.from({ length: 100 }, (_, at) => `m${at}`) }, "its schema"],
    [{ type: "array", items: { const: 1 }, minItems: 5 }, [1, 1, 1, 1, 1]],
    [{ type: "array", items: { const: 1 }, maxItems: 0 }, []],
    [
      { type: "array", items: { type: "boolean" }, minItems: 2, uniqueItems: true },
      "no value was found that its schema accepts",
    ],
    [{ not: {} }, "no value was found that its schema accepts"],
  ])("of %j", (schema, expected) => {
    const made = sample(schema);
    if (typeof expected === "string" && expected.startsWith("its schema")) expect(made).toContain(expected);
    else expect(made).toEqual(expected);
  });

  it("leaves out what has no value and need not be there", () => {
    expect(sample({ type: "object", properties: { a: false, b: true } }, "all")).toEqual({ b: "b" });
  });

  it("of a schema with unknown keywords is left to its server", () => {
    expect(sample({ type: "string", unevaluatedItems: false })).toBe("text");
  });

  it("of an edge keeps patterns and formats", () => {
    expect(sample({ type: "string", format: "date" }, "edge")).toBe("text");
    expect(sample({ type: "number", maximum: 3 }, "edge")).toBe(3);
    expect(sample({ type: "number" }, "edge")).toBe(0);
  });

  it("is valid wherever there is one, and bounded for any schema", () => {
    const leaf = fc.oneof(
      fc.record({ type: fc.constantFrom("string", "integer", "number", "boolean", "null") }),
      fc.record({ type: fc.constant("integer"), minimum: fc.integer({ min: -50, max: 50 }) }),
      fc.record({ type: fc.constant("string"), minLength: fc.nat(20), maxLength: fc.integer({ min: 20, max: 40 }) }),
      fc.record({ enum: fc.array(fc.oneof(fc.integer(), fc.string()), { minLength: 1, maxLength: 3 }) }),
    );
    const schema = fc.letrec<{ any: unknown; object: unknown; list: unknown }>((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, leaf, tie("object"), tie("list")),
      object: fc.dictionary(fc.string({ maxLength: 5 }), tie("any"), { maxKeys: 4 }).map((properties) => ({
        type: "object",
        properties,
        required: Object.keys(properties).slice(0, 2),
      })),
      list: fc.record({ type: fc.constant("array"), items: tie("any"), minItems: fc.nat(3) }),
    }));
    fc.assert(
      fc.property(schema.any, fc.constantFrom<SampleKind>("required", "all", "edge"), (one, kind) => {
        const made = sampleOf(one as Json, { kind, text });
        if (made.ok) expect(satisfies(one, made.value)).not.toBe(false);
      }),
    );
  });
});
