import fc from "fast-check";
import { expect, test } from "vitest";
import { printable, printableBytes } from "./printable.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("escape sequences go as a whole, breaks and hidden marks become spaces", () => {
  expect(printable("\u001b[31;1mred\u001b[0m\r\nnext\u202Eevil\u200b", 100)).toBe("red next evil");
  expect(printable("\u001b]0;title\u0007text", 100)).toBe("text");
});

test("a cut text shows that it was cut and never ends in half a character", () => {
  expect(printable("abcdef", 4)).toBe("abc…");
  expect(printable("ab😀😀", 4)).toBe("ab…");
  expect(printableBytes(new Uint8Array([0xff, 0x41]), 10)).toBe("\ufffdA");
});

test("law: one printable line within the length, whatever comes in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), fc.integer({ min: 1, max: 50 }), (text, length) => {
      const shown = printable(text, length);
      expect(shown.length).toBeLessThanOrEqual(length);
      expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(shown.isWellFormed()).toBe(true);
    }),
    { numRuns: runs },
  );
});
