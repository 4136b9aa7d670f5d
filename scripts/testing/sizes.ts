/**
 * How many cases a property tries where its test names no number of its own, by project of `vitest.config.ts`: what is
 * checked case by case is cheap, the laws build and explore a whole policy for each case. `npm run test:full` tries
 * `fullCases` everywhere, and `.ci/full-runs.json` keeps when it last did (`full-runs.ts`).
 */
export const quickCases = { pure: 200, laws: 100, units: 200, whole: 100 } as const;
export const fullCases = 10_000;

/** Milliseconds for each fuzz target. */
export const fuzzMs = { newcomer: 3_000, gate: 10_000, full: 30 * 60_000 } as const;

/** How long `npm test` takes on two cores. */
export const quickMinutes = 7;
