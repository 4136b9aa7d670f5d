/** Longest that a program of a rule may take for one call, loading included. A call waits for it, so it is short. */
export const programMsMax = 1_000;

/** Additional time for the first answer of a new process. */
export const programStartMsMax = 4_000;

/** Memory of the process that all programs share. */
export const programHeapMegabytesMax = 128;

/** Characters kept of the error that a program threw. */
export const programCauseMax = 160;
