import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { maskSecrets } from "../../core/secret.ts";
import { cleanText, type CleanText } from "./json-text.ts";

const keyedDigest = (text: string): string => `#${text.length}`;
const contract = (): string => "c";
const text = (): CleanText => cleanText({ keyedDigest }, contract);
const secret = "Xk29vLq8Zr4tWm1c";

it("a value is written as the text that it is expected with, and only that very value", () => {
  const { clean, expect: expectNext, release } = text();
  const value = { a: "well" };
  const written = (one: Json): string => clean((pen) => pen.json(one));
  expectNext({ value, text: '{"a":"known"}' });
  expect(written(value)).toBe('{"a":"known"}');
  expect(written({ a: "well" })).toBe('{"a":"well"}');
  release();
  expect(written(value)).toBe('{"a":"well"}');
});

it("a text that is known is looked through like any other", () => {
  for (const value of [{ password: secret }, { password: secret, rest: "x".repeat(5_000) }]) {
    const { clean, expect: expectNext } = text();
    expectNext({ value, text: JSON.stringify(value) });
    const written = clean((pen) => pen.json(value));
    expect(written).not.toContain("Xk29");
    expect(written).toContain("[secret");
  }
});

it("law: what is looked through together is as clean as value by value", () => {
  const piece = fc.oneof(
    fc.constantFrom<Json>(
      { password: secret },
      `ghp_${"a1B2".repeat(10)}`,
      "Bearer",
      secret,
      "token=",
      ":",
      "gh",
      "p_",
    ),
    fc.string({ maxLength: 6 }),
    fc.constant("y".repeat(5_000)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (values) => {
      const together = text().clean((pen) => values.map((value) => pen.json(value)));
      expect(together).toEqual(values.map((value) => JSON.stringify(maskSecrets(value, keyedDigest).value)));
    }),
  );
});
