/** Named limits of judges, the unit last. Each bounds what hostile evidence, or a hostile model, could otherwise choose. */

/** Characters of one piece of evidence; of a longer one the beginning and the end are kept. */
export const fieldCharsMax = 2_000;

/** Names, paths and other short texts. */
export const nameCharsMax = 200;

/**
 * Members or elements of one argument value that are shown, over all its levels, and how deep it is followed. As many as
 * fit into `fieldCharsMax`, so that a crowd of empty ones pushes nothing out.
 */
export const valueNodesMax = 1_024;
export const valueDepthMax = 12;

/** Characters of an answer that are looked at. The clients bound its bytes before. */
export const answerCharsMax = 64_000;

/** Answers remembered per judge. */
export const rememberedAnswersMax = 1_024;

/** Questions of one judge that wait for its answer at once. */
export const openQuestionsMax = 16;

/** Runs whose tokens are counted; the one that asked longest ago is forgotten first. */
export const countedRunsMax = 10_000;

/** After this many failures in a row a judge is left alone for `restMs`, so that a dead one does not slow every call. */
export const failuresBeforeRest = 3;
export const restMs = 10_000;

/** A model can be exchanged behind its address, so the result of the canary holds for this long. */
export const canaryHoldsMs = 3_600_000;

/** The canary may be the first question that a model is ever asked, and load it from disk. */
export const canaryWaitMs = 30_000;
