/** What the readers of commands and statements say, for tables of texts. */
import { loadSqlParsers } from "../../../src/adapters/sql/parsers.ts";
import type { Json } from "../../../src/core/json.ts";
import type { SqlDialect } from "../../../src/core/reading.ts";
import { type CommandLanguage, readCommand } from "../../../src/mechanisms/regulate/readings/commands.ts";
import { readSql } from "../../../src/mechanisms/regulate/readings/sql.ts";

/** One text a line, without the blanks around it. */
export const lines = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Why the value is no read; undefined where it is one. */
export function commandFault(language: CommandLanguage, value: Json): string | undefined {
  const found = readCommand(language, value);
  return found.kind === "reads" ? undefined : found.because;
}

/** The same of SQL, with the parsers in this thread. */
export async function sqlFaults(): Promise<(dialect: SqlDialect, value: Json) => string | undefined> {
  const parse = await loadSqlParsers();
  return (dialect, value) => {
    const found = readSql(parse, [dialect], value);
    return found.kind === "reads" ? undefined : found.because;
  };
}
