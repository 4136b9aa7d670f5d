/** Reads from a connection that is paused until enough bytes are there for a decision, within bounds. */
import type { Socket } from "node:net";

/** Silence after which a client that must speak first is given up. */
export const firstBytesWaitMsMax = 15_000;
/** Pieces in which they may come: each time all are read again from the first byte. */
const piecesMax = 64;

export type FirstFlight<T> =
  | { readonly kind: "settled"; readonly value: T; readonly bytes: Buffer }
  /** The client closed its side, with these bytes as its last. */
  | { readonly kind: "ended"; readonly bytes: Buffer }
  /** The client was too slow, sent too much, or is gone. */
  | { readonly kind: "given-up"; readonly bytes: Buffer };

export type FirstFlightLimits = {
  readonly bytesMax: number;
  /** Bytes that were read before. */
  readonly already: Buffer;
  /** False where the other side may speak first: then no time limit applies. */
  readonly hurry?: boolean;
};

/**
 * `settle` decides on all bytes so far; undefined waits for more. The connection is paused again when this resolves.
 */
export function readFirst<T>(
  client: Socket,
  settle: (bytes: Buffer) => T | undefined,
  { bytesMax, already, hurry = true }: FirstFlightLimits,
): Promise<FirstFlight<T>> {
  const settled = already.length === 0 ? undefined : settle(already);
  if (settled !== undefined) return Promise.resolve({ kind: "settled", value: settled, bytes: already });
  if (client.destroyed) return Promise.resolve({ kind: "given-up", bytes: already });
  return new Promise((resolve) => {
    let bytes = already;
    let pieces = 0;
    const finish = (result: FirstFlight<T>): void => {
      clearTimeout(timer);
      client.pause();
      client.off("data", onData).off("end", onEnd).off("close", onClose);
      resolve(result);
    };
    const onData = (more: Buffer): void => {
      bytes = Buffer.concat([bytes, more]);
      pieces += 1;
      const value = settle(bytes);
      if (value !== undefined) finish({ kind: "settled", value, bytes });
      else if (bytes.length >= bytesMax || pieces >= piecesMax) onClose();
    };
    const onEnd = (): void => finish({ kind: "ended", bytes });
    const onClose = (): void => finish({ kind: "given-up", bytes });
    const timer = hurry ? setTimeout(onClose, firstBytesWaitMsMax) : undefined;
    client.on("data", onData).on("end", onEnd).on("close", onClose);
    client.resume();
  });
}
