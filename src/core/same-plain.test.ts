/** Equality of plain data: by what it says, not by where it lies. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { plainFrom, plainText } from "./plain-state.ts";
import { samePlain } from "./same-plain.ts";

function copy(value: unknown): unknown {
  const text = plainText(value, 1_000_000).next();
  const read = text.done === true && text.value.ok ? plainFrom(text.value.value) : undefined;
  if (read?.ok !== true) throw new Error("no text");
  return read.value;
}

it("B14: a copy says the same, and anything else does not", () => {
  const leaf = fc.oneof(fc.string(), fc.double(), fc.constant(undefined), fc.int32Array({ maxLength: 3 }));
  const data = fc.oneof(
    leaf,
    fc.array(leaf),
    fc.dictionary(fc.string(), leaf, { noNullPrototype: true }),
    fc.array(fc.tuple(leaf, leaf)).map((entries) => new Map(entries)),
    fc.array(leaf).map((members) => new Set(members)),
  );
  fc.assert(
    fc.property(data, data, (left, right) => {
      expect(samePlain(left, copy(left))).toBe(true);
      const text = (value: unknown): unknown => plainText(value, 1_000_000).next().value;
      expect(samePlain(left, right)).toBe(JSON.stringify(text(left)) === JSON.stringify(text(right)));
    }),
  );
});

it("looks at what is told, once, also within itself", () => {
  const shared = { a: 1 };
  expect(samePlain([shared, shared], [{ a: 1 }, { a: 1 }])).toBe(true);
  const within = (end: number): unknown => {
    const list: unknown[] = [];
    list.push(list, end);
    return list;
  };
  expect(samePlain(within(1), within(1))).toBe(true);
  expect(samePlain(within(1), within(2))).toBe(false);
});

it("tells kinds apart", () => {
  const raw = JSON.rawJSON("1e400");
  const alike: readonly unknown[] = [
    [],
    {},
    new Map(),
    new Set(),
    new Int32Array(),
    null,
    undefined,
    0,
    "",
    raw,
    JSON.rawJSON("2"),
  ];
  for (const [index, left] of alike.entries()) {
    for (const [other, right] of alike.entries()) expect(samePlain(left, right)).toBe(index === other);
  }
  expect(samePlain(raw, JSON.rawJSON("1e400"))).toBe(true);
  expect(samePlain(new Map([[1, 2]]), new Map([[1, 3]]))).toBe(false);
  expect(samePlain({ a: undefined }, {})).toBe(false);
  // Names are compared one by one: a line break in one makes no two of it.
  expect(samePlain({ "a\nb": 1, c: 2 }, { a: 1, "b\nc": 2 })).toBe(false);
});
