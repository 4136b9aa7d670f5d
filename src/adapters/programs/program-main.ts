/**
 * The process that runs the programs of rules: without environment, output, files or child processes. The operator
 * writes the programs, like the policy, so this process is not a sandbox and the network stays open; it protects the
 * gateway from a program that hangs, ends its process or uses up its memory. It ends with the process that started it,
 * even while a program runs.
 */
import { extname } from "node:path";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { programMsMax } from "./program-limits.ts";
import { type ProgramOrder, type ProgramReply, lateCause } from "./program-order.ts";

const worker = new Worker(new URL(`./program-worker${extname(import.meta.url)}`, import.meta.url), {
  env: {},
  stdout: true,
  stderr: true,
});
// The output of a program must neither reach a protocol stream nor accumulate.
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

/**
 * Reads one order from the input and writes one reply to the output. Then it exits by itself: the sender may be gone.
 */
async function answerOne(): Promise<void> {
  const end = (reply: ProgramReply): void => void process.stdout.end(JSON.stringify(reply), () => process.exit(0));
  const order = JSON.parse(await text(process.stdin)) as ProgramOrder; // its starter wrote it
  worker.on("message", end);
  worker.on("online", () => setTimeout(() => end({ id: order.id, cause: lateCause }), programMsMax));
  worker.postMessage(order);
}
