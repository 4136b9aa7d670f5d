import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox } from "../test/kit/gateway/run-gateway.ts";
import type { Cell } from "./cells.ts";
import { cpuMicroseconds } from "./processes.ts";
import { startSubject, type Subject, type SubjectName } from "./subjects.ts";

export type Figures = {
  /** Median latency of one call in milliseconds; with more in flight this includes the queue. */
  readonly p50Ms: number;
  /** Added by the subject, against direct in the same run. */
  readonly addedP50Ms: number;
  /** CPU of the processes between client and server, in microseconds a call. */
  readonly cpuMicroseconds: number;
  readonly callsPerSecond: number;
};

export type CellFigures = ReadonlyMap<SubjectName, Figures | { readonly failed: string }>;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

type Tally = { readonly latencies: number[]; busyMs: number; readonly cpuBefore: number };

/** Runs `count` requests, never more than the cell's number at a time. */
async function runBlock(subject: Subject, cell: Cell, count: number, latencies: number[]): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const { what } = cell;
      const taken =
        what.kind === "list"
          ? await subject.driver.ask("tools/list", {}, what.tools * 100)
          : await subject.driver.ask("tools/call", { name: "read_text", arguments: { bytes: what.bytes } }, what.bytes);
      latencies.push(taken);
    }
  };
  await Promise.all(Array.from({ length: Math.min(cell.inFlight, count) }, worker));
}

function cpuOf(subject: Subject): number {
  return subject.root === undefined ? 0 : cpuMicroseconds(subject.root, subject.assignment);
}

/** The calls before the measured ones, so that the compiler's work of the first second counts for none. */
async function warmUp(subject: Subject, cell: Cell): Promise<void> {
  if (cell.warmUp === 0) return;
  await runBlock(subject, { ...cell, what: { kind: "call", bytes: 1024 }, inFlight: 32 }, cell.warmUp, []);
  await runBlock(subject, cell, Math.min(cell.calls, Math.max(cell.block, cell.inFlight)), []);
}

/** Takes turns between the subjects, block by block, so that a disturbance of the machine affects all alike. */
async function alternate(subjects: readonly Subject[], cell: Cell): Promise<CellFigures> {
  const tallies = new Map<Subject, Tally>();
  const failures = new Map<SubjectName, { readonly failed: string }>();
  for (const subject of subjects) {
    try {
      await warmUp(subject, cell);
      tallies.set(subject, { latencies: [], busyMs: 0, cpuBefore: cpuOf(subject) });
    } catch (cause) {
      failures.set(subject.name, { failed: String(cause) });
    }
  }
  for (let done = 0, turn = 0; done < cell.calls; done += cell.block, turn += 1) {
    const order = turn % 2 === 0 ? [...tallies] : [...tallies].reverse();
    for (const [subject, tally] of order) {
      if (failures.has(subject.name)) continue;
      const started = performance.now();
      try {
        await runBlock(subject, cell, Math.min(cell.block, cell.calls - done), tally.latencies);
      } catch (cause) {
        failures.set(subject.name, { failed: String(cause) });
      }
      tally.busyMs += performance.now() - started;
    }
  }
  // Work of a subject after its answers (logging, flushing) belongs to its cost.
  await sleep(300);
  const figures = new Map<SubjectName, Figures | { readonly failed: string }>(failures);
  const directP50 = median([...tallies].find(([subject]) => subject.name === "direct")?.[1].latencies ?? []);
  for (const [subject, tally] of tallies) {
    if (failures.has(subject.name)) continue;
    const p50Ms = median(tally.latencies);
    figures.set(subject.name, {
      p50Ms,
      addedP50Ms: p50Ms - directP50,
      cpuMicroseconds: (cpuOf(subject) - tally.cpuBefore) / tally.latencies.length,
      callsPerSecond: (tally.latencies.length / tally.busyMs) * 1000,
    });
  }
  return figures;
}

/** Sandboxes of the gateway under test, and of the other checkout where there is one. */
export type Sandboxes = { readonly guarded: Sandbox; readonly before: Sandbox | undefined };

/** Measures one cell with fresh processes for every subject. */
export async function measureCell(cell: Cell, names: readonly SubjectName[], own: Sandboxes): Promise<CellFigures> {
  const subjects: Subject[] = [];
  const failures = new Map<SubjectName, { readonly failed: string }>();
  try {
    for (const name of names) {
      try {
        const tools = cell.what.kind === "list" ? cell.what.tools : 1;
        const sandbox = name === "before" ? (own.before ?? own.guarded) : own.guarded;
        subjects.push(await startSubject(name, cell.transport, tools, sandbox));
      } catch (cause) {
        failures.set(name, { failed: String(cause) });
      }
    }
    return new Map([...failures, ...(await alternate(subjects, cell))]);
  } finally {
    for (const subject of subjects) await subject.stop();
  }
}
