/** Bounds of the tracers. */

/** Bytes that one server's record can hold between two drains; a power of two, so that positions may wrap. */
export const recordRingBytes = 1 << 20;

/**
 * Share of the ring that may fill before the gateway is asked to fetch, so that only a gateway that stands still loses.
 */
export const ringNudgeBytes = recordRingBytes / 2;

/** Room of records already read that may wait for the next drain to be given back. */
export const unpublishedBytesMax = recordRingBytes / 16;

/** Sightings that wait in the gateway for a drain; those beyond are counted as lost. */
export const sightingsWaitingMax = 50_000;

/** `PATH_MAX` of linux/limits.h: bytes of a path that the kernel reads, the final zero included. */
export const pathBytesMax = 4096;

/** Arguments of a program that are read, bytes of each, and bytes of all. */
export const argumentsMax = 16;
export const argumentBytesMax = 160;
export const commandLineBytesMax = 512;

/** Messages of one `sendmmsg` that are looked at; the kernel takes up to 1024. */
export const messagesMax = 16;

/** Bytes of a socket address: `sizeof(struct sockaddr_storage)`. */
export const addressBytesMax = 128;

/** Distinct acts that are remembered in order to write each once between two drains. */
export const actsRememberedMax = 8_192;

/**
 * Bytes of records after a mark that may repeat each other, and bytes after which a drain is marked: less, so that
 * nothing is taken for a repetition that was drained before.
 */
export const repeatsWrittenBytesMax = 4_096;
export const unmarkedBytesMax: number = repeatsWrittenBytesMax / 2;

/** Threads whose process is remembered, and for how long: a thread id may be given again. */
export const threadsRememberedMax = 1_024;
export const threadsRememberedMs = 1_000;

/**
 * A thread id is given again when all others were (pid_max, 32,768 and more): no machine starts that many threads in
 * this time.
 */
export const idsReusedMsMin = 1;

/** Servers that one supervisor can watch. */
export const listenersMax = 256;

/** Time that a supervisor may take to start and to take over a listener. */
export const supervisorStartMsMax = 10_000;
export const takeOverMsMax = 5_000;

/** Bytes of a tracer's text output that one drain reads; the rest waits for the next. */
export const traceTextBytesMax = 4 << 20;

/** Bytes of such text over the life of a server; beyond it the tracer fails. */
export const traceTextTotalBytesMax: number = 256 << 20;

/** Bytes of one line of such text; a longer line is lost. */
export const traceLineBytesMax = 16 << 10;

/** Calls that were begun in a thread and wait for their end. */
export const unfinishedMax = 1_024;
