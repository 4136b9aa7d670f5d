/**
 * The port `ParseSql` over a thread: the caller blocks until the answer is there, so a decision stays one step. The thread
 * starts with the first statement and never before, and a parser that fails or hangs takes only its thread along.
 */
import { extname } from "node:path";
import { MessageChannel, type MessagePort, Worker, receiveMessageOnPort } from "node:worker_threads";
import type { ParseSql } from "../../core/reading.ts";
import type { SqlDesk, SqlOrder, SqlReply } from "./sql-order.ts";

export type SqlThreadSettings = {
  readonly program: URL;
  /** Start and first answer, on a machine that is busy with other things. */
  readonly startMsMax: number;
  /** A statement of the longest text that is read takes some milliseconds. */
  readonly answerMsMax: number;
};

const usual: SqlThreadSettings = {
  program: new URL(`./sql-worker${extname(import.meta.url)}`, import.meta.url),
  startMsMax: 30_000,
  answerMsMax: 5_000,
};

/** Statements whose trees are kept: one call is decided in several steps. */
const keptMax = 64;

type Thread = {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly replies: Int32Array;
  waitMs: number;
};

/** @returns a parser with a thread of its own, which ends with the process */
export function makeSqlParser(settings: SqlThreadSettings = usual): ParseSql {
  const kept = new Map<string, SqlReply>();
  let thread: Thread | undefined;
  return (dialect, text) => {
    const key = `${dialect} ${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    thread ??= started(settings);
    const reply = asked(thread, { dialect, text });
    thread.waitMs = settings.answerMsMax;
    if (reply === undefined) {
      void thread.worker.terminate();
      thread = undefined;
      return { ok: false, because: "the parser did not answer" };
    }
    if (kept.size >= keptMax) kept.delete(kept.keys().next().value ?? "");
    kept.set(key, reply);
    return reply;
  };
}

function started({ program, startMsMax }: SqlThreadSettings): Thread {
  const { port1, port2 } = new MessageChannel();
  const replies = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const desk: SqlDesk = { port: port2, replies };
  const worker = new Worker(program, {
    workerData: desk,
    transferList: [port2],
    // Nothing of the process is the parser's business.
    env: {},
    argv: [],
    execArgv: [],
  });
  worker.unref();
  // A thread that cannot start answers nothing, which the caller notices.
  worker.on("error", () => undefined);
  port1.unref();
  return { worker, port: port1, replies, waitMs: startMsMax };
}

function asked(thread: Thread, order: SqlOrder): SqlReply | undefined {
  const { port, replies, waitMs } = thread;
  const before = Atomics.load(replies, 0);
  port.postMessage(order);
  if (Atomics.wait(replies, 0, before, waitMs) === "timed-out") return undefined;
  const received: { readonly message: SqlReply } | undefined = receiveMessageOnPort(port);
  return received?.message;
}
