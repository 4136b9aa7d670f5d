/** Named limits of the HTTP transports, the unit last. */
export type HttpLimits = {
  /** Body of one request. Requests are small; large data travels in answers. */
  readonly bodyBytesMax: number;
  /** Bodies being received at once, all clients together. */
  readonly bodiesBytesMax: number;
  readonly headerBytesMax: number;
  readonly headersMax: number;
  readonly connectionsMax: number;
  /** Time to receive the headers, and the whole request: bounds clients that send a byte a minute. */
  readonly headersWaitMsMax: number;
  readonly requestWaitMsMax: number;
  /** How long an idle connection is kept for the next request. */
  readonly keepAliveMsMax: number;
  /** Interval of comment lines on quiet streams, so that intermediaries do not cut them. */
  readonly streamCommentMs: number;
  /** An answer that takes longer is delivered as a stream, which comments keep alive. */
  readonly plainAnswerWaitMsMax: number;
  /** Legacy sessions at once, and how long one without traffic lives. */
  readonly sessionsMax: number;
  readonly sessionIdleMsMax: number;
  /** Time without traffic after which a session may be ended for the memory of its servers. */
  readonly evictIdleMsMin: number;
  /** Requests of one session that await an answer. */
  readonly sessionRequestsMax: number;
  /** Pause in ms that a client is told to take before it fetches a cut stream again. */
  readonly streamRetryMs: number;
  /** Released messages kept for resumption, per session: how many, and their bytes. */
  readonly resumeEventsMax: number;
  readonly resumeBytesMax: number;
  /** How long `close` waits for answers in flight. */
  readonly closeWaitMsMax: number;
};

export const defaultHttpLimits: HttpLimits = {
  bodyBytesMax: 16 * 1024 * 1024,
  bodiesBytesMax: 128 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  headersMax: 100,
  connectionsMax: 2_048,
  headersWaitMsMax: 10_000,
  requestWaitMsMax: 60_000,
  keepAliveMsMax: 60_000,
  streamCommentMs: 15_000,
  plainAnswerWaitMsMax: 15_000,
  sessionsMax: 1_024,
  sessionIdleMsMax: 8 * 60 * 60 * 1000,
  evictIdleMsMin: 60_000,
  sessionRequestsMax: 256,
  streamRetryMs: 1_000,
  resumeEventsMax: 1_024,
  resumeBytesMax: 4 * 1024 * 1024,
  closeWaitMsMax: 2_000,
};

/** Named limits of the HTTP connection to a server, the unit last. */
export type UpstreamLimits = {
  readonly connectWaitMsMax: number;
  /** Longest silence before the head of an answer, and between two parts of one; tool calls may take minutes. */
  readonly answerWaitMsMax: number;
  /** How long a legacy HTTP+SSE server may take to name its endpoint. */
  readonly endpointWaitMsMax: number;
  /** How long the end of a session may take when the gateway closes it. */
  readonly closeWaitMsMax: number;
  /** Sockets to one server; requests beyond wait for a free one. */
  readonly connectionsMax: number;
  /** Redirects followed, within the origin only. */
  readonly redirectsMax: number;
  /** Attempts in a row to get a cut stream back, and the shortest and longest pause between them. */
  readonly resumeAttemptsMax: number;
  readonly resumeDelayMsMin: number;
  readonly resumeDelayMsMax: number;
  /** Shortest pause that a server may ask for by `retry:`. */
  readonly retryMsMin: number;
  /** Part of an error body that is read. */
  readonly errorBodyBytesMax: number;
  /** Tools whose header parameters are remembered. */
  readonly toolsMax: number;
};

export const defaultUpstreamLimits: UpstreamLimits = {
  connectWaitMsMax: 10_000,
  answerWaitMsMax: 10 * 60_000,
  endpointWaitMsMax: 10_000,
  closeWaitMsMax: 2_000,
  connectionsMax: 256,
  redirectsMax: 3,
  resumeAttemptsMax: 5,
  resumeDelayMsMin: 1_000,
  resumeDelayMsMax: 30_000,
  retryMsMin: 100,
  errorBodyBytesMax: 64 * 1024,
  toolsMax: 20_000,
};
