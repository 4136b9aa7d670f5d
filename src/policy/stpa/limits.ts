/** Named limits of STPA documents, beside those of every document (`policy/limits.ts`). */

/** Entries in one section. */
export const stpaEntriesMax = 500;

/** Ids or selectors that one entry may name. */
export const stpaNamesMax = 200;

/** UTF-16 units of one sentence. */
export const stpaTextUnitsMax = 2_000;

/** Rows of a trace matrix; losses, hazards, actions and requirements multiply. */
export const matrixRowsMax = 5_000;

/** Traces that are judged to find what requirements cost. */
export const judgementsMax = 20_000;

/** Unsafe control actions of tools that a draft proposes. */
export const draftUcasMax = 400;

/** Tools that one drafted action names one by one. */
export const draftToolsMax = 100;

/** Properties in the report of a proof. */
export const proofPropertiesMax = 10_000;
