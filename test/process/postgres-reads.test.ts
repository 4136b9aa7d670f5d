// The reader beside a real PostgreSQL: what it calls a read runs in a read-only transaction, by a user who may call the
// listed functions and those behind operators and types, and no others.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { loadSqlParsers } from "../../src/adapters/sql/parsers.ts";
import { sqlFunctions } from "../../src/mechanisms/regulate/readings/sql-functions.ts";
import { readSql } from "../../src/mechanisms/regulate/readings/sql.ts";
import { sqlStatements } from "../kit/sql/statements.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 40;

const versions = "/usr/lib/postgresql";
const version = existsSync(versions) ? readdirSync(versions).toSorted().at(-1) : undefined;
const programs = version === undefined ? "" : join(versions, version, "bin");
// PostgreSQL refuses to run as root; its package brings a user.
const isRoot = process.getuid?.() === 0;
const missing =
  !existsSync(join(programs, "initdb")) || (isRoot && spawnSync("runuser", ["-u", "postgres", "true"]).status !== 0);

const folder = missing ? "" : mkdtempSync(join(tmpdir(), "sg-postgres-"));
const data = join(folder, "data");

function run(program: string, ...args: readonly string[]): string {
  const command = [join(programs, program), ...args];
  const [first = "", ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
  const made = spawnSync(first, rest, { encoding: "utf8", cwd: folder, maxBuffer: 2 ** 28, timeout: 120_000 });
  return `${made.stdout}${made.stderr}`;
}

const sql = (file: string, text: string, user: string): string => {
  const path = join(folder, file);
  writeFileSync(path, text);
  return run("psql", "-X", "-q", "-h", folder, "-U", user, "-d", "postgres", "-v", "VERBOSITY=verbose", "-f", path);
};

afterAll(() => {
  if (missing) return;
  run("pg_ctl", "-D", data, "-m", "immediate", "stop");
  rmSync(folder, { recursive: true, force: true });
});

const listed = [...sqlFunctions.postgres].map((name) => `'${name}'`).join(", ");
const setup = `
  create table t (a int, b text, c int); create table u (a int, b text);
  insert into t values (1, 'x', null), (2, 'y', 3); insert into u values (1, 'x');
  create sequence s;
  create function act() returns int language sql as 'select 1';
  create function act(int) returns int language sql as 'select 1';
  create function act(text) returns int language sql as 'select 1';
  create domain evil as text;
  create role reader login;
  grant all on all tables in schema public to reader;
  grant all on sequence s to reader;
  grant all on schema public to reader;
  revoke execute on all functions in schema pg_catalog, public from public;
  do $do$ declare f regprocedure; begin
    for f in select p.oid from pg_proc p where proname in (${listed})
      or exists (select 1 from pg_operator where oprcode = p.oid) or exists (select 1 from pg_cast where castfunc = p.oid)
      or p.oid::oid in (select typinput from pg_type union select typoutput from pg_type)
    loop execute format('grant execute on function %s to public', f); end loop;
  end $do$;
`;

/** Codes of errors that say that a statement wrote, or called what is not listed. */
const broken = /ERROR: {2}(25006|42501|25001|2D000|25P01):[^\n]*/;

describe.skipIf(missing)("with PostgreSQL", () => {
  if (!missing) chmodSync(folder, 0o777);

  it(
    "no statement that the reader calls a read writes, or calls a function that is not listed",
    { timeout: 180_000 },
    async () => {
      run("initdb", "-D", data, "-A", "trust", "-U", "owner", "--no-sync", "--no-instructions");
      run(
        "pg_ctl",
        "-w",
        "-D",
        data,
        "-l",
        join(folder, "log"),
        "-o",
        `-k ${folder} -c listen_addresses= -c fsync=off`,
        "start",
      );
      expect(sql("setup.sql", setup, "owner")).toBe("");
      const parse = await loadSqlParsers();
      const reads: string[] = [];
      fc.assert(
        fc.property(sqlStatements, (text) => {
          if (readSql(parse, ["postgres"], text).kind === "reads")
            reads.push(text.replace(/;\s*$/, "").replaceAll("\n", " "));
        }),
        { numRuns: runs },
      );
      const each = [...new Set(reads)];
      expect(each.length).toBeGreaterThan(runs / 50);
      const script = each.map((text, index) => `\\warn ===${index}\nbegin read only;\n${text};\nrollback;`).join("\n");
      const said = sql("reads.sql", `set statement_timeout = '2s';\n${script}`, "reader");
      const wrong = said
        .split("===")
        .filter((part) => broken.test(part))
        .map((part) => [each[Number.parseInt(part, 10)], broken.exec(part)?.[0]]);
      expect(wrong).toEqual([]);
      // The comparison could fail: these are what it is there to find.
      const bad = [
        "select pg_sleep(0)",
        "select act(1)",
        "delete from t",
        "select nextval('s')",
        "select x.pg_sleep from generate_series(0, 0) as x",
        "select (0).pg_sleep",
      ];
      for (const text of bad)
        expect([text, broken.test(sql("bad.sql", `begin read only;\n${text};\nrollback;`, "reader"))]).toEqual([
          text,
          true,
        ]);
      // A read ends: most of them run.
      const errors = said.split("===").filter((part) => part.includes("ERROR:")).length;
      expect(errors).toBeLessThan(each.length * 0.8);
    },
  );
});
