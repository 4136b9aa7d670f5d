/** What a command says: JSON for machines, sentences for people; and the exit codes of DESIGN 6. */
import type { Command } from "commander";

/** 0 ok, 1 a finding or a refusal, 2 usage, configuration or environment. */
export type ExitCode = 0 | 1 | 2;

export type Outcome = {
  readonly exitCode: ExitCode;
  /** Undefined where the command has written its answer itself. */
  readonly json: unknown;
  /** Lines for people; goes to standard output, or to standard error where the exit code is 2. */
  readonly text: string;
};

export function failure(code: string, sentence: string): Outcome {
  const plain = visible(sentence);
  return { exitCode: 2, json: { ok: false, error: { code, message: plain } }, text: plain };
}

/** Prints an outcome and leaves its exit code for the process. */
export function print(outcome: Outcome, asJson: boolean): void {
  process.exitCode = outcome.exitCode;
  if (asJson && outcome.json === undefined) return;
  if (asJson) process.stdout.write(`${JSON.stringify(outcome.json, undefined, 2)}\n`);
  else if (outcome.text !== "") (outcome.exitCode === 2 ? process.stderr : process.stdout).write(`${outcome.text}\n`);
}

/** Adds the action of a command whose outcome is printed as its `--json` says. */
export function acts<A extends unknown[]>(
  command: Command,
  run: (options: Readonly<Record<string, unknown>>, ...words: A) => Promise<Outcome> | Outcome,
): Command {
  return command.option("--json", "print JSON for machines").action(async (...all: unknown[]) => {
    const options: Readonly<Record<string, unknown>> = command.opts();
    // The framework passes the words of the command line, then options, then the command itself.
    const words = all.slice(0, -2) as A;
    print(await run(options, ...words), options["json"] === true);
  });
}

/** A sentence that quotes text from outside: what would move the cursor or turn the line is shown as an escape. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Text from outside for a terminal: control and invisible characters are shown as escapes, and it is cut. */
export function shown(text: string, lengthMax = 200): string {
  const escaped = visible(text);
  return escaped.length <= lengthMax ? escaped : `${escaped.slice(0, lengthMax - 1)}…`;
}

/** A path as a sentence can hold it: its end, which tells files apart, and nothing that could end a line. */
export function shortPath(path: string, lengthMax = 80): string {
  const plain = shown(path, 4_096);
  return plain.length <= lengthMax ? plain : `...${plain.slice(3 - lengthMax)}`;
}

/** A number with its noun: `1 call`, `2 calls`. */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** User-facing sentences have at most this many characters; what was quoted into one is cut. */
export const sentenceMax = 240;

/** Columns of equal width, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(index === row.length - 1 ? 0 : (widths[index] ?? 0))).join("  "))
    .join("\n");
}
