/**
 * Plants what only system calls can, as the user whose it is to be: shared memory with a secret, and the handle of a
 * file. Prints it as one line, holds it until its input ends, and takes the memory away again.
 */
import { createInterface } from "node:readline";
import { handleOf } from "./acts/reads.ts";
import { loadNative } from "./native.ts";

const [, , secretFile = "", secret = "", key = "0"] = process.argv;
const createForAll = 0o1666;
const removeSegment = 0;
const segmentBytes = 4_096;

const native = await loadNative();
const segment = native?.call("shmget", Number(key), segmentBytes, createForAll) ?? -1n;
if (native !== undefined && segment >= 0n) {
  const address = native.call("shmat", segment, 0, 0);
  native.write(address, Buffer.from(secret));
}
const handle = await handleOf(secretFile);
process.stdout.write(`${JSON.stringify({ handle, key: segment >= 0n ? Number(key) : 0 })}\n`);
for await (const _ of createInterface({ input: process.stdin }));
if (segment >= 0n) native?.call("shmctl", segment, removeSegment, 0);
