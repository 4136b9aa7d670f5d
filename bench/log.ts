/**
 * Cost of a call in the event log: `node bench/log.ts [--json] [--calls 8000] [--concurrent 1,32] [--payload 1024]
 * [--durability normal,full] [--against FOLDER] [--rounds 3]`.
 *
 * A call appends what a gateway appends for it: a write two records, each awaited; a read one, with what it brought. Calls in
 * flight are of one run, as those of one client are. Sealing, secret search, hash chain and signatures are all on. Each
 * figure is the least of several processes, cold over the first 2,000 calls and warm after 8,000. `--against` names another
 * checkout: both take turns, and the last lines say how this one compares with it.
 */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import type { LogEntry } from "../src/gateway/ports/store.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    calls: { type: "string", default: "8000" },
    payload: { type: "string", default: "1024" },
    folder: { type: "string", default: tmpdir() },
    concurrent: { type: "string", default: "1,32" },
    durability: { type: "string", default: "normal" },
    against: { type: "string" },
    rounds: { type: "string", default: "3" },
    /** Of a process that measures: which checkout, and what. */
    root: { type: "string" },
    call: { type: "string", default: "write" },
  },
});

const coldCalls = 2_000;
const warmCalls = 8_000;

type Figures = {
  readonly coldP50Ms: number;
  readonly coldCpuMicroseconds: number;
  readonly warmP50Ms: number;
  /** Microseconds of processor time a call, and how much of it the system took to write the file. */
  readonly warmCpuMicroseconds: number;
  readonly warmSystemMicroseconds: number;
  /** What a call leaves in the database. */
  readonly bytes: number;
};

type Block = { readonly p50Ms: number; readonly user: number; readonly system: number };

/** Prose of words and numbers, since repeated text would flatter the search for secrets. */
function prose(characters: number): string {
  let text = "";
  for (let index = 1; text.length < characters; index += 1) text += `item ${(index * 7919) % 1000} of the ledger, `;
  return text.slice(0, characters);
}

/** Modules of the checkout that is measured. */
async function loaded(root: string) {
  const module = async (path: string): Promise<unknown> => await import(pathToFileURL(join(root, path)).href);
  // The names are those of this repository; another checkout of it has them as well.
  const sealing = (await module("src/adapters/keys/sealing.ts")) as typeof import("../src/adapters/keys/sealing.ts");
  const sqlite = (await module("src/adapters/store/sqlite.ts")) as typeof import("../src/adapters/store/sqlite.ts");
  const log = (await module("src/gateway/log/event-log.ts")) as typeof import("../src/gateway/log/event-log.ts");
  const fixture = (await module(
    "test/kit/gateway/log-records.ts",
  )) as typeof import("../test/kit/gateway/log-records.ts");
  return { ...sealing, ...sqlite, ...log, ...fixture };
}

const [policyDigest, manifestDigest] = ["a".repeat(64), "b".repeat(64)];

/** The entries of a call with the decision and the notes that a gateway puts beside them. */
function gatewayEntries(entries: readonly LogEntry[], option: object, call: string): readonly LogEntry[] {
  const plain = { verdict: "allow", enforcedVerdict: "allow", reasons: [], obligations: [] } as const;
  return entries.map((entry, index) => ({
    ...entry,
    context: { ...entry.context, policyDigest, manifestDigest, principal: "os:1000" },
    decision: (index === 0 ? { ...plain, option } : { ...plain, option: undefined }) as NonNullable<
      LogEntry["decision"]
    >,
    notes: { decision: call },
    ...(index === 0 && values.call === "read" ? { late: true as const } : {}),
  }));
}

/** Measures one way to call in this process, which was started for it. */
async function measured(root: string, concurrent: number): Promise<Figures> {
  const { openKeys, openSqliteStore, openEventLog, callEntries, option, unwrap } = await loaded(root);
  const folder = mkdtempSync(join(values.folder, "sluicegate-bench-"));
  const durability = values.durability === "full" ? "full" : "normal";
  const store = unwrap(openSqliteStore({ path: join(folder, "log.db"), durability, wallMs: Date.now }));
  const keys = unwrap(openKeys(join(folder, "keys")));
  const chain = randomBytes(16).toString("hex");
  const log = unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain }, 0));
  const body = prose(Number(values.payload));
  let made = 0;
  const entriesOf = (): readonly LogEntry[] => {
    const call = `call-${(made += 1)}`;
    const entries = callEntries("os:1000/process:1@1", call, { to: "ann@example.org", body: `${call} ${body}` });
    return gatewayEntries(entries, option, call);
  };
  const block = async (count: number): Promise<Block> => {
    // Made beforehand: what a gateway does to come to an entry is no cost of the log.
    const calls = Array.from({ length: count }, entriesOf);
    const waits: number[] = [];
    const client = async (): Promise<void> => {
      for (let entries = calls.pop(); entries !== undefined; entries = calls.pop()) {
        const begun = performance.now();
        if (values.call === "read") unwrap(await log.append(entries));
        else for (const entry of entries) unwrap(await log.append([entry]));
        waits.push(performance.now() - begun);
      }
    };
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: concurrent }, client));
    const { user, system } = process.cpuUsage(before);
    return { p50Ms: median(waits), user: user / count, system: system / count };
  };
  const cold = await block(coldCalls);
  await block(warmCalls - coldCalls);
  const warm = await block(Number(values.calls));
  const views = unwrap(await log.tail(100));
  const kept = unwrap(await store.records({ order: "newest", limit: new Set(views.map(({ seq }) => seq)).size }));
  const size = kept.reduce((sum, { body: text, payload }) => sum + text.length + (payload?.length ?? 0), 0);
  const calls = views.filter(({ kind }) => kind === "released").length;
  await log.close(0);
  rmSync(folder, { recursive: true, force: true });
  return {
    coldP50Ms: cold.p50Ms,
    coldCpuMicroseconds: cold.user + cold.system,
    warmP50Ms: warm.p50Ms,
    warmCpuMicroseconds: warm.user + warm.system,
    warmSystemMicroseconds: warm.system,
    bytes: size / calls,
  };
}

function inOwnProcess(root: string, call: string, concurrent: string, durability: string): Figures {
  const { calls, payload, folder } = values;
  const words = { root, call, concurrent, durability, calls, payload, folder };
  const given = Object.entries(words).flatMap(([name, value]) => [`--${name}`, value]);
  const said = execFileSync(process.execPath, [import.meta.filename, ...given], { encoding: "utf8" });
  return JSON.parse(said) as Figures; // what this file prints below
}

/** The least of several rounds: what else the machine does only ever adds. */
function leastOf(runs: readonly Figures[]): Figures {
  const of = (name: keyof Figures): number => Number(Math.min(...runs.map((run) => run[name])).toFixed(4));
  return {
    coldP50Ms: of("coldP50Ms"),
    coldCpuMicroseconds: of("coldCpuMicroseconds"),
    warmP50Ms: of("warmP50Ms"),
    warmCpuMicroseconds: of("warmCpuMicroseconds"),
    warmSystemMicroseconds: of("warmSystemMicroseconds"),
    bytes: of("bytes"),
  };
}

function ratioOf(own: Figures, other: Figures): Readonly<Record<string, number>> {
  const names = Object.keys(own) as (keyof Figures)[]; // the members of the type above
  return Object.fromEntries(names.map((name) => [name, Number((own[name] / other[name]).toFixed(3))]));
}

function compare(): readonly object[] {
  const roots = [
    resolve(import.meta.dirname, ".."),
    ...(values.against === undefined ? [] : [resolve(values.against)]),
  ];
  const cells = values.durability
    .split(",")
    .flatMap((durability) => values.concurrent.split(",").map((concurrent) => ({ durability, concurrent })))
    .flatMap((cell) => ["read", "write"].map((call) => ({ ...cell, call })));
  return cells.map(({ durability, concurrent, call }) => {
    const runs = roots.map((): Figures[] => []);
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const turn = round % 2 === 0 ? [...roots.entries()] : [...roots.entries()].reverse();
      for (const [index, root] of turn) runs[index]?.push(inOwnProcess(root, call, concurrent, durability));
    }
    const [own = [], other = []] = runs;
    const cell = { call, concurrent: Number(concurrent), durability, ...leastOf(own) };
    const against = other.length === 0 ? {} : { against: leastOf(other), ratio: ratioOf(leastOf(own), leastOf(other)) };
    if (!values.json) console.log({ ...cell, ...against });
    return { ...cell, ...against };
  });
}

if (values.root !== undefined) console.log(JSON.stringify(await measured(values.root, Number(values.concurrent))));
else {
  const cells = compare();
  if (values.json) console.log(JSON.stringify({ payloadBytes: Number(values.payload), cells }, undefined, 2));
}
