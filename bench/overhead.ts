import { existsSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createSandbox, gatewayMissing } from "../test/kit/gateway/run-gateway.ts";
import { cellsOf, type Cell } from "./cells.ts";
import { buildForm } from "./built-form.ts";
import { measureCell, type CellFigures, type Sandboxes } from "./measure.ts";
import { measureMemory, type Memory } from "./memory.ts";
import { printReport, summarise } from "./report.ts";
import { startSubject, type SubjectName, type TransportKind } from "./subjects.ts";

/**
 * The cost of a guard: direct, raw relay, two of them in a row as a shim and a daemon are, parsing relay, SDK
 * pass-through of both generations and Sluicegate with its default policy, alternating in one run. `--runs N` (5),
 * `--quick`, `--only TEXT` (cells whose name contains it), `--without NAME` (leave a subject out), `--json`. `--before
 * FOLDER` measures the gateway of another checkout, already built, beside this one. It measures the published form,
 * built here first.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5" },
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    without: { type: "string", multiple: true, default: [] },
    json: { type: "boolean", default: false },
    before: { type: "string" },
  },
});

const all: readonly SubjectName[] = [
  "direct",
  "relay",
  "relay-pair",
  "parse-relay",
  "sdk-v1",
  "sdk-v2",
  "before",
  "guarded",
];
const transports: readonly TransportKind[] = ["stdio", "http"];

buildForm();
const missing = gatewayMissing();
const { before } = values;
if (before !== undefined && !existsSync(join(before, "dist", "cli", "entry.js"))) {
  console.error(`${before} has no built package: run \`npm ci && npm run build\` in that checkout first.`);
  process.exit(2);
}
const left = new Set([
  ...values.without,
  ...(missing === undefined ? [] : ["guarded"]),
  ...(before === undefined ? ["before"] : []),
]);
const names = all.filter((name) => !left.has(name));
const cells: readonly Cell[] = transports
  .flatMap((transport) => cellsOf(transport, values.quick))
  .filter((cell) => cell.id.includes(values.only));
const runs = values.quick ? 1 : Number(values.runs);

/**
 * Measures in a fresh state. A session takes over the labels of open runs of the same client, so a cell would otherwise
 * carry the results of all cells before it.
 */
async function inFreshState<T>(work: (sandboxes: Sandboxes) => Promise<T>): Promise<T> {
  const guarded = await createSandbox();
  const other = before === undefined ? undefined : await createSandbox(resolve(before));
  try {
    return await work({ guarded, before: other });
  } finally {
    await other?.remove();
    await guarded.remove();
  }
}

/** The first start on a machine compiles all code and keeps it, a second later: no cost of a call. */
async function firstStart({ guarded, before: other }: Sandboxes): Promise<void> {
  for (const sandbox of other === undefined ? [guarded] : [guarded, other]) {
    const subject = await startSubject("guarded", "stdio", 1, sandbox);
    await sleep(2_500);
    await subject.stop();
  }
}

const measured = new Map<string, CellFigures[]>();
const memories: Memory[] = [];
for (let run = 0; run < runs; run += 1) {
  if (names.includes("guarded")) await inFreshState(firstStart);
  for (const cell of cells) {
    if (process.stderr.isTTY) process.stderr.write(`run ${run + 1} of ${runs}: ${cell.id}\n`);
    // Over HTTP there is no shim, and so no pair.
    const own = names.filter((name) => cell.transport === "stdio" || name !== "relay-pair");
    const figures = await inFreshState((sandboxes) => measureCell(cell, own, sandboxes));
    measured.set(cell.id, [...(measured.get(cell.id) ?? []), figures]);
  }
  if (names.includes("guarded") && values.only === "") memories.push(await measureMemory());
}

const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
const report = summarise({ machine, runs, measured, memories, missing });
if (values.json) console.log(JSON.stringify(report));
else printReport(report);
process.exitCode = report.cells.some((cell) => Object.keys(cell.failed).length > 0) || missing !== undefined ? 1 : 0;
