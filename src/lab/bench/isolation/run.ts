/**
 * `bench isolation`: the cost of isolation, side by side with the bare server and with another sandbox, through the
 * whole gateway. Every figure is a difference or a ratio within one run: machines are noisy, and alike for all of them.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject } from "../../../core/json.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { shown } from "../../../app/state/sentences.ts";
import { type Variant, MeasureError, srtFile, Stage, variants } from "./stage.ts";

export type CallRow = {
  readonly kind: "call";
  readonly tool: string;
  readonly variant: Variant;
  readonly n: number;
  readonly p50Ms: number;
  /** Median and 95th percentile of the differences from the bare server, call by call. */
  readonly addedP50Ms: number;
  readonly addedP95Ms: number;
};

export type PlainRow = {
  readonly kind: "start" | "throughput" | "memory" | "operations" | "commit";
  readonly variant: Variant;
  readonly n: number;
  readonly value: number;
  readonly unit: "ms" | "calls/s" | "MB" | "us/operation";
  readonly againstBare: number;
};

export type IsolationBench = {
  readonly tiers: Readonly<Record<string, string>>;
  readonly rows: readonly (CallRow | PlainRow)[];
  readonly skipped: readonly string[];
};

export type Sizes = {
  readonly calls: number;
  readonly starts: number;
  readonly flood: number;
  readonly operations: number;
};

export const sizes: Sizes = { calls: 1_000, starts: 7, flood: 1_000, operations: 10_000 };
export const quickSizes: Sizes = { calls: 40, starts: 2, flood: 100, operations: 500 };

const inFlight = 32;
const filesCommitted = 1_000;
const filesCommittedQuick = 50;

export async function isolationBench(size: Sizes): Promise<Result<IsolationBench, string>> {
  const skipped: string[] = [];
  const names = await startable(skipped);
  const opened = await Stage.open(names);
  if (!opened.ok) return opened;
  const stage = opened.value;
  try {
    // Runs first, so that processes shared by all servers count for the variant that needs them.
    const used = await memory(stage);
    const rows: (CallRow | PlainRow)[] = [...(await starts(stage, size.starts)), ...used];
    rows.push(...(await latencies(stage, size.calls)));
    rows.push(...(await throughput(stage, size.flood)));
    rows.push(...(await busy(stage, "operations", size.operations)));
    rows.push(...(await busy(stage, "commit", size.calls < 100 ? filesCommittedQuick : filesCommitted)));
    return ok({ tiers: Object.fromEntries(names.map((name) => [name, stage.tierOf(name)])), rows, skipped });
  } catch (cause) {
    if (cause instanceof MeasureError) return err(stoppedSentence(cause.message));
    throw cause;
  } finally {
    await stage.close();
  }
}

/** The variant with its message, truncated to fit, and always the remedy. */
function stoppedSentence(said: string): string {
  return `The measurement stopped, since this failed: ${shown(said, 120)}. Look at \`sluicegate doctor\`, then repeat it.`;
}

/** The variants that start here at all; another sandbox may not be installed, or lack what it needs. */
async function startable(skipped: string[]): Promise<readonly Variant[]> {
  const others = variants.filter((name) => name !== "srt");
  if (srtFile() === undefined) {
    skipped.push("srt: the package @anthropic-ai/sandbox-runtime is not installed");
    return others;
  }
  const tried = await Stage.open(["srt"]);
  if (!tried.ok) return others;
  const connected = await tried.value.connect("srt");
  await tried.value.close();
  if (connected.ok) return variants;
  skipped.push(`srt does not start here: ${connected.error}`.slice(0, 240));
  return others;
}

function calls(workspace: string): readonly (readonly [string, JsonObject])[] {
  return [
    ["echo", { text: "hello" }],
    ["read", { path: `${workspace}/a.txt` }],
    ["list", { path: workspace }],
    ["write", { path: `${workspace}/b.txt`, text: "written" }],
  ];
}

/** From the command to its first list of tools; every variant is left connected by its last start. */
async function starts(stage: Stage, count: number): Promise<readonly PlainRow[]> {
  const took = new Map<Variant, number[]>(stage.names.map((name) => [name, []]));
  for (let turn = 0; turn < count; turn += 1) {
    for (const name of rotated(stage.names, turn)) {
      stage.disconnect(name);
      const from = performance.now();
      const connected = await stage.connect(name);
      if (!connected.ok) throw new MeasureError(connected.error);
      took.get(name)?.push(performance.now() - from);
    }
  }
  return plain({ kind: "start", unit: "ms", n: count }, stage.names, (name) => median(took.get(name) ?? []));
}

/** Times of calls in ms, with the difference to the same call on the bare server. */
type Timed = { readonly own: readonly number[]; readonly added: readonly number[] };

/** By tool, and for all tools together. */
async function latencies(stage: Stage, count: number): Promise<readonly CallRow[]> {
  const rows: CallRow[] = [];
  const all = new Map<Variant, Timed[]>(stage.names.map((name) => [name, []]));
  for (const [tool, given] of calls(stage.workspace)) {
    for (const [variant, timed] of await latency(stage, count, (name) => stage.call(name, tool, given))) {
      rows.push(callRow(tool, variant, timed));
      all.get(variant)?.push(timed);
    }
  }
  for (const [variant, parts] of all) {
    const [own, added] = [parts.flatMap((part) => part.own), parts.flatMap((part) => part.added)];
    rows.push(callRow("all", variant, { own, added }));
  }
  return rows;
}

function callRow(tool: string, variant: Variant, { own, added }: Timed): CallRow {
  const [addedP50Ms, addedP95Ms] = [median(added), quantile(added, 0.95)];
  return { kind: "call", tool, variant, n: own.length, p50Ms: median(own), addedP50Ms, addedP95Ms };
}

/**
 * Each variant against the bare server alone, call by call in turns: with more servers in the round each would find the
 * caches of the machine filled by the others, which is a cost of the round and not of isolation.
 */
async function latency(
  stage: Stage,
  count: number,
  call: (name: Variant) => Promise<void>,
): Promise<ReadonlyMap<Variant, Timed>> {
  const bare: number[] = [];
  const timed = new Map<Variant, Timed>([["bare", { own: bare, added: [0] }]]);
  for (const variant of stage.names.filter((name) => name !== "bare")) {
    const took = await paired(["bare", variant], count, call);
    const [beside, own] = [took.get("bare") ?? [], took.get(variant) ?? []];
    bare.push(...beside);
    timed.set(variant, { own, added: own.map((one, index) => one - (beside[index] ?? one)) });
  }
  return timed;
}

/** Times of calls in ms, by variant; each turn begins with another one. */
async function paired(
  names: readonly Variant[],
  count: number,
  call: (name: Variant) => Promise<void>,
): Promise<ReadonlyMap<Variant, readonly number[]>> {
  const took = new Map<Variant, number[]>(names.map((name) => [name, []]));
  for (let turn = -Math.ceil(count / 2); turn < count; turn += 1) {
    for (const name of rotated(names, Math.abs(turn))) {
      const from = performance.now();
      await call(name);
      // The first turns only warm everything up: a gateway runs for days.
      if (turn >= 0) took.get(name)?.push(performance.now() - from);
    }
  }
  return took;
}

/** Reads with many in flight, as for busy agents. */
async function throughput(stage: Stage, count: number): Promise<readonly PlainRow[]> {
  const rates = new Map<Variant, number>();
  for (const name of stage.names) {
    let next = 0;
    const from = performance.now();
    const worker = async (): Promise<void> => {
      while (next < count) {
        next += 1;
        await stage.call(name, "read", { path: `${stage.workspace}/a.txt` });
      }
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    rates.set(name, (count * 1_000) / (performance.now() - from));
  }
  return plain({ kind: "throughput", unit: "calls/s", n: count }, stage.names, (name) => rates.get(name) ?? 0);
}

/** One call that keeps the file system busy: many operations on one file, or many files that are then taken over. */
async function busy(stage: Stage, kind: "operations" | "commit", count: number): Promise<readonly PlainRow[]> {
  const took = new Map<Variant, number>();
  const tool = kind === "operations" ? "churn" : "write_many";
  for (const name of stage.names) {
    const from = performance.now();
    await stage.call(name, tool, { path: `${stage.workspace}/${kind}-${name}`, count });
    took.set(name, performance.now() - from);
  }
  const scale = kind === "operations" ? 1_000 / count : 1;
  const unit = kind === "operations" ? "us/operation" : "ms";
  return plain({ kind, unit, n: count }, stage.names, (name) => (took.get(name) ?? 0) * scale);
}

/**
 * Unshared memory (free without them) of all processes below this one that starting a variant adds: of a traced server
 * also that of the process that traces, which later ones share. A launcher becomes its server and adds nothing.
 */
async function memory(stage: Stage): Promise<readonly PlainRow[]> {
  const used = new Map<Variant, number>();
  for (const name of stage.names) {
    await settled();
    const before = memoryBelow(process.pid);
    const connected = await stage.connect(name);
    if (!connected.ok) throw new MeasureError(connected.error);
    await settled();
    used.set(name, memoryBelow(process.pid) - before);
  }
  return plain({ kind: "memory", unit: "MB", n: 1 }, stage.names, (name) => used.get(name) ?? 0);
}

const settleMs = 500;

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, settleMs));
}

function memoryBelow(root: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const below = (pid: number): boolean => {
    let at = parents.get(pid);
    for (let depth = 0; at !== undefined && at > 1 && depth < 64; depth += 1) {
      if (at === root) return true;
      at = parents.get(at);
    }
    return false;
  };
  return [...parents.keys()].filter(below).reduce((sum, pid) => sum + privateMb(pid), 0);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined; // it ended meanwhile
  }
}

/** Shared pages are left out: their owner depends on the order of starts. */
function privateMb(pid: number): number {
  try {
    const lines = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8").matchAll(/^Private_(?:Clean|Dirty):\s+(\d+)/gm);
    return [...lines].reduce((sum, line) => sum + Number(line[1]), 0) / 1_024;
  } catch {
    return 0;
  }
}

function plain(
  what: Pick<PlainRow, "kind" | "unit" | "n">,
  names: readonly Variant[],
  valueOf: (name: Variant) => number,
): readonly PlainRow[] {
  const bare = valueOf("bare");
  return names.map((variant) => ({ ...what, variant, value: valueOf(variant), againstBare: valueOf(variant) - bare }));
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = by % Math.max(1, list.length);
  return [...list.slice(at), ...list.slice(0, at)];
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
