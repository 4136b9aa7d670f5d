import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { guard } from "./guard.ts";
import { parseKeepingLexemes, reviveLexemes } from "./lexemes.ts";
import { defaultWireLimits } from "./limits.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const padding = `"${"x".repeat(5000)}é"`;

function fast(text: string): unknown {
  const bytes = new TextEncoder().encode(text);
  const verdict = guard(bytes, defaultWireLimits, text);
  if (verdict.kind !== "pass") throw new Error(verdict.reason);
  return parseKeepingLexemes(text, bytes, verdict.inexactNumbers);
}

describe("parsing that keeps lexemes", () => {
  const scalar = fc.oneof(
    fc.constantFrom("1.0", "-0", "1e400", "9007199254740993", "0.10", "12", "-1.5", "null", "true"),
    fc.string({ unit: "grapheme" }).map((text) => JSON.stringify(text)),
    // Strings that look like markers, in every spelling.
    fc.constantFrom(
      ...[0, 1, 7].flatMap((index) => [String.raw`"\u0001#${index}"`, String.raw`"\u0001\u0023${index}"`]),
    ),
  );
  const json = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      scalar,
      fc.array(tie("value"), { maxLength: 6 }).map((values) => `[${values.join(",")}]`),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom("a", "__proto__", "10", "2", "b"), tie("value")), {
          selector: ([name]) => name,
        })
        .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`),
    ),
  })).value;

  test("gives what the reviver gives, on small and large documents", () => {
    fc.assert(
      fc.property(json, fc.boolean(), (text, large) => {
        const document = large ? `[${padding},{"arguments":${text}}]` : `{"arguments":${text}}`;
        const expected = reviveLexemes(document);
        const got = fast(document);
        expect(got).toEqual(expected);
        expect(JSON.stringify(got)).toBe(JSON.stringify(expected));
      }),
      { numRuns: runs * 2 },
    );
  });

  test("a forged marker changes nothing", () => {
    const forged = [String.raw`"\u0001#0"`, String.raw`"\u0001#00"`, String.raw`"\u0001#5"`, String.raw`"\u0001#"`];
    for (const text of forged) {
      const document = `[${padding},${text},1.0,${text}]`;
      expect(JSON.stringify(fast(document))).toBe(document.replaceAll("\\u0001#", "\\u0001#"));
    }
  });

  test("refuses what `JSON.parse` refuses", () => {
    for (const bad of ["1.2.3", "01.0", "1e", "-", "1.0x", "--1"]) {
      expect(() => fast(`[${padding},${bad}]`)).toThrow(SyntaxError);
      expect(() => fast(`[${bad}]`)).toThrow(SyntaxError);
    }
  });
});
