import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { guard } from "./guard.ts";
import { parseKeepingLexemes, reviveLexemes } from "./lexemes.ts";
import { defaultWireLimits } from "../limits.ts";

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
    fc
      .tuple(fc.stringMatching(/^[1-7]{0,3}$/), fc.stringMatching(/^[012]?$/))
      .map(([signs, index]) => `"${[...signs].map((sign) => String.raw`\u000${sign}`).join("")}${index}"`),
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

  test("forged markers change nothing and do not make it slow", () => {
    const every = (length: number): string[] =>
      length === 0
        ? [""]
        : every(length - 1).flatMap((tail) => [1, 2, 3, 4, 5, 6, 7].map((sign) => `\\u000${sign}${tail}`));
    const forged = [1, 2, 3].flatMap(every).map((signs) => `"${signs}0"`);
    forged.push(String.raw`"\u0001#0"`);
    const document = `[${padding},${forged.join(",")},1.0,{"a":1e400}]`;
    const parse = vi.spyOn(JSON, "parse");
    const got = fast(document);
    expect(parse.mock.calls.filter(([, reviver]) => reviver !== undefined)).toEqual([]);
    parse.mockRestore();
    expect(JSON.stringify(got)).toBe(document);
  });

  test("refuses what `JSON.parse` refuses", () => {
    for (const bad of ["1.2.3", "01.0", "1e", "-", "1.0x", "--1"]) {
      expect(() => fast(`[${padding},${bad}]`)).toThrow(SyntaxError);
      expect(() => fast(`[${bad}]`)).toThrow(SyntaxError);
    }
  });

  test("a number in the place of a name is refused, whatever string stands beside it", () => {
    for (const forged of [String.raw`"\u0001#0"`, String.raw`"\u00010"`, "1"]) {
      expect(() => fast(`[${padding},{1.0:2,"a":${forged}}]`)).toThrow(SyntaxError);
    }
  });
});
