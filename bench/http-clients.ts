/**
 * Many clients over HTTP: `node bench/http-clients.ts [--clients 100] [--calls 20] [--sessions 1000] [--before CHECKOUT]
 * [--tool read|act] [--json]`.
 *
 * Starts the gateway as a user does, in front of one server, and measures calls a second with one client and with so many
 * at once, the processor time of the gateway for each, the records that a call adds to the log, and the memory of the
 * gateway before and after so many sessions were opened, used and ended one after another. Then the gateway is stopped and
 * some runs are decided again out of the log: a difference fails the measurement. `--before` measures another checkout beside
 * this one.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { firstLine, startChild } from "../test/kit/client/child.ts";
import { createSandbox, startGateway } from "../test/kit/gateway/run-gateway.ts";
import { cpuMicroseconds, residentKilobytes } from "./processes.ts";

const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "100" },
    calls: { type: "string", default: "20" },
    sessions: { type: "string", default: "1000" },
    before: { type: "string" },
    tool: { type: "string", default: "read" },
    json: { type: "boolean", default: false },
  },
});

const here = import.meta.dirname;
/** Runs that are decided again. */
const replayedRuns = 5;
const agent = new Agent({ keepAlive: true, maxSockets: 256 });

/** The default policy, with a label for the server's one tool: it reads, or it acts where nothing is asked. */
function policyFile(folder: string): string {
  const labels =
    "labels: { fixture.read_text: { effects: [read.local], output: { confidentiality: public, trust: trusted } } }";
  const acts = `${labels.replace("read.local", "write.local")}\nrules: [{ id: acts, why: A measurement., tier: allow, when: { tool: "*" } }]`;
  const file = join(folder, "bench-policy.yaml");
  writeFileSync(file, `version: 1\nextends: [default]\n${values.tool === "act" ? acts : labels}\n`);
  return file;
}

class Session {
  readonly #url: URL;
  #id: string | undefined;
  #count = 0;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async open(): Promise<void> {
    const clientInfo = { name: "bench", version: "1.0.0" };
    await this.#ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await this.#send("POST", { jsonrpc: "2.0", method: "notifications/initialized" });
    await this.#ask("tools/list", {});
  }

  async call(): Promise<void> {
    const text = await this.#ask("tools/call", { name: "read_text", arguments: { bytes: 64 } });
    if (text.includes('"isError":true')) throw new Error(`a call was refused: ${text.slice(0, 400)}`);
  }

  async end(): Promise<void> {
    await this.#send("DELETE", undefined);
  }

  async #ask(method: string, params: object): Promise<string> {
    const text = await this.#send("POST", { jsonrpc: "2.0", id: (this.#count += 1), method, params });
    if (text.includes('"error":{')) throw new Error(`an error came back: ${text.slice(0, 400)}`);
    return text;
  }

  #send(method: string, message: object | undefined): Promise<string> {
    const body = message === undefined ? "" : JSON.stringify(message);
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(body),
      ...(this.#id === undefined ? {} : { "mcp-session-id": this.#id, "mcp-protocol-version": "2025-11-25" }),
    };
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#url, { method, agent, headers }, (incoming) => {
        const given = incoming.headers["mcp-session-id"];
        if (typeof given === "string") this.#id = given;
        let text = "";
        incoming.setEncoding("utf8").on("data", (part: string) => (text += part));
        incoming.on("end", () => resolve(text));
        incoming.on("error", reject);
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }
}

/** Records and events of the log by now, and the runs of sessions. */
function logged(home: string): { readonly records: number; readonly events: number; readonly runs: readonly string[] } {
  const store = new DatabaseSync(join(home, "gateway", "log.db"), { readOnly: true });
  try {
    const bodies = store.prepare("SELECT body FROM records WHERE run <> ''").all() as { body: string }[];
    let events = 0;
    for (const { body } of bodies) {
      const { entries } = JSON.parse(body) as { entries: { events?: unknown[] }[] };
      for (const entry of entries) events += entry.events?.length ?? 0;
    }
    const runs = store.prepare("SELECT DISTINCT run FROM records WHERE run LIKE '%/session:%'").all() as {
      run: string;
    }[];
    return { records: bodies.length, events, runs: runs.map(({ run }) => run) };
  } finally {
    store.close();
  }
}

type Measured = {
  readonly oneClientPerSecond: number;
  readonly clientsPerSecond: number;
  /** Processor time of the gateway for a call of many clients, in ms; other work on the machine does not change it much. */
  readonly cpuMsPerCall: number;
  readonly recordsPerCall: number;
  readonly eventsPerCall: number;
  readonly residentBefore: number;
  readonly residentAfter: number;
  readonly sessionsSeconds: number;
};

/** What waits at most a quarter of a second for the log is there after this. */
const settledMs = 600;
const settled = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, settledMs));

async function measure(checkout: string | undefined): Promise<Measured> {
  const sandbox = await createSandbox(checkout);
  const home = join(sandbox.folder, "gateway");
  const upstream = startChild([process.execPath, join(here, "echo-server.ts"), "--http"]);
  try {
    const { url: server } = JSON.parse(await firstLine(upstream)) as { readonly url: string };
    const gateway = await startGateway(server, sandbox, { policy: policyFile(sandbox.folder) });
    const pid = gateway.child.process.pid ?? 0;
    const calls = Number(values.calls);
    const clients = Number(values.clients);
    const first = new Session(gateway.url);
    await first.open();
    for (let count = 0; count < 200; count += 1) await first.call();
    const oneStart = performance.now();
    for (let count = 0; count < 400; count += 1) await first.call();
    const oneClientPerSecond = 400 / ((performance.now() - oneStart) / 1_000);
    await first.end();
    const sessions = Array.from({ length: clients }, () => new Session(gateway.url));
    for (const session of sessions) await session.open();
    await settled();
    const before = logged(home);
    const cpuBefore = cpuMicroseconds(pid, undefined);
    const start = performance.now();
    await Promise.all(
      sessions.map(async (session) => {
        for (let count = 0; count < calls; count += 1) await session.call();
      }),
    );
    const clientsPerSecond = (clients * calls) / ((performance.now() - start) / 1_000);
    await settled();
    const cpuMsPerCall = (cpuMicroseconds(pid, undefined) - cpuBefore) / 1_000 / (clients * calls);
    const after = logged(home);
    for (const session of sessions) await session.end();
    await settled();
    const residentBefore = residentKilobytes(pid);
    const sessionsStart = performance.now();
    for (let count = 0; count < Number(values.sessions); count += 1) {
      const session = new Session(gateway.url);
      await session.open();
      await session.call();
      await session.end();
    }
    const sessionsSeconds = (performance.now() - sessionsStart) / 1_000;
    await new Promise((resolve) => void setTimeout(resolve, 5_000));
    const residentAfter = residentKilobytes(pid);
    await gateway.stop();
    const runs = after.runs.filter((_, index) => index % Math.ceil(after.runs.length / replayedRuns) === 0);
    for (const run of runs) replay(run, sandbox.launcher, { ...sandbox.env, SLUICEGATE_HOME: home });
    return {
      oneClientPerSecond,
      clientsPerSecond,
      cpuMsPerCall,
      recordsPerCall: (after.records - before.records) / (clients * calls),
      eventsPerCall: (after.events - before.events) / (clients * calls),
      residentBefore,
      residentAfter,
      sessionsSeconds,
    };
  } finally {
    await upstream.stop();
    await sandbox.remove();
  }
}

/** Every decision of the run is the same again, or the measurement is worth nothing. */
function replay(run: string, launcher: string, env: Readonly<Record<string, string>>): void {
  const again = spawnSync(process.execPath, [launcher, "replay", "--run", run], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  if (again.status !== 0 || !/All \d+ decisions are the same/.test(again.stdout)) {
    throw new Error(`run ${run} is decided otherwise: ${again.stdout.slice(-600)} ${again.stderr.slice(-600)}`);
  }
}

function shown(name: string, measured: Measured): string {
  const { oneClientPerSecond, clientsPerSecond, cpuMsPerCall, recordsPerCall, eventsPerCall } = measured;
  const { residentBefore, residentAfter, sessionsSeconds } = measured;
  const megabytes = (kilobytes: number): string => (kilobytes / 1_024).toFixed(0);
  return [
    `${name}:`,
    `  one client ${oneClientPerSecond.toFixed(0)} calls/s; ${values.clients} clients ${clientsPerSecond.toFixed(0)} calls/s (${(clientsPerSecond / oneClientPerSecond).toFixed(2)} of one), ${cpuMsPerCall.toFixed(2)} ms of processor time a call`,
    `  ${recordsPerCall.toFixed(2)} records and ${eventsPerCall.toFixed(2)} events a call; the decisions of ${replayedRuns} runs are the same again`,
    `  ${values.sessions} sessions one after another in ${sessionsSeconds.toFixed(1)} s; RSS ${megabytes(residentBefore)} -> ${megabytes(residentAfter)} MB`,
  ].join("\n");
}

const now = await measure(undefined);
const before = values.before === undefined ? undefined : await measure(values.before);
if (values.json) console.log(JSON.stringify({ now, ...(before === undefined ? {} : { before }) }));
else {
  console.log(shown("this checkout", now));
  if (before !== undefined) console.log(shown("before", before));
}
agent.destroy();
