// Runs of random traces that a gateway recorded with log format 1, decided again: each decision, reason code, label path
// and duty is the one on record, and `audit verify` finds every link. README.md says how such runs are recorded.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "../kit/gateway/log-records.ts";
import { pack, unpack } from "./runs/archive.ts";
import { Player, traces } from "./runs/player.ts";
import { type RunLine, runsIn } from "./runs/replayed.ts";
import { worlds } from "./runs/worlds.ts";

const folder = join(import.meta.dirname, "runs");
/** Name of a new recording. */
const recording = process.env["SLUICEGATE_RECORD_RUNS"];
const seed = 20_261_123;

function textOf(lines: readonly RunLine[]): string {
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

async function replayed(home: string): Promise<readonly RunLine[]> {
  const lines: RunLine[] = [];
  for (const log of readdirSync(home).toSorted()) lines.push(...(await runsIn(log, join(home, log))));
  return lines;
}

async function record(name: string): Promise<void> {
  const { path, remove } = temporaryFolder();
  for (const [which, world] of worlds(seed).entries()) {
    for (const [index, trace] of fc.sample(traces, { seed: seed + which, numRuns: world.logs }).entries()) {
      const home = join(path, `${world.name.replaceAll(/\W+/g, "-")}-${index + 1}`);
      mkdirSync(home, { mode: 0o700 });
      await new Player(world, home).play(trace);
    }
  }
  const lines = await replayed(path);
  console.error(`seed ${seed}: ${lines.length} runs, ${lines.flatMap(({ decisions }) => decisions).length} decisions`);
  writeFileSync(join(folder, `${name}.logs.br`), pack(path));
  writeFileSync(join(folder, `${name}.jsonl`), textOf(lines));
  remove();
}

const recorded = readdirSync(folder).filter((name) => name.endsWith(".logs.br"));

if (recording !== undefined) it("records", { timeout: 600_000 }, () => record(recording));
else {
  it.each(recorded)("%s: decided again as they were", { timeout: 60_000 }, async (name) => {
    const { path, remove } = temporaryFolder();
    unpack(readFileSync(join(folder, name)), path);
    const lines = await replayed(path);
    remove();
    const expected = readFileSync(join(folder, name.replace(".logs.br", ".jsonl")), "utf8");
    // Run by run: one text of a megabyte would hide what differs.
    const golden = expected
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as RunLine); // as `textOf` wrote it
    for (const [index, line] of golden.entries()) expect(lines[index]).toEqual(line);
    expect(textOf(lines)).toBe(expected);
  });
}
