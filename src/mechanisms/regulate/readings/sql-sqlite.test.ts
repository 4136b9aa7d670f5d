// The reader beside a real SQLite: what it calls a read changes nothing there, and calls nothing that is not listed.
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, it } from "vitest";
import { sqlStatements } from "../../../../test/kit/sql/statements.ts";
import { loadSqlParsers } from "../../../adapters/sql/parsers.ts";
import { readSql } from "./sql.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 10;

type Bench = { readonly database: DatabaseSync; readonly acted: () => number };

function bench(): Bench {
  const database = new DatabaseSync(":memory:");
  let count = 0;
  const act = (): number => (count += 1);
  // Every name that the statements use for something that acts is a function here.
  for (const name of ["act", "pg_sleep", "nextval", "setval", "lo_create", "set_config", "pg_notify", "t", "g", "evil"])
    database.function(name, { varargs: true }, act);
  database.exec(`
    create table t (a, b, c); create table u (a, b);
    insert into t values (1, 'x', null), (2, 'y', 3); insert into u values (1, 1);
  `);
  return { database, acted: () => count };
}

/** All that a statement could change: rows, schema, settings, attached files. */
function stateOf({ database, acted }: Bench): string {
  const all = (sql: string): unknown => database.prepare(sql).all();
  const settings =
    "user_version application_id journal_mode writable_schema schema_version foreign_keys synchronous".split(" ");
  return JSON.stringify([
    acted(),
    all("select total_changes()"),
    all("select * from sqlite_master"),
    all("pragma database_list"),
    settings.map((name) => all(`pragma ${name}`)),
    all("select * from t"),
  ]);
}

it("no statement that the reader calls a read changes a database of SQLite", async () => {
  const parse = await loadSqlParsers();
  const one = bench();
  const before = stateOf(one);
  let read = 0;
  let ran = 0;
  fc.assert(
    fc.property(sqlStatements, (text) => {
      if (readSql(parse, ["sqlite"], text).kind !== "reads") return;
      read += 1;
      try {
        one.database.exec(text);
        ran += 1;
      } catch {
        // A read may fail, for instance because it names a column that is not there.
      }
      expect([text, stateOf(one)]).toEqual([text, before]);
    }),
    { numRuns: runs },
  );
  // The property says something: many of them are reads, and run.
  expect(read).toBeGreaterThan(runs / 50);
  expect(ran).toBeGreaterThan(runs / 400);
});
