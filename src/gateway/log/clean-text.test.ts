import { expect, it } from "vitest";
import { cleanText } from "./clean-text.ts";

const pen = () => cleanText({ keyedDigest: (text) => `#${text.length}` });

it("a value is written as the text that it is expected with, and only that very value", () => {
  const { json, expect: expectNext, release } = pen();
  const value = { a: "well" };
  expectNext({ value, text: '{"a":"known"}' });
  expect(json(value)).toBe('{"a":"known"}');
  expect(json({ a: "well" })).toBe('{"a":"well"}');
  release();
  expect(json(value)).toBe('{"a":"well"}');
});

it("a text that is known is looked through like any other", () => {
  const { json, expect: expectNext } = pen();
  const value = { password: "Xk29vLq8Zr4tWm1c" };
  expectNext({ value, text: JSON.stringify(value) });
  expect(json(value)).not.toContain("Xk29");
  expect(json(value)).toContain("[secret");
});
