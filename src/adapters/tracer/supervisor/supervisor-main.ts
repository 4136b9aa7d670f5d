/**
 * The supervisor of traced servers: a process of its own, because it calls the C library directly, and a mistake there
 * must not end the gateway. It takes listeners out of launchers and hands them to its serving thread.
 *
 * When it ends, however that happens, the kernel closes the listeners, and every traced call of every server fails with
 * ENOSYS from then on: a server without a tracer cannot continue.
 */
import { closeSync, readFileSync, writeSync } from "node:fs";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { listenersMax } from "../tracer-limits.ts";
import type { Owner } from "./listener.ts";
import { type Native, openNative } from "../native.ts";
import { prepareRing } from "../ring.ts";
import type { ServingOrder, SupervisorOrder, SupervisorReport } from "./supervisor-protocol.ts";

function report(message: SupervisorReport): void {
  // If the gateway is gone, its end of the channel is closed, and that ends this process.
  process.send?.(message, () => undefined);
}

/**
 * Ends the process at once, whatever the serving thread does: an orderly exit would wait for that thread, which waits
 * for servers.
 */
function end(): void {
  process.kill(process.pid, "SIGKILL");
}

function main(): void {
  // Node's own reaction to a fault is an orderly exit.
  process.on("uncaughtException", end);
  // The gateway is gone, so tracing has no purpose any more, and servers must not run unobserved.
  process.on("disconnect", end);
  if (!process.connected) end();
  const native = openNative();
  if (!native.ok) {
    report({ kind: "unable", reason: native.error });
    return;
  }
  const wake = native.value.eventDescriptor();
  const place = new URL(`./supervisor-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(place, { workerData: { wake } });
  worker.on("message", (message: SupervisorReport) => {
    if (message.kind === "ended" || message.kind === "refused") served.delete(message.id);
    if (message.kind === "added" || message.kind === "refused") records.taken(message.id);
    report(message);
  });
  // Without its serving thread this process would hold every server for ever.
  worker.on("error", end);
  worker.on("exit", end);
  const served = new Set<number>();
  const records = new Records();
  const one = new Uint8Array(new BigUint64Array([1n]).buffer);
  const tell = (order: ServingOrder): void => {
    worker.postMessage(order);
    writeSync(wake, one);
  };
  // Orders come only from the gateway, which started this process.
  process.on("message", (order: SupervisorOrder) => {
    if (order.kind === "remove") {
      records.remove(order.id);
      if (served.delete(order.id)) tell(order);
      return;
    }
    const serving = served.size < listenersMax ? takeOver(native.value, order) : "It traces as many servers as it can.";
    if (typeof serving === "string") return report({ kind: "refused", id: order.id, reason: serving });
    served.add(order.id);
    records.add(order.id, serving.record);
    tell(serving);
  });
  worker.once("online", () => report({ kind: "ready" }));
}

/**
 * Descriptors of records by server. Each stays open until both its users, the serving thread and the gateway, have
 * finished with it: otherwise its number could already belong to another server's record.
 */
class Records {
  readonly #open = new Map<number, { readonly record: number; taken: boolean; removed: boolean }>();

  add(id: number, record: number): void {
    this.#open.set(id, { record, taken: false, removed: false });
  }

  /** The serving thread has mapped it, or never will. */
  taken(id: number): void {
    const one = this.#open.get(id);
    if (one !== undefined) one.taken = true;
    this.#close(id);
  }

  /** The gateway has opened it, or never will. */
  remove(id: number): void {
    const one = this.#open.get(id);
    if (one !== undefined) one.removed = true;
    this.#close(id);
  }

  #close(id: number): void {
    const one = this.#open.get(id);
    if (one === undefined || !one.taken || !one.removed) return;
    closeSync(one.record);
    this.#open.delete(id);
  }
}

/** Takes the listener out of the process that made it, or returns a sentence on why that is refused. */
function takeOver(native: Native, order: Extract<SupervisorOrder, { kind: "add" }>): TakenOver | string {
  const process = native.pidfdOpen(order.pid);
  if (process < 0) return `The launcher has ended (error ${native.errorNumber()}). Start the server again.`;
  const fd = native.pidfdGetfd(process, order.fd);
  const number = native.errorNumber();
  native.close(process);
  if (fd < 0) {
    return `The kernel does not hand over the tracer's listener (error ${number}). Containers need the capability SYS_PTRACE for it.`;
  }
  const record = native.memoryFile();
  try {
    prepareRing(record);
    const { id, level, programsBefore, noPrograms = false } = order;
    return { kind: "serve", id, fd, level, record, programsBefore, noPrograms, owner: ownerOf(order.pid) };
  } catch {
    for (const one of [fd, record]) native.close(one);
    return "There is no memory for the record of the server. Free some, then start the server again.";
  }
}

type TakenOver = Extract<ServingOrder, { kind: "serve" }>;

/** Real user and group of a process that still waits for us. */
function ownerOf(pid: number): Owner {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const first = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, "mu").exec(status)?.[1] ?? 0);
  return { user: first("Uid"), group: first("Gid") };
}

main();
