/** Named limits of the enforcement point. Each bounds something that a client, a server or a model could grow. */

/** Longest time a request is held open while an approver decides; official clients give up at 60,000. */
export const consentHoldMsMax = 45_000;

/** Server requests to the client that wait for an answer, per connection. */
export const serverRequestsOpenMax = 256;

/** Of these, at the endpoint for all servers, those of one server at least, however many servers there are. */
export const serverQuestionsMin = 8;

/**
 * Characters that a server may send beside its answers over one connection before messages are dropped: the budget at
 * once, and the part that it gets back every second. Each message costs its own characters and those of its record:
 * 65,536 short lines at once.
 */
export const chatterCharactersMax = 32 * 1024 * 1024;
export const chatterCharactersPerSecond = 16 * 1024;
export const chatterOverheadCharacters = 384;

/** Messages beside answers that are read of one connection in a second; after so many it is not read for a second. */
export const chatterMessagesMax = 5_000;

/** Users of a connection to whom handing one message on costs as much as reading another message. */
export const chatterUsersPerMessage = 16;

/** Time after which more messages that were dropped are put on record. */
export const chatterRecordMs = 60_000;

/** Time after which a read that was sent before it was on record is put there, answered or not. */
export const lateRecordMsMax = 250;

/** Pages of one list that admission drains; a server that always has a next cursor cannot hold a client. */
export const listPagesMax = 256;

/** Entries of one list over all pages. */
export const listEntriesMax = 100_000;

/** Time one drained list may take until it counts as failed. */
export const listWaitMsMax = 30_000;

/**
 * How often a call by a name that is not known asks the servers that have not listed, and the time in ms between: a
 * server that answers with an error may still be starting.
 */
export const listTriesMax = 4;
export const listAgainMs = 500;

/** Time an injected call (must by injection) may take until it counts as unknown and refuses its call. */
export const performWaitMsMax = 60_000;

/** Time a handshake that the gateway itself holds with a server may take. */
export const handshakeWaitMsMax = 60_000;

/**
 * Time a server may be silent on a request of a client: on one that runs its code, and on one of the protocol alone
 * (handshake, ping, lists). Progress starts the time anew, up to the longest time that a request may take at all.
 */
export const silenceMsMax = 30 * 60_000;
export const shortSilenceMsMax = 5 * 60_000;
export const requestMsMax = 24 * 60 * 60_000;

/** Results kept behind consent for one run, and their size in characters of JSON. */
export const withheldResultsMax = 64;
export const withheldCharactersMax = 16 * 1024 * 1024;

/** Calls waiting in the outbox of one run. */
export const heldCallsMax = 64;

/** Multi-round-trip questions of servers that one user has open, and all users together. */
export const openRoundsMax = 256;
export const openRoundsAllMax = 4_096;

/** Tasks that one run may own. */
export const runTasksMax = 1_024;

/** Resource subscriptions remembered for one connection. */
export const subscriptionsMax = 4_096;

/** Streams of changes opened anew in a row after a server cut them without reporting a change. */
export const streamRenewalsMax = 16;

/** Calls to one upstream whose request has left and whose answer has not come. */
export const upstreamCallsMax = 4_096;

/** Contracts of distinct methods and unlisted tools remembered for one server and policy. */
export const contractsMax = 4_096;

/** Contracts of listed tools remembered for one server, at 2 KB each; those of more tools are made anew each time. */
export const listedContractsMax = 20_000;

/** Runs that live in memory at once; the next one is refused, so that keys cannot be minted without bound. */
export const runsLiveMax = 4_096;

/** Of these, those of one user: a user who opens sessions without end takes no place of another one. */
export const runsOfOneMax = 2_048;

/** Entries of a lineage's stream in memory; a member that lags further behind folds them before it looks. */
export const streamEntriesMax = 1_024;

/** Time that folding a run again under a changed policy may take before it goes on in the worst state. */
export const refoldMsMax = 200;

/** The same after a restart, when no client is served yet and the worst state would stop a long conversation. */
export const resumeMsMax = 2_000;

/** Attempts to rebuild a run that goes on deciding meanwhile; after them it stays in the worst state. */
export const rebuildTriesMax = 8;

/** Messages of one router that wait for the log before they go out. */
export const deliveriesMax = 65_536;

/** Requests that wait while a connection is being set up. */
export const waitingRequestsMax = 1_024;

/** Time a server has to answer the question of which era it is from; one that is silent counts as legacy. */
export const eraProbeWaitMsMax = 10_000;

/** Calls of one run whose outcome is unknown and that ask before they are made again. */
export const doubtsMax = 1_024;

/** Approvals of one connection that a repeated call finds again; beyond it a repeated call opens a new one. */
export const approvalsOpenMax = 1_024;

/**
 * How long a client waits for a server that starts, until it gets the answers that the server gave when it started
 * last.
 */
export const startGraceMsMax = 1_000;

/** Outcomes of one server in a run after which its behaviour is looked at again (lifecycle.md 3: every K calls). */
export const reflectCallsMax = 3;

/** Longest time between two looks back at a run: owed obligations are reported while they can still be met. */
export const reflectMsMax = 15 * 60_000;

/** Time after which a connection that modern clients share, and that no client uses, is closed. */
export const linkIdleMsMax = 15 * 60_000;

/** Time in which all that happens to a run counts as one change of its lists; a call is three or four events. */
export const listQuietMs = 20;

/** Looking at lists again waits for this many times as long as the last look took, and no longer than so many ms. */
export const listLookShare = 9;
export const listLookWaitMsMax = 2_000;

/** Streams of changes of one connection that the gateway adds its own changes to. */
export const streamsMax = 64;

/** Verdicts of lists that are remembered; the oldest is judged again. */
export const exposuresMax = 256;

/** Attempts to judge a list of a run that moves on meanwhile, because an oracle had to be asked. */
export const exposeTriesMax = 3;

/** Runs of the log that are not resumed and that are tested one by one; beyond it they count as holding anything. */
export const dormantRunsMax = 1_024;

/** Generations above a run; a run with more is not served, so that rows that name each other end the search. */
export const ancestorsMax = 64;

/**
 * Runs of one conversation whose facts no later run has taken over yet; beyond it a new run counts as holding
 * everything.
 */
export const conversationRunsMax = 64;

/** Owners whose stores are listed at once. */
export const ownersMax = 10_000;

/**
 * Events of a run after which a snapshot of it is worth its writing, and the part of all its events that may lie behind the
 * last one: a run is taken up by reading the snapshot, and folding what lies behind it.
 */
export const snapshotEventsMin = 3_000;
export const snapshotEventsMax = 12_000;
export const snapshotShare = 6;

/** Events that a snapshot is worth when the gateway stops, and the longest that its stop takes for all of them. */
export const lastSnapshotEventsMin = 600;
export const lastSnapshotsMsMax = 1_500;

/** Records that one snapshot goes further than the one before, so that a long history is not lost with its last part. */
export const snapshotRecordsMax = 4_000;

/** Text of a snapshot; a run whose state has more is folded from its first record. */
export const snapshotCharactersMax = 48 * 1024 * 1024;

/** How long the folded state of a run is kept for its next snapshot. */
export const snapshotStateMsMax = 5_000;

/** Records that leave the log in one transaction: a call that comes meanwhile waits for it, a few milliseconds. */
export const pruneRecordsMax = 500;

/** Records that are put in the order of the chain together, so that those that follow each other leave as one range. */
export const pruneBatchRecords = 5_000;

/**
 * Records that say what left which one takes the place of, ranges that it may name, and records between two of these that
 * are looked at.
 */
export const sumUpRecordsMax = 16;
export const sumUpRangesMax = 4_000;
export const sumUpGapMax = 8;

/** Ended runs that are looked at in one turn. */
export const pruneRunsAtOnce = 100;
