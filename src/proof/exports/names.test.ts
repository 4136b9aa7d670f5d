import fc from "fast-check";
import { expect, it } from "vitest";
import { commentCharactersMax, commentText, identifiers, marked, symbol } from "./names.ts";

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(fc.constantFrom("|", "\\", "%", "'", "@", "\n", "\r", ")", "(check-sat)", ";", "%007c", "a", "é"), {
      maxLength: 8,
    })
    .map((parts) => parts.join("")),
);

it("a symbol ends where its quotation ends, whatever it names", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(symbol(text)).toMatch(/^\|[ -&(-?A-[\]-{}~]*\|$/);
    }),
  );
  expect(symbol("K:7")).toBe("|K:7|");
  expect(symbol("a|b\\c\n%")).toBe("|a%007cb%005cc%000a%0025|");
});

it("different texts are different symbols, also in other states", () => {
  fc.assert(
    fc.property(hostile, hostile, (left, right) => {
      expect(symbol(left) === symbol(right)).toBe(left === right);
      expect(marked(symbol(left), "'")).not.toBe(symbol(right));
      expect(marked(symbol(left), "@1")).not.toBe(marked(symbol(right), "@2"));
    }),
  );
  expect(marked(symbol("K:7"), "'")).toBe("|K:7'|");
});

it("a comment is one line of printable ASCII and is cut", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(commentText(text)).toMatch(/^[ -~]*$/);
    }),
  );
  expect(commentText("a\n(assert false)")).toBe("a%000a(assert false)");
  expect(commentText("x".repeat(1_000))).toHaveLength(commentCharactersMax);
});

it("identifiers are letters, digits and underscores after their prefix, each given once", () => {
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 12 }), (texts) => {
      const take = identifiers();
      const names = texts.map((text) => take("call", text));
      for (const name of names) expect(name).toMatch(/^call[A-Za-z0-9_]*$/);
      expect(new Set(names).size).toBe(names.length);
    }),
  );
  const take = identifiers();
  expect([take("call", "a b"), take("call", "a.b"), take("call", "{} fact"), take("call", "")]).toEqual([
    "call_a_b",
    "call_a_b_2",
    "call_fact",
    "call",
  ]);
});
