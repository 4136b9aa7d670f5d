/** Named limits of the decision core. Units are the last word of the name; each bounds an attack or an accident. */

/** Bits of one label: levels - 1, categories, groups, and 1 for trust. Keeps labels in 32-bit integers. */
export const labelBitsMax = 30;

/** Rounds of questions for one decision before it is denied: a mechanism that keeps asking cannot stall a call. */
export const roundsMax = 8;

/** Open questions of one round; beyond it the decision is a deny. */
export const questionsMax = 64;

/** Distinct held labels of a state; beyond it the two closest are merged (formal.md annex 4). */
export const heldLabelsMax = 24;

/** Keys that one keyed rule follows; the next new key is refused (formal.md annex 8). */
export const ruleKeysMax = 1_024;

/** Calls of one run that may be in flight at once. */
export const callsInFlightMax = 1_024;

/** Reasons kept in one decision. */
export const reasonsMax = 32;
