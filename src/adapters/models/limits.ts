/** Named limits of the model clients, the unit last. */

/** Body of one answer: a verdict is a few hundred tokens, and nobody needs a megabyte of explanation. */
export const answerBytesMax = 1_048_576;

/** Connections to one model server. */
export const connectionsMax = 4;

/** A server that is not there should say so long before a call has waited for its verdict. */
export const connectWaitMsMax = 2_000;

/** Candidates for the first token that are asked for; the three labels are far above the rest where they matter. */
export const candidatesMax = 20;

/** Characters of a key: what is longer is a file that somebody took for one. */
export const keyCharsMax = 4_096;

/** Tokens of the context that a model inside this process may use. */
export const contextTokensMax = 16_384;
