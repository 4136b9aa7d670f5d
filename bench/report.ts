import { median, type CellFigures, type Figures } from "./measure.ts";
import type { Memory } from "./memory.ts";
import type { SubjectName } from "./subjects.ts";

type Ratios = { readonly p50: number; readonly cpu: number; readonly callsPerSecond: number };

export type CellReport = {
  readonly cell: string;
  readonly subjects: Readonly<Record<string, Figures>>;
  readonly failed: Readonly<Record<string, string>>;
  /** Guarded divided by each other subject: p50 of the whole call, CPU of the processes between, calls a second. */
  readonly ratios: Readonly<Record<string, Ratios>>;
};

export type Report = {
  readonly machine: { readonly node: string; readonly cpu: string; readonly cores: number };
  readonly runs: number;
  readonly missing: string | undefined;
  readonly cells: readonly CellReport[];
  readonly memory: Omit<Memory, "processes"> | undefined;
};

export type Measured = {
  readonly machine: Report["machine"];
  readonly runs: number;
  readonly measured: ReadonlyMap<string, readonly CellFigures[]>;
  readonly memories: readonly Memory[];
  readonly missing: string | undefined;
};

function medianOf(figures: readonly Figures[]): Figures {
  const of = (pick: (figure: Figures) => number): number => median(figures.map(pick));
  return {
    p50Ms: of((figure) => figure.p50Ms),
    addedP50Ms: of((figure) => figure.addedP50Ms),
    cpuMicroseconds: of((figure) => figure.cpuMicroseconds),
    callsPerSecond: of((figure) => figure.callsPerSecond),
  };
}

function summariseCell(cell: string, runs: readonly CellFigures[]): CellReport {
  const subjects: Record<string, Figures> = {};
  const failed: Record<string, string> = {};
  const ratios: Record<string, Ratios> = {};
  const names = new Set<SubjectName>(runs.flatMap((run) => [...run.keys()]));
  for (const name of names) {
    const figures: Figures[] = [];
    for (const run of runs) {
      const found = run.get(name);
      // One failure in any run is a failure: a median over the lucky ones would hide it.
      if (found !== undefined && "failed" in found) failed[name] = found.failed;
      else if (found !== undefined) figures.push(found);
    }
    if (failed[name] === undefined) subjects[name] = medianOf(figures);
  }
  const guarded = subjects["guarded"];
  for (const [name, other] of Object.entries(subjects)) {
    if (guarded === undefined || name === "guarded" || name === "direct") continue;
    ratios[name] = {
      p50: guarded.p50Ms / other.p50Ms,
      cpu: guarded.cpuMicroseconds / other.cpuMicroseconds,
      callsPerSecond: guarded.callsPerSecond / other.callsPerSecond,
    };
  }
  return { cell, subjects, failed, ratios };
}

/** Medians over the runs, and ratios of those medians. */
export function summarise({ machine, runs, measured, memories, missing }: Measured): Report {
  const of = (pick: (memory: Memory) => number): number => median(memories.map(pick));
  const memory =
    memories.length === 0
      ? undefined
      : {
          bareNodeKilobytes: of((each) => each.bareNodeKilobytes),
          shimKilobytes: of((each) => each.shimKilobytes),
          daemonKilobytes: of((each) => each.daemonKilobytes),
        };
  return {
    machine,
    runs,
    missing,
    cells: [...measured].map(([cell, figures]) => summariseCell(cell, figures)),
    memory,
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Prints a table a cell, and guarded against its rivals side by side. */
export function printReport(report: Report): void {
  const { machine, runs, missing } = report;
  console.log(`Node ${machine.node}, ${machine.cores} x ${machine.cpu}; median of ${runs} run(s)`);
  if (missing !== undefined) console.log(`guarded is not measured: ${missing}`);
  for (const { cell, subjects, failed, ratios } of report.cells) {
    console.log(`\n${cell}`);
    const rows = Object.entries(subjects).map(([name, figures]) => ({
      subject: name,
      "p50 ms": rounded(figures.p50Ms, 3),
      "added p50 ms": rounded(figures.addedP50Ms, 3),
      "CPU us a call": rounded(figures.cpuMicroseconds, 0),
      "calls/s": rounded(figures.callsPerSecond, 0),
    }));
    console.table(rows);
    for (const [name, why] of Object.entries(failed)) console.log(`  ${name} failed: ${why.slice(0, 300)}`);
    const texts = Object.entries(ratios).map(
      ([name, ratio]) =>
        `/${name}: p50 ${ratio.p50.toFixed(2)}, CPU ${ratio.cpu.toFixed(2)}, calls/s ${ratio.callsPerSecond.toFixed(2)}`,
    );
    if (texts.length > 0) console.log(`  guarded ${texts.join(" · ")}`);
  }
  if (report.memory === undefined) return;
  const megabytes = (kilobytes: number): string => `${(kilobytes / 1024).toFixed(1)} MB`;
  const { bareNodeKilobytes, shimKilobytes, daemonKilobytes } = report.memory;
  console.log(
    `\nmemory 10 s after 1,000 calls: shim ${megabytes(shimKilobytes)} (bare Node ${megabytes(bareNodeKilobytes)}), daemon ${megabytes(daemonKilobytes)}`,
  );
}
