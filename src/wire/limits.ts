/**
 * Named limits of the wire layer, the unit last. Every one bounds something that a hostile peer chooses; the defaults
 * are far above what real servers send and far below what would hurt the process.
 */
export type WireLimits = {
  /** One message. Official SDKs stop at 4 to 10 MB; large results are legitimate, so ours is higher. */
  readonly messageBytesMax: number;
  /** Nesting of arrays and objects: deep documents overflow the stack of every recursive reader behind us. */
  readonly depthMax: number;
  /** Members of one object or elements of one array. */
  readonly listLengthMax: number;
  /** Characters of a string id: ids are kept in tables while a call is in flight. */
  readonly idLengthMax: number;
  /** Characters of a method name: method names become metric labels, header values and log fields. */
  readonly methodLengthMax: number;
  /** Messages in one batch (revision 2025-03-26 only). */
  readonly batchLengthMax: number;
};

export const defaultWireLimits: WireLimits = {
  messageBytesMax: 64 * 1024 * 1024,
  depthMax: 128,
  listLengthMax: 1_000_000,
  idLengthMax: 1024,
  methodLengthMax: 256,
  batchLengthMax: 100,
};
