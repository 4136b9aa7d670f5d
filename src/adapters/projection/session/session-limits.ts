/**
 * Named limits of a session in a projection, the unit last. Each bounds memory or a wait that a server could choose.
 */

/** Interval at which events outside of calls are read, so that they are seen and do not accumulate. */
export const idleDrainMs = 500;

/** Work this soon after an answer was probably still the call's; it stays background and names the call. */
export const lateGraceMs = 25;

/** Calls that ended within the grace at the same time and are named as candidates. */
export const lateCallsMax = 4;

/** Calls whose windows may be open at the same time; each costs up to one trace of memory. */
export const openCallsMax = 256;

/** Ended calls whose trace was not requested yet; beyond it the trace of the oldest is lost. */
export const keptCallsMax = 32;

/** Calls that wait for their turn with a server that takes one at a time. */
export const waitingCallsMax = 64;

/**
 * How long the next call waits for the verdict on the writes of the last one, which may need a judge's opinion. After
 * that those writes are held for review.
 */
export const verdictWaitMsMax = 60_000;

/** How long a call that ended keeps its turn until the gateway asks for its trace. */
export const askWaitMsMax = 250;

/** Wait for the server's own end after a part ended: a part that ends just before its server has not failed. */
export const serverEndWaitMsMax = 50;

/** Characters of a call's scope, and destinations in it. */
export const callScopeCharactersMax = 65_536;
export const callDestinationsMax = 256;

/** Paths written since the last look at the workspace that are remembered one by one. */
export const touchedPathsMax = 1_024;

/** Events of one kind that stay in a full trace whatever else crowds in: a flood of one kind hides no other. */
export const eventsOfKindMin = 8;

/** Longest time between the start of a server and that of its session: earlier timestamps come from another clock. */
export const launchMsMax = 60_000;

/** Calls in a row that wrote nothing after which the calls of a server may overlap again. */
export const quietLooksMax = 16;

/**
 * Time between two looks at the kernel's counters for a server, and at the room in its workspace; they cost more than
 * the other work at the end of a short call. A limit that is hit in a shorter call may count for the next one, or for
 * the time between calls; after a longer call there is always a look.
 */
export const countsEveryMs = 10;
