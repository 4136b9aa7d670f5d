import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/kit/policy/cpu-time.ts";
import type { Json } from "../core/json.ts";
import { canonicalJson, canonicalNumber, digest } from "./canonical.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

describe("canonical JSON", () => {
  test("agrees with an independent RFC 8785 implementation", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        // `jsonValue` yields plain JSON; the cast only adds `readonly`.
        expect(canonicalJson(value as Json)).toBe(canonicalize(value));
      }),
      { numRuns: runs },
    );
  });

  test("member order, escapes and white space do not matter", () => {
    const one = JSON.parse(String.raw`{"b":[1,2],"a":"\u00e9","__proto__":{"x":1}}`);
    const other = JSON.parse('{ "__proto__" : {"x" :1}, "a":"é", "b":[ 1, 2 ] }');
    expect(canonicalJson(one)).toBe(canonicalJson(other));
    expect(canonicalJson(one)).toBe('{"__proto__":{"x":1},"a":"é","b":[1,2]}');
  });

  test("few names and many are put in one order", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.nat(), { maxKeys: 40, size: "max" }), (value) => {
        expect(canonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: runs },
    );
  });

  test("half surrogates have a form of their own", () => {
    expect(canonicalJson("\ud800")).toBe(String.raw`"\ud800"`);
    expect(canonicalJson("\ud800")).not.toBe(canonicalJson("\ufffd"));
  });

  test("a lexeme is told from an object that looks like it", () => {
    expect(canonicalJson(JSON.rawJSON("1.0"))).toBe("1");
    expect(canonicalJson({ rawJSON: "1.0" })).toBe('{"rawJSON":"1.0"}');
  });

  test.each([
    ["1.0", "1"],
    ["1e0", "1"],
    ["-0", "0"],
    ["-0.00", "0"],
    ["0e99", "0"],
    ["0.10", "0.1"],
    ["1E+2", "100"],
    ["1e21", "1e+21"],
    ["1e-7", "1e-7"],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993.0", "-9007199254740993"],
    ["90071992547409930e-1", "9007199254740993"],
    ["1e400", "1e400"],
    ["10e399", "1e400"],
    ["0.12345678901234567890", "1234567890123456789e-19"],
    ["1e9999999999", "1e9999999999"],
    ["not a number", "not a number"],
  ])("%s is written %s", (lexeme, form) => {
    expect(canonicalNumber(lexeme)).toBe(form);
    expect(canonicalNumber(form)).toBe(form);
  });

  test("equal values share a form and different values never do", () => {
    const decimal = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: -5, max: 5 }));
    fc.assert(
      fc.property(decimal, decimal, ([digits, power], [otherDigits, otherPower]) => {
        const scaled = digits * 10n ** BigInt(power + 5);
        const otherScaled = otherDigits * 10n ** BigInt(otherPower + 5);
        const same = canonicalNumber(`${digits}e${power}`) === canonicalNumber(`${otherDigits}e${otherPower}`);
        expect(same).toBe(scaled === otherScaled);
        expect(canonicalNumber(`${digits}0e${power - 1}`)).toBe(canonicalNumber(`${digits}e${power}`));
      }),
      { numRuns: runs },
    );
  });

  test("long runs of zeros cost no more than their length", () => {
    const lexeme = `1${"0".repeat(200_000)}1${"0".repeat(200_000)}1`;
    expect(cpuMsOf(() => canonicalNumber(lexeme))).toBeLessThan(2_000);
  });

  test("a digest is the hash of the form", () => {
    expect(digest({ b: 1, a: 2 }, (text) => `<${text}>`)).toBe('<{"a":2,"b":1}>');
  });
});
