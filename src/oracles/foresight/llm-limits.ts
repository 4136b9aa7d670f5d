/** Named limits of the language model as a world model, the unit last. */

/** Steps that a prompt holds, and how many are dropped together: a prompt whose beginning stays equal is cached. */
export const stepsMax = 48;
export const stepsDroppedTogether = 16;

/** Characters of all steps of a prompt: a run with long arguments must not become too long a question, unasked for good. */
export const stepsCharsMax = 6_000;

/** Tools that a prompt names; a model cannot filter what it was not shown. */
export const toolsMax = 512;

/** Tokens of a whole answer, and of one word. */
export const reportTokensMax = 1_024;
export const wordTokensMax = 4;

/** Words without a probability, in a row, after which only whole answers are asked for. */
export const wordsInVainMax = 3;

/** Characters at the end of an answer in which the label must stand (SafeMCP's reward looks no further). */
export const labelTailCharsMax = 2_000;

/** Characters of a model's own words that are kept: for the log, and for users. */
export const wordsKeptCharsMax = 600;

/** Names in one list of filtered tools that are looked at. */
export const filteredNamesMax = 1_024;

/**
 * Below the first probability of anything but `safe`, one word is enough; above the second, one word is enough to
 * refuse the pending call; between the two the model must explain itself.
 */
export const sureSafeBelow = 0.02;
export const sureUnsafeAbove = 0.98;

/** Least share of the reported probability that the three labels must have; else the first token was something else. */
export const labelShareMin = 0.5;

/** The probability of a label without one: `critical` may go on, so it is more likely not to end badly. */
export const pUnsafeOf = { safe: 0, critical: 0.25, unsafe: 1 } as const;
