/**
 * Cost of a log's size: `node bench/large-log.ts [--events 1000000] [--dormant 400] [--run-calls 30000] [--calls 300]
 * [--folder F] [--state S] [--json]`. `--state` keeps the built log in that folder and uses it again.
 *
 * Builds a log of so many events in a state folder of its own, by the log's own writer, among them `--dormant` open runs of
 * other client processes; then measures in this process, with the composition that the daemon runs and a server that
 * answers at once: the start of the gateway, the first call of a new client, the median of calls beside a log of the same
 * runs that is nearly empty, and the first call of a run of `--run-calls` calls after a restart. The last line says which
 * of the aims hold.
 */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compose, type Composition } from "../src/app/gateway/composition.ts";
import type { RunEvent } from "../src/core/event.ts";
import { member } from "../src/core/json.ts";
import type { ClientHandler, Connector } from "../src/gateway/ports/transport.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "1000000" },
    dormant: { type: "string", default: "400" },
    "run-calls": { type: "string", default: "30000" },
    calls: { type: "string", default: "300" },
    folder: { type: "string", default: tmpdir() },
    state: { type: "string" },
    policy: { type: "string", default: join(import.meta.dirname, "policy.yaml") },
    json: { type: "boolean", default: false },
  },
});

const principal = "os:0";
const longRun = 1;
const shortRun = 2;
const firstDormant = 1_000;

/** A server with one tool, in this process: its answers differ, as those of real servers do. */
const connector: Connector = {
  connect: (_target, handler) => {
    let served = 0;
    const answerOf = (method: string): unknown => {
      if (method === "initialize") {
        const serverInfo = { name: "fixture", version: "1" };
        return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
      }
      if (method === "tools/list") {
        const inputSchema = { type: "object", properties: { bytes: { type: "integer" } } };
        return { tools: [{ name: "read_text", description: "Reads a text.", inputSchema }] };
      }
      served += 1;
      return {
        content: [{ type: "text", text: `entry ${served} of the ledger, gravel ${(served * 7919) % 100_003}` }],
      };
    };
    return {
      send: (message) => {
        if (message.kind !== "request") return;
        const result = answerOf(message.method) as never; // plain JSON
        setImmediate(() => handler.message({ kind: "response", id: message.id, result }));
      },
      abandon: () => undefined,
      negotiated: () => undefined,
      drained: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      close: async () => undefined,
    };
  },
};

async function started(home: string): Promise<{ readonly composition: Composition; readonly ms: number }> {
  const start = performance.now();
  const target = { kind: "stdio", command: "none", args: [], env: {}, workingDirectory: "/" } as const;
  const servers = [{ name: "fixture", target: () => target }];
  const tell = (text: string): void => void process.stderr.write(`${text}\n`);
  const composed = await compose({ home, policies: [values.policy], connector, servers, tagOf: () => undefined, tell });
  if (!composed.ok) throw new Error(composed.error);
  return { composition: composed.value, ms: performance.now() - start };
}

/** A client process with its run. */
class Client {
  readonly #handler: ClientHandler;
  #count = 0;

  constructor({ gateway }: Composition, process: number) {
    const facts = {
      transport: "stdio",
      server: "fixture",
      principal,
      workingDirectory: "/",
      process: { pid: process, startedAt: "1" },
    } as const;
    this.#handler = gateway.accept({
      facts,
      send: () => undefined,
      drained: () => undefined,
      close: () => undefined,
    });
  }

  async open(): Promise<void> {
    const clientInfo = { name: "bench", version: "1.0.0" };
    await this.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
  }

  /** Milliseconds of a call that passed. */
  async call(): Promise<number> {
    const start = performance.now();
    const result = await this.ask("tools/call", { name: "read_text", arguments: { bytes: 64 } });
    if (member(result, "isError") === true) throw new Error(`a call was refused: ${JSON.stringify(result)}`);
    return performance.now() - start;
  }

  ask(method: string, params: Record<string, never> | object): Promise<never> {
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve, reject) => {
      this.#handler.request({
        request: { kind: "request", id, method, params: params as never },
        send: () => undefined,
        respond: (answer) =>
          answer.kind === "response" ? resolve(answer.result as never) : reject(new Error(answer.error.message)),
        onAbandoned: () => undefined,
      });
    });
  }
}

async function callsOf(client: Client, count: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let index = 0; index < count; index += 1) taken.push(await client.call());
  return taken;
}

/** Events of ended runs that fill the log up: those of one recorded call, again and again. */
async function fill({ log, policies }: Composition, events: number): Promise<void> {
  const policy = policies.select({ principal, client: undefined, tag: undefined });
  const found = await log.replay(`${principal}/process:${firstDormant}@1`, policy.lattice);
  if (!found.ok) throw new Error(found.error);
  const begun = found.value.events.findIndex(({ kind }) => kind === "dispatched");
  const about: readonly RunEvent[] = begun < 0 ? [] : found.value.events.slice(begun, begun + 3);
  if (about.length === 0) throw new Error("there is no call to fill the log with: --dormant must be 1 or more");
  const context = {
    policyDigest: policy.digest,
    policyText: policy.canonical,
    lattice: policy.lattice,
    payload: policy.settings.payload,
    principal,
  };
  let pending: Promise<unknown>[] = [];
  for (let index = 0; index * about.length < events; index += 1) {
    const call = `fill-${index}`;
    const run = `${principal}/process:${100_000 + Math.floor(index / 500)}@1`;
    const renamed = about.map((event) => ("call" in event ? { ...event, call } : event));
    // Each in a record of its own, as calls that follow each other leave them.
    pending.push(log.append([{ run, at: index, events: renamed, context }]));
    if (index % 4 === 0) pending.push(log.append([{ run: `${run}-b`, at: index, events: renamed, context }]));
    if (pending.length < 200) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
}

type Measured = {
  readonly startMs: number;
  readonly firstCallMs: number;
  readonly callP50Ms: number;
  readonly resumeMs: number;
};

/** One gateway on a log: a new client, then the long run again where there is one. */
async function measured(home: string, hasLongRun: boolean): Promise<Measured> {
  const { composition, ms: startMs } = await started(home);
  const client = new Client(composition, shortRun);
  const start = performance.now();
  await client.open();
  await client.call();
  const firstCallMs = performance.now() - start;
  const callP50Ms = median(await callsOf(client, Number(values.calls)));
  let resumeMs = Number.NaN;
  if (hasLongRun) {
    const again = new Client(composition, longRun);
    const before = performance.now();
    await again.open();
    await again.call();
    resumeMs = performance.now() - before;
  }
  await composition.close();
  return { startMs, firstCallMs, callP50Ms, resumeMs };
}

type Size = { readonly runCalls: number; readonly events: number };

async function built(home: string, { runCalls, events }: Size): Promise<void> {
  const { composition } = await started(home);
  for (let index = 0; index < Number(values.dormant); index += 1) {
    const client = new Client(composition, firstDormant + index);
    await client.open();
    await callsOf(client, 3);
  }
  const client = new Client(composition, longRun);
  await client.open();
  await callsOf(client, runCalls);
  // A client that makes thousands of calls makes pauses between them, too.
  await new Promise((resolve) => setTimeout(resolve, Math.min(runCalls, 20_000)));
  if (events > 0) await fill(composition, events);
  await composition.close();
}

const root = mkdtempSync(join(values.folder, "sluicegate-large-"));
try {
  const small = join(root, "small");
  const large = values.state ?? join(root, "large");
  const building = performance.now();
  const size = { runCalls: Number(values["run-calls"]), events: Number(values.events) };
  if (!existsSync(join(large, "log.db"))) await built(large, size);
  const builtMs = performance.now() - building;
  const full = await measured(large, true);
  // The same runs are open in the small log, with a call each. Last, so that warm code favours it and not the large one.
  await built(small, { runCalls: 1, events: 0 });
  const empty = await measured(small, true);
  const megabytes = Math.round(statSync(join(large, "log.db")).size / 1e6);
  const ratio = full.callP50Ms / empty.callP50Ms;
  if (values.json) console.log(JSON.stringify({ empty, full, megabytes, ratio, builtMs }));
  else {
    const shown = (name: string, { startMs, firstCallMs, callP50Ms, resumeMs }: Measured): string =>
      `${name.padEnd(8)} start ${startMs.toFixed(0)} ms, first call ${firstCallMs.toFixed(0)} ms, call p50 ${callP50Ms.toFixed(2)} ms, resume ${resumeMs.toFixed(0)} ms`;
    console.log(`log of ${values.events} events, ${megabytes} MB, built in ${(builtMs / 1_000).toFixed(0)} s`);
    console.log(shown("small", empty));
    console.log(shown("large", full));
    const aims = [
      `first call <= 300 ms: ${full.firstCallMs <= 300}`,
      `call p50 within 1.3 of a small log: ${ratio <= 1.3} (${ratio.toFixed(2)})`,
      `resume <= 500 ms: ${full.resumeMs <= 500}`,
    ];
    console.log(aims.join("; "));
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
