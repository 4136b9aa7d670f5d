/**
 * Arithmetic whose last bit is the same on every machine: only the operations that IEEE 754 fixes exactly. `Math.exp`
 * and `Math.log` may differ between engines, and one such bit would make shipped weights impossible to reproduce.
 */

const exponentMax = 40;
const ln2 = 0.6931471805599453;

/** Powers of two from 2^-64 to 2^64; each is exact. */
const powers = Float64Array.from({ length: 129 }, (_, index) => {
  let power = 1;
  for (let step = 0; step < Math.abs(index - 64); step += 1) power *= index < 64 ? 0.5 : 2;
  return power;
});

/** e to the power of `x`, which is cut to ±40; relative error below 1e-14. */
export function exponential(x: number): number {
  const cut = x > exponentMax ? exponentMax : x < -exponentMax ? -exponentMax : x;
  const whole = Math.floor(cut / ln2 + 0.5);
  const rest = cut - whole * ln2;
  let sum = 1;
  // Horner's form of the series; |rest| <= ln2 / 2, so that fourteen terms leave less than one part in 10^16.
  for (let term = 14; term >= 1; term -= 1) sum = 1 + (sum * rest) / term;
  return sum * (powers[whole + 64] ?? 1);
}

/** Probability of a score in log-odds. Not a number counts as certain danger: 1. */
export function probability(score: number): number {
  return score === score ? 1 / (1 + exponential(-score)) : 1;
}
