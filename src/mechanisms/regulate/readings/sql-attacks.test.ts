// Texts that no dialect reads: more than one statement, or more than a reader of SQL is sure of.
import { beforeAll, describe, expect, it } from "vitest";
import { lines, sqlFaults } from "../../../../test/kit/readings/readings.ts";
import type { Json } from "../../../core/json.ts";
import { sqlDialects } from "./sql.ts";
import { sqlDepthMax, sqlUnitsMax } from "./sql-text.ts";

let because: Awaited<ReturnType<typeof sqlFaults>>;
beforeAll(async () => {
  because = await sqlFaults();
});

const attacks = lines(String.raw`
  insert into t values (1)
  update t set a = 1
  delete from t
  drop table t
  truncate t
  alter table t add a int
  create table t (a int)
  create table t as select 1
  create view v as select 1
  grant all on t to public
  revoke all on t from public
  replace into t values (1)
  merge into t using u on a = b when matched then delete
  begin
  commit
  rollback
  savepoint x
  set a = 1
  explain delete from t
  explain analyze delete from t
  call p()
  values (1)
  table t
  select 1; drop table t
  select 1; select 2
  select 1;; drop table t
  select 1 ; -- x
  select 1 -- x
  select 1 /* x */
  select/**/1
  select 1 /*!50000 ; drop table t */
  /*!50000 drop table t */
  /*! select 1 */
  select /*+ SET_VAR(sql_mode='') */ 1
  select 1 into x
  select a into t2 from t
  select a from t for update
  select a from t for share
  select a from t for update skip locked
  with x as (delete from t returning *) select * from x
  with x as (insert into t values (1) returning *) select * from x
  with x as (update t set a = 1 returning *) select * from x
  with x as (select 1) delete from t
  with x as (select 1) insert into t select * from x
  with x as (select 1) update t set a = 1
  select 'a\'; drop table t; --'
  select 'a\\'
  select "a\"; drop table t; --"
  select E'\x27; drop table t'
  select e'a'
  select U&'\0027'
  select U&"a" from t
  select x'00'
  select b'1'
  select n'a'
  select _utf8'a'
  select $$a$$
  select $x$; drop table t; $x$
  select $1
  select @a :: frob
  select @a := 1
  select :a
  select ?
  select {fn now()}
  select 'a
  select "a
  select (1
  select 1)
  select f(1)
  select s.f(1)
  select "f"(1)
  select unknown_function(a) from t
  select a from f(1)
  select * from f
    (1)
  selec 1
  ex select 1
`);
describe("what does more, or cannot be read", () => {
  it.each(attacks.filter((text) => !["select * from f", "(1)"].includes(text)))("%s, in no dialect", (text) => {
    for (const dialect of sqlDialects) expect([dialect, because(dialect, text)]).toEqual([dialect, expect.any(String)]);
  });

  it.each([
    ["zero byte", "select 1\0; drop table t"],
    ["zero byte in quotes", "select '\0'"],
    ["line end in quotes", "select 'a\nb'"],
    ["a letter that looks like a quote", "select \u2019a\u2019"],
    ["a space that is no blank", "select\u00a01"],
    ["a form feed", "select\f1"],
    ["a name with other letters", "select \u0430 from t"],
    ["a byte order mark", "\ufeffselect 1"],
    ["a mark that turns text round", "select '1' \u202e"],
    ["too long", `select '${"a".repeat(sqlUnitsMax)}'`],
    ["too deep", `select ${"(".repeat(sqlDepthMax + 1)}1${")".repeat(sqlDepthMax + 1)}`],
    ["too many words", `select ${"a,".repeat(3_000)}a`],
    ["many words", `select ${Array.from({ length: 2_100 }, () => "a").join(" ")}`],
    ["empty", ""],
    ["blank", " \n"],
    ["a semicolon alone", ";"],
    ["a number", "1"],
  ])("%s", (_name, text) => {
    for (const dialect of sqlDialects) expect([dialect, because(dialect, text)]).toEqual([dialect, expect.any(String)]);
  });

  it.each<[Json]>([[null], [1], [true], [[]], [["select 1"]], [{ sql: "select 1" }]])("no text: %j", (value) => {
    expect(because("postgres", value)).toBe("it is no text");
  });
});
