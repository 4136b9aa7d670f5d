/**
 * Reading of SQL: a statement is a read if its text is taken apart in one way by every reader (`sql-text.ts`), a parser of
 * its dialect reads it whole, and the tree is one SELECT of known parts that calls listed functions only. Views, operators
 * and functions that a database's owner put in the place of listed ones are that owner's.
 */
import { type Json, isArray, member, stringMember } from "../../../core/json.ts";
import type { ParseSql, Reading, SqlDialect } from "../../../core/reading.ts";
import { sqlFunctions, sqlTypes } from "./sql-functions.ts";
import { otherFault } from "./sql-other.ts";
import { postgresFault } from "./sql-postgres.ts";
import { sqlWords } from "./sql-text.ts";
import { namesOf, nodesOf } from "./sql-tree.ts";
import { shown } from "./listing.ts";

export const sqlDialects: readonly SqlDialect[] = ["postgres", "mysql", "mariadb", "sqlite"];

/** Words of the language that a parenthesis may follow. */
const keywords = namesOf(`
  all and any array as between by case cast cross cube distinct else end except exists filter from group grouping having in inner intersect
  is join lateral left like limit materialized natural not on or offset order outer over partition right rollup row select sets similar some
  then union using values when where with glob regexp rlike ilike escape to if interval
`);

export function readSql(parse: ParseSql, dialects: readonly SqlDialect[], value: Json): Reading {
  if (typeof value !== "string") return { kind: "unread", because: "it is no text" };
  for (const dialect of dialects) {
    const found = readText(parse, dialect, value);
    if (found.kind !== "reads") return found;
  }
  return { kind: "reads" };
}

function readText(parse: ParseSql, dialect: SqlDialect, text: string): Reading {
  const words = sqlWords(dialect, text);
  if (!words.ok) return { kind: words.acts ? "acts" : "unread", because: words.because };
  const parsed = parse(dialect, words.text);
  if (!parsed.ok) return { kind: "unread", because: parsed.because };
  const because =
    (dialect === "postgres" ? postgresFault(parsed.tree) : otherFault(dialect, parsed.tree)) ??
    calledFault(dialect, words.called, parsed.tree);
  return because === undefined ? { kind: "reads" } : { kind: "unread", because };
}

/** Two readers agree on what is called: the one of the text, and the parser. */
function calledFault(dialect: SqlDialect, called: readonly string[], tree: Json): string | undefined {
  const own = declared(tree);
  const odd = called.find(
    (name) => !sqlFunctions[dialect].has(name) && !keywords.has(name) && !sqlTypes.has(name) && !own.has(name),
  );
  return odd === undefined ? undefined : `it calls ${shown(odd)}`;
}

/** Names that the statement itself gives to columns in parentheses: `WITH name (a, b)`, `AS name (a, b)`. */
function declared(tree: Json): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { ctename } of nodesOf(tree, "CommonTableExpr")) if (typeof ctename === "string") found.add(ctename);
  for (const alias of nodesOf(tree, "alias")) {
    const name = stringMember(alias, "aliasname") ?? stringMember(member(alias, "name"), "value");
    const columns = member(alias, "colnames") ?? member(alias, "columns");
    if (name !== undefined && isArray(columns) && columns.length > 0) found.add(name.toLowerCase());
  }
  return found;
}
