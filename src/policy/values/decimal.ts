/**
 * Exact decimals as canonical text (`-?digits[.digits]`, no superfluous zero), for budgets and for comparing numbers by
 * value. Sums of amounts must not round: a thousand payments of 0.1 are 100 (formal.md annex 10).
 */
import { type Json, isRawNumber } from "../../core/json.ts";
import { decimalDigitsMax } from "./limits.ts";

const lexeme = /^([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,6}))?$/;

/** Decimal text in canonical form; undefined if it is not a decimal or has more digits than `decimalDigitsMax`. */
export function parseDecimal(text: string): string | undefined {
  if (text.length > 2 * decimalDigitsMax) return undefined;
  const match = lexeme.exec(text);
  if (match === null) return undefined;
  const fraction = match[3] ?? "";
  const digits = (match[2] ?? "") + fraction;
  // Exponents are bounded before any zero is written: `1e999999` must not make a megabyte of text.
  const exponent = Number(match[4] ?? "0") - fraction.length;
  if (Math.abs(exponent) > 2 * decimalDigitsMax) return /^0+$/.test(digits) ? "0" : undefined;
  return fromScaled((match[1] === "-" ? -1n : 1n) * BigInt(digits), exponent);
}

/** The exact value of a JSON number, by its lexeme where a double could not hold it; undefined for other values. */
export function canonicalNumber(value: Json): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? parseDecimal(String(value)) : undefined;
  return isRawNumber(value) ? parseDecimal(value.rawJSON) : undefined;
}

/** Exact sum; undefined if a side is not a decimal or the sum needs more than `decimalDigitsMax` digits. */
export function addDecimal(left: string, right: string): string | undefined {
  const sides = align(left, right);
  return sides === undefined ? undefined : fromScaled(sides.left + sides.right, -sides.scale);
}

/** -1, 0 or 1 by exact value; undefined if a side is not a decimal. Callers must treat undefined as out of budget. */
export function compareDecimal(left: string, right: string): -1 | 0 | 1 | undefined {
  const sides = align(left, right);
  if (sides === undefined) return undefined;
  return sides.left < sides.right ? -1 : sides.left > sides.right ? 1 : 0;
}

type Aligned = { readonly left: bigint; readonly right: bigint; readonly scale: number };

function align(left: string, right: string): Aligned | undefined {
  const first = scaled(left);
  const second = scaled(right);
  if (first === undefined || second === undefined) return undefined;
  const scale = Math.max(first.scale, second.scale);
  return {
    left: first.units * 10n ** BigInt(scale - first.scale),
    right: second.units * 10n ** BigInt(scale - second.scale),
    scale,
  };
}

function scaled(text: string): { readonly units: bigint; readonly scale: number } | undefined {
  const canonical = parseDecimal(text);
  if (canonical === undefined) return undefined;
  const point = canonical.indexOf(".");
  if (point < 0) return { units: BigInt(canonical), scale: 0 };
  return {
    units: BigInt(canonical.slice(0, point) + canonical.slice(point + 1)),
    scale: canonical.length - point - 1,
  };
}

/** Canonical text of units * 10^exponent. */
function fromScaled(units: bigint, exponent: number): string | undefined {
  if (units === 0n) return "0";
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString();
  if (exponent >= 0) {
    return digits.length + exponent > decimalDigitsMax ? undefined : sign + digits + "0".repeat(exponent);
  }
  const padded = digits.padStart(1 - exponent, "0");
  const whole = padded.slice(0, padded.length + exponent);
  let fraction = padded.slice(padded.length + exponent);
  let end = fraction.length;
  while (end > 0 && fraction.charCodeAt(end - 1) === 48) end -= 1; // 48 is the digit zero
  fraction = fraction.slice(0, end);
  if (whole.length + fraction.length > decimalDigitsMax) return undefined;
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
}

/**
 * True iff what was spent and this amount together stay within the limit: exact sums of decimal text, never of doubles.
 * An unreadable amount never fits.
 */
export function fitsBudget(limit: string, spent: readonly string[], amount: string | undefined): boolean {
  if (amount === undefined) return false;
  let sum: string | undefined = amount;
  for (const one of spent) {
    sum = sum === undefined ? undefined : addDecimal(sum, one);
  }
  const negative = compareDecimal(amount, "0");
  const within = sum === undefined ? undefined : compareDecimal(sum, limit);
  // An undefined comparison is a number that cannot be compared exactly: out of budget.
  return negative !== undefined && negative >= 0 && within !== undefined && within <= 0;
}
