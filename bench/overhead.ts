import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createSandbox, gatewayMissing, type Sandbox } from "../test/harness/gateway.ts";
import { cellsOf, type Cell } from "./cells.ts";
import { buildForm } from "./built-form.ts";
import { measureCell, type CellFigures } from "./measure.ts";
import { measureMemory, type Memory } from "./memory.ts";
import { printReport, summarise } from "./report.ts";
import { startSubject, type SubjectName, type TransportKind } from "./subjects.ts";

/**
 * What a guard costs: direct, raw relay, two of them in a row as a shim and a daemon are, parsing relay, SDK pass-through of
 * both generations and Sluicegate with its default policy, alternating in one run. `--runs N` (5), `--quick`, `--only TEXT` (cells whose name contains it),
 * `--without NAME` (leave a subject out), `--json`. What is measured is the form that is published, built here first.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    without: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
  },
});

const all: readonly SubjectName[] = ["direct", "relay", "relay-pair", "parse-relay", "sdk-v1", "sdk-v2", "guarded"];
const transports: readonly TransportKind[] = ["stdio", "http"];

buildForm();
const missing = gatewayMissing();
const left = new Set([...values.without, ...(missing === undefined ? [] : ["guarded"])]);
const names = all.filter((name) => !left.has(name));
const cells: readonly Cell[] = transports
  .flatMap((transport) => cellsOf(transport, values.quick))
  .filter((cell) => cell.id.includes(values.only));
const runs = values.quick ? 1 : Number(values.runs);

/**
 * Work in a state that nothing was done in. A session takes over what open runs of the same client have read, so a cell
 * would otherwise carry the results of all cells before it.
 */
async function inFreshState<T>(work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
  const sandbox = await createSandbox();
  try {
    return await work(sandbox);
  } finally {
    await sandbox.remove();
  }
}

/** The first start on a machine compiles all code and keeps it, a second later: no cost of a call. */
async function firstStart(sandbox: Sandbox): Promise<void> {
  const subject = await startSubject("guarded", "stdio", 1, sandbox);
  await sleep(2_500);
  await subject.stop();
}

const measured = new Map<string, CellFigures[]>();
const memories: Memory[] = [];
for (let run = 0; run < runs; run += 1) {
  if (names.includes("guarded")) await inFreshState(firstStart);
  for (const cell of cells) {
    if (process.stderr.isTTY) process.stderr.write(`run ${run + 1} of ${runs}: ${cell.id}\n`);
    // Over HTTP there is no shim, and so no pair.
    const own = names.filter((name) => cell.transport === "stdio" || name !== "relay-pair");
    const figures = await inFreshState((sandbox) => measureCell(cell, own, sandbox));
    measured.set(cell.id, [...(measured.get(cell.id) ?? []), figures]);
  }
  if (names.includes("guarded") && values.only === "") memories.push(await measureMemory());
}

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
const report = summarise({ machine, runs, measured, memories, missing });
if (values.json) console.log(JSON.stringify(report));
else printReport(report);
process.exitCode = report.cells.some((cell) => Object.keys(cell.failed).length > 0) || missing !== undefined ? 1 : 0;
