/** Named limits of canonical forms; each keeps a hostile argument from costing more than its own length. */

/** UTF-16 units of a text that may have a canonical form; longer text has none (an address or a path is short). */
export const canonicalTextUnitsMax = 8_192;

/** Digits of an exact decimal, on both sides of the point together; covers every finite double. */
export const decimalDigitsMax = 1_100;

/** Keys that one argument may give to a keyed rule; a longer list has no keys and is refused where keys are needed. */
export const keysOfArgumentMax = 1_024;
