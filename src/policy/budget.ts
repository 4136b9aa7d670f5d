/** Budgets are exact: sums of decimals as text, never of doubles (formal.md annex 10). */
import { addDecimal, compareDecimal } from "./values/decimal.ts";

/** True iff what was spent and this amount together stay within the limit. An unreadable amount never fits. */
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
