import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addDecimal, canonicalNumber, compareDecimal, parseDecimal } from "./decimal.ts";
import { decimalDigitsMax } from "./limits.ts";

const runs = Number(process.env.SLUICEGATE_RUNS ?? 200);
const cents = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 12 }));
const textOf = ([units, scale]: readonly [bigint, number]): string => `${units}e-${scale}`;

describe("canonical decimals", () => {
  test.each([
    ["98.70", "98.7"],
    ["098.7", "98.7"],
    ["+1", "1"],
    ["-0", "0"],
    ["-0.00", "0"],
    ["1e3", "1000"],
    ["1.5E-3", "0.0015"],
    ["120e-1", "12"],
    ["0e999999", "0"],
    ["00", "0"],
  ])("%s is %s", (text, canonical) => expect(parseDecimal(text)).toBe(canonical));

  test.each(["", "1,5", ".5", "5.", "1e", "0x10", "١", "NaN", "1 ", "1e999999", "1e1200", "1e-1200", "9".repeat(2300)])(
    "%j is none",
    (text) => expect(parseDecimal(text)).toBeUndefined(),
  );

  test("digits are bounded on both sides", () => {
    expect(parseDecimal("9".repeat(decimalDigitsMax))).toHaveLength(decimalDigitsMax);
    expect(parseDecimal("9".repeat(decimalDigitsMax + 1))).toBeUndefined();
    expect(parseDecimal(`0.${"9".repeat(decimalDigitsMax)}`)).toBeUndefined();
  });

  test("JSON numbers keep their exact value", () => {
    expect(canonicalNumber(98.7)).toBe("98.7");
    expect(canonicalNumber(1e21)).toBe("1000000000000000000000");
    expect(canonicalNumber(-0)).toBe("0");
    expect(canonicalNumber(5e-324)).toMatch(/^0\.0{323}5$/);
    expect(canonicalNumber(Number.MAX_VALUE)).toHaveLength(309);
    expect(canonicalNumber(JSON.rawJSON("9007199254740993"))).toBe("9007199254740993");
    expect(canonicalNumber(Number.NaN)).toBeUndefined();
    expect(canonicalNumber("5")).toBeUndefined();
  });
});

describe("exact arithmetic", () => {
  test("a thousand tenths are a hundred", () => {
    let sum = "0";
    for (let index = 0; index < 1000; index += 1) sum = addDecimal(sum, "0.1") ?? "none";
    expect(sum).toBe("100");
  });

  test("sums and order agree with integers", () => {
    fc.assert(
      fc.property(cents, cents, (left, right) => {
        const scale = 12;
        const units = ([value, own]: readonly [bigint, number]): bigint => value * 10n ** BigInt(scale - own);
        const sum = units(left) + units(right);
        expect(addDecimal(textOf(left), textOf(right))).toBe(parseDecimal(`${sum}e-${scale}`));
        const order = units(left) < units(right) ? -1 : units(left) > units(right) ? 1 : 0;
        expect(compareDecimal(textOf(left), textOf(right))).toBe(order);
      }),
      { numRuns: runs },
    );
  });

  test("canonical form is idempotent and a value has one", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const canonical = canonicalNumber(value);
        expect(canonical).toBeDefined();
        expect(parseDecimal(canonical ?? "")).toBe(canonical);
        expect(Number(canonical)).toBe(value === 0 ? 0 : value);
      }),
      { numRuns: runs },
    );
  });

  test("what is no decimal has no sum and no order", () => {
    expect(addDecimal("1", "one")).toBeUndefined();
    expect(addDecimal("9".repeat(decimalDigitsMax), "1")).toBeUndefined();
    expect(compareDecimal("", "1")).toBeUndefined();
  });
});
