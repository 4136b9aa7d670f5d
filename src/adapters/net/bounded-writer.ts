/**
 * Writes lines to a stream that may have no reader: it takes only so much, so that neither the memory of this process nor
 * the speed of a server depends on it.
 */
import type { Writable } from "node:stream";

/** Bytes that wait on a stream; what comes after them is dropped. */
export const bufferedBytesMax = 1_048_576;

/** Writes while there is room, and says how many lines it dropped when there is room again. */
export function boundedWriter(stream: Writable): (chunk: string | Uint8Array) => void {
  let dropped = 0;
  return (chunk) => {
    if (stream.writableLength > bufferedBytesMax) {
      dropped += 1;
      return;
    }
    if (dropped > 0) stream.write(`sluicegate: ${dropped} lines were dropped here, they are read too slowly\n`);
    dropped = 0;
    stream.write(chunk);
  };
}
