/**
 * Newline-framed text on sockets. Handshakes read exactly one line and leave the rest of the bytes in the stream, since
 * what follows is protocol traffic that must not be touched.
 */
import type { Socket } from "node:net";
import { type Result, err, ok } from "../../core/result.ts";

const newline = 10;

/** Reads the first line and pauses the socket; bytes behind the line are put back. Errors are short reasons. */
export function readFirstLine(socket: Socket, bytesMax: number, waitMsMax: number): Promise<Result<string, string>> {
  return new Promise((resolve) => {
    const held: Buffer[] = [];
    let heldBytes = 0;
    const timer = setTimeout(() => finish(err("it gave no answer in time")), waitMsMax);
    const finish = (outcome: Result<string, string>): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", onEnd);
      socket.pause();
      resolve(outcome);
    };
    const onEnd = (): void => finish(err("it closed the connection"));
    const onData = (chunk: Buffer): void => {
      const end = chunk.indexOf(newline);
      held.push(end < 0 ? chunk : chunk.subarray(0, end));
      heldBytes += chunk.length;
      if (end < 0) {
        if (heldBytes > bytesMax) finish(err("its first line is too long"));
        return;
      }
      const rest = chunk.subarray(end + 1);
      finish(ok(Buffer.concat(held).toString("utf8")));
      if (rest.length > 0) socket.unshift(rest);
    };
    socket.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
    socket.resume(); // a listener alone does not start a socket that was paused on purpose
  });
}

/**
 * Calls `onLine` for every further line; a line over the cap destroys the socket, because no correct peer sends one.
 */
export function readLines(socket: Socket, bytesMax: number, onLine: (text: string) => void): void {
  let held: Buffer[] = [];
  let heldBytes = 0;
  socket.on("data", (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      held.push(chunk.subarray(start, end));
      onLine(Buffer.concat(held).toString("utf8"));
      held = [];
      heldBytes = 0;
      start = end + 1;
    }
    held.push(chunk.subarray(start));
    heldBytes += chunk.length - start;
    if (heldBytes > bytesMax) socket.destroy();
  });
  socket.resume();
}
