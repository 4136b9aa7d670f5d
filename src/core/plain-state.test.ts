/** Plain data as text and back: everything that a folded run may consist of, and nothing else. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainFrom, plainText } from "./plain-state.ts";

function textOf(value: unknown, charactersMax = 1_000_000): string {
  const text = settled(value, charactersMax);
  if (!text.ok) throw new Error(text.error);
  return text.value;
}

function settled(
  value: unknown,
  charactersMax = 1_000_000,
): { ok: true; value: string } | { ok: false; error: string } {
  const steps = plainText(value, charactersMax);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function again(value: unknown): unknown {
  const read = plainFrom(textOf(value));
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

/** What offers a map's methods without being one, like a map of which versions are kept. */
class Versions {
  readonly #entries = new Map<string, number>([["a", 1]]);
  get size(): number {
    return this.#entries.size;
  }
  has(key: string): boolean {
    return this.#entries.has(key);
  }
  entries(): MapIterator<[string, number]> {
    return this.#entries.entries();
  }
  [Symbol.iterator](): MapIterator<[string, number]> {
    return this.entries();
  }
}

describe("plain data as text", () => {
  it("B14: comes back as it was, whatever a run holds", () => {
    const leaf = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.double(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constant(undefined),
      fc.int32Array(),
    );
    const { data } = fc.letrec<{ data: unknown }>((tie) => ({
      data: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("data")),
        fc.dictionary(fc.string(), tie("data"), { noNullPrototype: true }),
        fc.array(fc.tuple(tie("data"), tie("data"))).map((entries) => new Map(entries)),
        fc.array(tie("data")).map((members) => new Set(members)),
      ),
    }));
    fc.assert(
      fc.property(data, (value) => {
        expect(again(value)).toStrictEqual(value);
        expect(textOf(again(value))).toBe(textOf(value));
      }),
      { numRuns: 60 },
    );
  });

  it("keeps apart 0 and -0, and knows what is no finite number", () => {
    for (const value of [0, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e-320]) {
      expect(Object.is(again(value), value)).toBe(true);
    }
    expect(again(JSON.rawJSON("12345678901234567890"))).toEqual(JSON.rawJSON("12345678901234567890"));
  });

  it("keeps one value in two places one value, also within itself", () => {
    const shared = { label: 3 };
    const whole: { first: unknown; second: unknown; self?: unknown } = { first: shared, second: [shared] };
    whole.self = whole;
    const read = again(whole) as { first: unknown; second: readonly unknown[]; self: unknown };
    expect(read.second[0]).toBe(read.first);
    expect(read.self).toBe(read);
  });

  it("keeps a member named __proto__ a member, and objects without a prototype", () => {
    const hostile = JSON.parse('{"__proto__": {"x": 1}, "y": 2}') as object;
    const read = again(hostile) as object;
    expect(Object.keys(read)).toEqual(["__proto__", "y"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(again(Object.assign(Object.create(null) as object, { a: 1 }))).toEqual({ a: 1 });
    // A plain object with the names of a map's methods is no map.
    expect(again({ entries: 1, has: 2, size: 3 })).toEqual({ entries: 1, has: 2, size: 3 });
  });

  it("reads a map of which versions are kept as a map", () => {
    expect(again(new Versions())).toEqual(new Map([["a", 1]]));
    expect(new Versions().has("a")).toBe(true);
  });

  it("writes tables that are mostly empty briefly", () => {
    const table = new Int32Array(100_000);
    table[7] = -1;
    table[99_999] = 0x7fffffff;
    expect(textOf(table).length).toBeLessThan(80);
    expect(again(table)).toEqual(table);
  });

  it("tells apart names that hold what parts them", () => {
    const alike = [{ "a\0b": 1, c: 2 }, { a: 1, "b\0c": 2 }, { a: 1, b: 2, c: undefined }, {}, { "": undefined }];
    expect(again(alike)).toStrictEqual(alike);
  });

  it("keeps what is below the parts that are written one by one", () => {
    const nest = (inner: unknown): unknown => [[[[[[inner, inner]]]]]];
    const shared = new Map([["a", [1]]]);
    for (const inner of [
      { x: [1, "a", null, true] },
      { x: -0 },
      { x: undefined },
      [Number.NaN],
      shared,
      JSON.rawJSON("1e400"),
    ]) {
      expect(again(nest(inner))).toStrictEqual(nest(inner));
      expect(textOf(again(nest(inner)))).toBe(textOf(nest(inner)));
    }
    const hostile: unknown = JSON.parse('{"__proto__": {"x": 1}}');
    expect(again(nest(hostile))).toStrictEqual(nest(hostile));
  });

  it("has no text for what only folding can rebuild, nor for too much", () => {
    expect(settled(() => 1)).toEqual({ ok: false, error: "there is a function in it" });
    expect(settled(new Date(0))).toEqual({ ok: false, error: "there is an object of a class in it" });
    expect(settled("x".repeat(50), 40)).toEqual({ ok: false, error: "it has more than 40 characters" });
    let deep: unknown = 1;
    for (let depth = 0; depth < 600; depth += 1) deep = [deep];
    expect(settled(deep)).toEqual({ ok: false, error: "it is nested too deeply" });
    const broken = {
      get value(): number {
        throw new TypeError("a fault of ours");
      },
    };
    expect(() => settled(broken)).toThrow("a fault of ours");
    expect(plainFrom("no JSON")).toEqual({ ok: false, error: "it is no JSON" });
  });

  it("makes way while it writes", () => {
    let pauses = 0;
    const steps = plainText(
      Array.from({ length: 10_000 }, (_, index) => index),
      1_000_000,
    );
    while (steps.next().done !== true) pauses += 1;
    expect(pauses).toBeGreaterThan(5);
  });
});
