/**
 * The process that programs of rules run in: without environment, output, files or processes of its own. A program is the
 * operator's, like the policy beside it, so this is no prison, and the network stays open; what it keeps from the gateway
 * is a program that hangs, ends its process or uses up its memory. It ends with whoever started it, also while one runs.
 */
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { programMsMax } from "./limits.ts";
import type { ProgramOrder, ProgramReply } from "./program-order.ts";
import { lateCause } from "./program-order.ts";

const worker = new Worker(new URL(`./program-worker${extname(import.meta.url)}`, import.meta.url), {
  env: {},
  stdout: true,
  stderr: true,
});
// What a program prints must reach no protocol stream, nor pile up.
worker.stdout.resume();
worker.stderr.resume();
worker.on("error", () => process.exit(1));
worker.on("exit", () => process.exit(1));

if (process.send === undefined) await answerOne();
else {
  process.on("message", (order: ProgramOrder) => worker.postMessage(order));
  process.on("disconnect", () => process.exit(0));
  worker.on("message", (reply: ProgramReply) => process.send?.(reply));
}

/** One order on the input, one reply on the output. Whoever wrote it may be gone, so it ends by itself. */
async function answerOne(): Promise<void> {
  const end = (reply: ProgramReply): void => void process.stdout.end(JSON.stringify(reply), () => process.exit(0));
  const order = JSON.parse(await text(process.stdin)) as ProgramOrder; // its starter wrote it
  worker.on("message", end);
  worker.on("online", () => setTimeout(() => end({ id: order.id, cause: lateCause }), programMsMax));
  worker.postMessage(order);
}
