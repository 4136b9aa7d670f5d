/** The mutants of a file in Stryker's report, and their text output. */

/** The parts of the report that are read (mutation-testing-report-schema). */
export type Report = { readonly files: Readonly<Record<string, ReportedFile>> };

type ReportedFile = { readonly source: string; readonly mutants: readonly ReportedMutant[] };
type Place = { readonly line: number; readonly column: number };
type ReportedMutant = {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
};

/** How many mutants a test noticed, of those that could be noticed. */
export type Score = { readonly killed: number; readonly all: number };

export type Judged = { readonly score: Score; readonly survivors: readonly string[] };

const shownCharactersMax = 100;

export function judged(report: Report): Judged {
  const files = Object.entries(report.files);
  const all = files.flatMap(([, { mutants }]) => mutants);
  const count = (...statuses: readonly string[]): number =>
    all.filter(({ status }) => statuses.includes(status)).length;
  const killed = count("Killed", "Timeout");
  const survivors = files.flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === "Survived" || status === "NoCoverage")
      .toSorted((left, right) => compared(left.location.start, right.location.start))
      .map((mutant) => survivorText(file, source, mutant)),
  );
  return { score: { killed, all: killed + survivors.length }, survivors };
}

/** `src/core/verdict.ts:7:10 EqualityOperator: left >= right → left > right`, and that no test came there. */
function survivorText(file: string, source: string, mutant: ReportedMutant): string {
  const { start, end } = mutant.location;
  const before = inOneLine(source.slice(offsetOf(source, start), offsetOf(source, end)));
  const after = inOneLine(mutant.replacement ?? "");
  const unseen = mutant.status === "NoCoverage" ? " (no test of it comes here)" : "";
  return `${file}:${start.line}:${start.column} ${mutant.mutatorName}: ${before} → ${after}${unseen}`;
}

/** Lines and columns of the report begin at 1. */
function offsetOf(source: string, { line, column }: Place): number {
  const linesBefore = source.split("\n").slice(0, line - 1);
  return linesBefore.reduce((length, text) => length + text.length + 1, 0) + column - 1;
}

function inOneLine(code: string): string {
  const line = code.replace(/\s+/g, " ").trim();
  return line.length > shownCharactersMax ? `${line.slice(0, shownCharactersMax)}…` : line;
}

function compared(left: Place, right: Place): number {
  return left.line - right.line || left.column - right.column;
}

export function sum(scores: readonly Score[]): Score {
  const add = (left: Score, right: Score): Score => ({ killed: left.killed + right.killed, all: left.all + right.all });
  return scores.reduce(add, { killed: 0, all: 0 });
}

/** Where there is nothing to change, nothing survived. */
export function percent({ killed, all }: Score): number {
  return all === 0 ? 100 : (killed / all) * 100;
}

/** Rounded down: 100 % only where all were killed. */
export function scoreText(score: Score): string {
  return `${(Math.floor(percent(score) * 10) / 10).toFixed(1)} % (${score.killed} of ${score.all} mutants killed)`;
}
