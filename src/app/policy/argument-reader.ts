/** The reader of arguments of this process: one thread of parsers serves every policy. */
import { makeSqlParser } from "../../adapters/sql/sql-parser.ts";
import type { ReadValue } from "../../core/reading.ts";
import { makeReadValue } from "../../mechanisms/regulate/readings/read-value.ts";

export const readValue: ReadValue = makeReadValue(makeSqlParser());
