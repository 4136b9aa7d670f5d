/** Named limits of the transports, the unit last. Each bounds memory or a wait that a peer could otherwise choose. */
export type TransportLimits = {
  /** Unsent output of one connection above which reading from its peer, and from those who feed it, pauses. */
  readonly outputBufferBytesMax: number;
  /** Unsent output at which a connection is cut: its peer has stopped reading and the feeders could not be paused. */
  readonly outputBufferBytesHardMax: number;
  /** How long answers are still delivered to a stdio client that has closed its input. */
  readonly halfCloseWaitMsMax: number;
  /** How long a local server may take to end after each of: end of input, SIGTERM. */
  readonly stopGraceMs: number;
  /** One line of a server's stderr that is passed on; the rest of the line is dropped. */
  readonly stderrLineBytesMax: number;
};

export const defaultTransportLimits: TransportLimits = {
  outputBufferBytesMax: 4 * 1024 * 1024,
  outputBufferBytesHardMax: 256 * 1024 * 1024,
  halfCloseWaitMsMax: 10_000,
  stopGraceMs: 2_000,
  stderrLineBytesMax: 4_096,
};
