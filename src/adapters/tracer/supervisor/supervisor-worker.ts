/**
 * The serving thread of a supervisor: waits for all listeners at once and serves them in turn, so that a busy server
 * delays the others by one call at a time. It never returns to its event loop; orders wait in a message port, and a
 * descriptor polled with the listeners signals them.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { listenersMax, ringNudgeBytes } from "../tracer-limits.ts";
import { Listener, listenerArenaBytes, type Owner } from "./listener.ts";
import { type Arena, type Native, openNative } from "../native.ts";
import { ringFileBytes } from "../ring.ts";
import type { ServingOrder, SupervisorReport } from "./supervisor-protocol.ts";

// `struct pollfd`: i32 descriptor, i16 wanted, i16 seen.
const entryBytes = 8;
const readable = 1;
const hungUp = 0x10 | 0x08; // POLLHUP | POLLERR

type Served = {
  readonly id: number;
  readonly listener: Listener;
  readonly arena: Arena;
  readonly file: Arena;
  nudged: boolean;
};

type WorkerStart = { readonly wake: number };

/** Serves until the process ends. */
function serveForEver(native: Native, entries: Arena, wake: number): never {
  const served: Served[] = [];
  const shift = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const now = (): number => performance.now() + shift;
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) native.leaveGroups();
  let acting: Owner = { user: 0, group: 0 };
  /** Root has all permissions, so the supervisor could not detect which access the server lacks. */
  const actAs = (owner: Owner): void => {
    if (!isRoot || (owner.user === acting.user && owner.group === acting.group)) return;
    native.actAs(owner.user, owner.group);
    acting = owner;
  };
  const drop = (index: number): void => {
    const one = served[index];
    if (one === undefined) return;
    served.splice(index, 1);
    one.listener.close();
    native.unmap(one.file.address, one.file.bytes.length);
    native.unmap(one.arena.address, one.arena.bytes.length);
  };
  // This thread has no other work and ends with its process.
  for (;;) {
    put(entries, 0, wake);
    for (const [index, one] of served.entries()) put(entries, index + 1, one.listener.fd);
    native.poll(entries.address, served.length + 1, -1);
    for (let index = served.length - 1; index >= 0; index--) {
      const one = served[index];
      if (one === undefined) continue;
      const events = entries.view.getInt16((index + 1) * entryBytes + 6, true);
      if (events === 0) continue;
      actAs(one.listener.owner);
      const goes = (events & readable) === 0 ? (events & hungUp) === 0 : one.listener.serve();
      if (!goes) {
        report({ kind: "ended", id: one.id });
        drop(index);
      } else nudge(one);
    }
    if ((entries.view.getInt16(6, true) & readable) === 0) continue;
    native.readWord(wake, entries.address + entryBytes * (listenersMax + 1));
    for (let order = take(); order !== undefined; order = take()) {
      if (order.kind === "remove") drop(served.findIndex((one) => one.id === order.id));
      else {
        const started = start(native, order, now);
        if (started === undefined) report({ kind: "refused", id: order.id, reason: "There is no memory to trace it." });
        else {
          served.push(started);
          report({ kind: "added", id: order.id, record: order.record });
        }
      }
    }
  }
}

function put(entries: Arena, index: number, fd: number): void {
  entries.view.setInt32(index * entryBytes, fd, true);
  entries.view.setUint32(index * entryBytes + 4, readable, true);
}

function start(native: Native, order: Extract<ServingOrder, { kind: "serve" }>, now: () => number): Served | undefined {
  const file = native.mapFile(order.record, ringFileBytes);
  const arena = native.allocate(listenerArenaBytes);
  if (file === undefined || arena === undefined) {
    // Closed, so that a process that waits for the listener fails instead of waiting for ever.
    native.close(order.fd);
    return undefined;
  }
  const listener = new Listener(native, arena, { ...order, file, now });
  return { id: order.id, listener, arena, file, nudged: false };
}

/** Reports once per filling of the ring, so that a busy server does not flood the gateway with messages. */
function nudge(one: Served): void {
  const filling = one.listener.writer.waiting > ringNudgeBytes;
  if (filling && !one.nudged) report({ kind: "filling", id: one.id });
  one.nudged = filling;
}

function report(message: SupervisorReport): void {
  parentPort?.postMessage(message);
}

function take(): ServingOrder | undefined {
  const port = parentPort;
  if (port === null) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only our other thread holds the far end of this port
  return (receiveMessageOnPort(port) as { message: ServingOrder } | undefined)?.message;
}

const native = openNative();
if (native.ok) {
  const entries = native.value.allocate(entryBytes * (listenersMax + 2));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- given by the supervisor that starts this thread
  if (entries !== undefined) serveForEver(native.value, entries, (workerData as WorkerStart).wake);
}
