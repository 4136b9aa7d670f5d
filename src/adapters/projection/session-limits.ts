/** Named limits of a session in a projection, the unit last. Each bounds memory or a wait that a server could choose. */

/** How often what happened outside of calls is read, so that it is seen and nothing piles up. */
export const idleDrainMs = 500;

/** Work this soon after an answer was probably still the call's; it stays background and names the call. */
export const lateGraceMs = 25;

/** Calls that ended within the grace at the same time and are named as candidates. */
export const lateCallsMax = 4;

/** Calls whose windows may be open at the same time; each costs up to one trace of memory. */
export const openCallsMax = 256;

/** Ended calls whose trace nobody has asked for yet; beyond it the oldest can be told no more. */
export const keptCallsMax = 32;

/** Calls that wait for their turn with a server that takes one at a time. */
export const waitingCallsMax = 64;

/**
 * How long the next call waits for the verdict on what the last one wrote, which may need a judge's opinion. Then those
 * writes wait for a person.
 */
export const verdictWaitMsMax = 60_000;

/** How long a call that ended may keep its turn without anybody asking for its trace. */
export const askWaitMsMax = 250;

/** A part that ends just before its server does is no failure; this is how long the server's own end is awaited. */
export const serverEndWaitMsMax = 50;

/** Characters of a call's scope, and destinations in it. */
export const callScopeCharactersMax = 65_536;
export const callDestinationsMax = 256;

/** Paths written since the last look at the workspace that are remembered one by one. */
export const touchedPathsMax = 1_024;

/** Events of one kind that stay in a full trace whatever else crowds in: a flood of one kind hides no other. */
export const eventsOfKindMin = 8;

/** How long ago the server of a new session may have been started: events before that have a clock of their own. */
export const launchMsMax = 60_000;

/** Calls in a row that wrote nothing after which the calls of a server may overlap again. */
export const quietLooksMax = 16;

/**
 * Between two looks at what the kernel counts for a server, and at the room in its workspace; they cost more than the
 * rest of a short call's accounts. What is hit in a call shorter than that may count for the next one, or for the time
 * between calls; after a longer one there is always a look.
 */
export const countsEveryMs = 10;
