/** Named limits of the model clients, the unit last. */

/** Body of one answer: a verdict is a few hundred tokens, so this leaves ample room for an explanation. */
export const answerBytesMax = 1_048_576;

/** Connections to one model server. */
export const connectionsMax = 4;

/** Wait for a connection: a server that is not running is reported long before the wait for the verdict ends. */
export const connectWaitMsMax = 2_000;

/** Candidates for the first token that are asked for; the three labels are far above the rest where they matter. */
export const candidatesMax = 20;

/** Characters of a key; a longer value is probably the content of a file, set by mistake. */
export const keyCharsMax = 4_096;

/** Tokens of the context that a model inside this process may use. */
export const contextTokensMax = 16_384;
