/** Named limits of the daemon's socket, its sessions and its clients; each bounds an accident or a peer gone wrong. */

/** First line of a connection. The environment of a client travels in it; Linux caps that at about 2 MB. */
export const helloBytesMax = 8 * 1024 * 1024;

/** Wait for the first line of a connection, and for the side connection of a session. */
export const helloWaitMsMax = 5_000;

/** One reply line of the control channel or of a handshake. */
export const replyBytesMax = 64 * 1024 * 1024;

/** Connections at once; past it new ones are closed. A user has tens of servers, not hundreds. */
export const connectionsMax = 1_024;

/**
 * Stderr bytes waiting for a slow shim; past it they are dropped, because diagnostics must never block the protocol.
 */
export const sideBufferBytesMax = 1024 * 1024;

/** Wait for a daemon that was just started to answer. */
export const startWaitMsMax = 10_000;

/** Pause between two tries to connect to a daemon that is starting. */
export const startPollMs = 20;

/** Age at which the start mark of another process no longer prevents a new attempt to start the daemon. */
export const startMarkMsMax = 5_000;

/** Wait for calls in flight when the daemon drains; afterwards sessions are closed with calls unanswered. */
export const drainMsMax = 10_000;

/** Wait for the services to close when the daemon stops; the process ends afterwards in any case. */
export const closeMsMax = 5_000;

/** Idle time without shims after which the daemon ends. */
export const daemonIdleMs = 10 * 60_000;

/** Bytes of a unix socket path that every platform takes (104 on macOS, 108 on Linux, with the final zero). */
export const socketPathBytesMax = 100;

/** Size at which the daemon's log is moved aside at start. */
export const logBytesMax = 1024 * 1024;

/** Processes above a shim that are looked at: launchers, the client, and whatever started it. */
export const ancestorsMax = 64;

/** Wait for an answer to a question that the user asked on the command line. */
export const askWaitMsMax = 15_000;

/** The same for the daemon's own word on itself, which it gives at once unless it is frozen. */
export const statusWaitMsMax = 5_000;

/** Silence after which a shim asks whether the daemon still answers; doubled while it does, up to the maximum. */
export const heartbeatMs = 10_000;
export const heartbeatMsMax = 60_000;

/** Wait for that answer: a daemon may be busy for seconds with one large message. */
export const pingWaitMsMax = 10_000;

/** Time that a daemon which does not answer gets to end by itself, before it is killed. */
export const stopGraceMsMax = 3_000;

/** How often the daemon looks whether its socket is still where clients look for it. */
export const socketCheckMs = 1_000;

/** Bytes that a shim takes from the client or the daemon at once; Node's own streams read as much. */
export const intakeBytes = 64 * 1024;

/** Lines kept of each direction by a shim, to know after a loss which requests were unanswered. */
export const tailLinesMax = 256;

/** Bytes kept of one request line. Of a longer line the beginning and the end are kept, because they hold the id. */
export const requestSampleBytesMax = 4_096;

/** The same for answers, of which only the id matters. */
export const answerSampleBytesMax = 256;

/** Bytes kept of each direction in all. */
export const tailBytesMax = 512 * 1024;

/** After a second loss of the daemon within this time the session does not reconnect: its requests are refused. */
export const secondLossMsMax = 60_000;

/** Wait for the daemon's word on why a session ended, once its bytes ended. */
export const endNoticeMsMax = 2_000;

/** Time a server gets between a forwarded signal and the end of its process group. */
export const signalGraceMsMax = 2_000;

/** Wait for a client that does not read the rest of stdout, before the shim ends anyway. */
export const flushMsMax = 2_000;

/** One line read while the daemon is away; a longer one is refused by the sample that is kept of it. */
export const outageLineBytesMax = 16 * 1024 * 1024;

/** Wait of a starting daemon for the lock of one that is ending. */
export const lockWaitMsMax = 12_000;

/** Pause between two tries to take the lock. */
export const lockPollMs = 50;
