/** Named limits of provenance; the last word is the unit (units are UTF-16 code units, points are code points). */

/** Shortest run of whole tokens of a longer text that counts as derivable (formal.md 4.2). */
export const runPointsMin = 4;

/** Longest value looked for inside a longer trusted text; a longer one is derivable only as a whole leaf. */
export const runUnitsMax = 4_096;

/** Occurrences of a value that are tried in one text, and texts that are tried for one value. */
export const occurrencesMax = 64;
export const textsTriedMax = 64;

/** One result above this is not indexed: its label then holds for every later value of the run. */
export const resultUnitsMax = 1_048_576;

/**
 * Released text of one run that is indexed, or kept until a call depends on it; its keys fill the match table long before
 * unless a run reads the same again and again. The label of what comes after holds for every later value.
 */
export const releasedUnitsMax = 4_194_304;

/** Places of one trusted value that are told apart; at a further place it is not derivable. */
export const originsMax = 16;

/** Trusted text kept for one run; text beyond it is not derivable. */
export const trustedUnitsMax = 2_097_152;

/** Leaves and depth of one value that are looked at; a value beyond them counts as not indexed, or not derivable. */
export const leavesMax = 262_144;
export const depthMax = 64;

/** Keys of the match table of one run (12 MiB of memory at most); beyond it values are labelled with the join of what was left out. */
export const tableKeysMax = 524_288;

/** Distinct label ranges that the table keeps apart; the last one takes the join of all further ones. */
export const rangesMax = 31;

/** Words of an argument that are looked for as a whole inside released text; a longer one is matched by excerpts. */
export const wholeWordsMax = 12;

/** Least weight of a released value that is looked for inside an argument; a lower-case word needs more. */
export const leafWeightMin = 4;
export const plainWordWeightMin = 6;

/** Words and weight up to which a leaf is matched as a whole; heavier leaves are found by their excerpts. */
export const leafWordsMax = 8;
export const leafUnitsMax = 32;

/** Excerpt of prose: letters and digits in a row. With `stride` sampled keys, `excerptUnits + stride - 1` are found. */
export const excerptUnits = 20;

/** Excerpt of numbers or ideographs, where fewer characters say as much; `denseWeightMin` of weight within it. */
export const denseUnits = 8;
export const denseWeightMin = 16;

/** Shortest address, identifier or code that is matched wherever it stands. */
export const itemUnitsMin = 6;

/** Significant digits from which a number is matched as a whole value, and inside a text. */
export const numberDigitsMin = 3;
export const numberInTextDigitsMin = 4;

/** Words from which an argument is a sentence, in which one ordinary word or number of a private text says little. */
export const sentenceWordsMin = 4;

/** Longest word that is taken for an ordinary one; a longer one could be a code. */
export const ordinaryWordUnitsMax = 16;

/** Different keys of hits in one text beyond which none is faint. */
export const faintHitsMax = 64;

/** Words of a release that is so short that each word of it may be all that it tells. */
export const shortReleaseWordsMax = 4;

/** Keys of short releases that are kept apart; beyond it no hit of the run is faint. */
export const aloneKeysMax = 65_536;

/** Steps of one argument's explanation. */
export const pathStepsMax = 8;

/** Text content that is tried as JSON. */
export const jsonTextUnitsMax = 1_048_576;

/** Text of all arguments of one call that is examined. What is beyond it is labelled with everything that the run holds. */
export const argumentUnitsMax = 1_048_576;

/** The same in values: numbers, texts and names in all lists and objects together. A few microseconds each, in which all wait. */
export const argumentLeavesMax = 16_384;

/** Untrusted text, the latest, kept for explanations only; nothing is decided by it. */
export const explainedUnitsMax = 65_536;
