// Statements that only read, and what the reader says of others.
import { beforeAll, describe, expect, it } from "vitest";
import { lines, sqlFaults } from "../../../../test/kit/readings/readings.ts";
import { loadSqlParsers } from "../../../adapters/sql/parsers.ts";
import type { SqlDialect } from "../../../core/reading.ts";
import { readSql, sqlDialects } from "./sql.ts";

let because: Awaited<ReturnType<typeof sqlFaults>>;
beforeAll(async () => {
  because = await sqlFaults();
});

const everywhere = lines(`
  select 1
  SELECT 1;
  select a from t
  select * from t where a = 'x' and b <> 2 or not c
  select t.a, u.b as c from t join u on u.id = t.id left join v using (id)
  select count(*), sum(a), avg(b), min(c), max(d) from t group by e having count(*) > 1
  select distinct a from t order by a desc, b limit 10 offset 5
  select a from t where b in (1, 2, 3) and c between 1 and 2 and d like 'x%' and e is not null
  select a from t where b in (select b from u where u.c = t.c) and exists (select 1 from v)
  select case when a > 1 then 'x' else 'y' end from t
  select coalesce(a, 'none'), lower(b), upper(c), length(d), round(e, 2), abs(f) from t
  with x as (select a from t) select * from x
  with x (a) as (select 1), y as (select a from x) select * from x, y
  with recursive n (i) as (select 1 union all select i + 1 from n where i < 5) select i from n
  select a from t union select b from u
  select (select max(a) from t) as most
  select a from (select a, b from t) as s where s.b > 1
  select row_number() over (partition by a order by b) from t
  select 'it''s; drop table t --' as text
  select "a b" from t
  select a, -b, a + b * c / d from t
  select cast(a as integer), cast(b as text) from t
`).filter((text) => !text.includes("as text) from"));
describe("what only reads", () => {
  it.each(everywhere)("%s, in each dialect", (text) => {
    for (const dialect of sqlDialects)
      if (!(dialect.startsWith("m") && text.includes("cast(")))
        expect([dialect, because(dialect, text)]).toEqual([dialect, undefined]);
  });

  it.each(
    lines(`
      select now() - interval '7 days', date_trunc('day', a) from t
      select a::text, b::numeric(10,2), c::date from t
      select data->>'a', data->'b', data @> '{"a": 1}' from t where a ~* 'x'
      select a[1], array[1,2], array_agg(b order by c) from t group by 1
      select * from generate_series(1, 5) as g(n)
      select g.n from generate_series(1, 5) as g(n)
      select count(*) filter (where a) from t
      select extract(year from a), position('x' in b), substring(c from 1 for 2), trim(both from d), a at time zone 'utc' from t
      select a from t where b ilike '%x%' and c = any(array[1,2]) and d similar to 'x'
      select string_agg(a, ',' order by b) from t
      select distinct on (a) a, b from t order by a, b
      select a from only t
      select a from s.t
      select * from pg_stat_activity
      select table_name from information_schema.columns where table_schema = 'public'
      select a, lag(b) over w from t window w as (order by c)
      select grouping(a) from t group by rollup (a)
      select current_user, current_date, current_timestamp
      select a from t order by b nulls last
      select a from t limit all
      select t.* from t cross join lateral (select 1) x
      select row(1, 2) = row(a, b) from t
      select a is distinct from b, a is true, greatest(a, b), nullif(a, b) from t
      select pg_size_pretty(pg_total_relation_size('t'::regclass))
      select to_tsvector('english', a) @@ plainto_tsquery('x') from t
      select j.key, j.value from jsonb_each('{}') as j
      select a collate "C" from t
    `),
  )("PostgreSQL: %s", (text) => {
    expect(because("postgres", text)).toBeUndefined();
  });

  it.each(
    lines(`
      SELECT name FROM sqlite_master WHERE type='table'
      select strftime('%Y', a), date('now'), ifnull(b, 0), typeof(c) from t
      select a || 'x', a collate nocase from t
      select * from json_each('[1]')
      select json_extract(a, '$.b'), group_concat(c, ',') from t
      select max(a, b), min(a, b), total(c), instr(d, 'x'), substr(d, 1, 2) from t
      select cast(a as integer), cast(b as text), cast(c as varchar(10)) from t
      select rowid, * from t
      select \`a\` from t
    `),
  )("SQLite: %s", (text) => {
    expect(because("sqlite", text)).toBeUndefined();
  });

  it.each(
    lines(`
      select \`a\` from \`s\`.\`t\` as \`x\` limit 5, 10
      select date_format(a, '%Y'), if(b, 1, 2), ifnull(c, 0), concat(d, e) from t
      select date_add(a, interval 1 day), unix_timestamp(b) from t
      select group_concat(a order by b separator ',') from t
      select count(distinct a) from t where b <=> null and c regexp 'x' and d rlike 'y'
      select a % b, a xor b from t
      select cast(a as unsigned), cast(b as char), cast(c as signed) from t
      select table_name from information_schema.tables
      select "text" from t
    `),
  )("MySQL and MariaDB: %s", (text) => {
    expect(because("mysql", text)).toBeUndefined();
    expect(because("mariadb", text)).toBeUndefined();
  });
});
describe("what it says", () => {
  it.each<[SqlDialect, string, string]>([
    ["postgres", "select pg_sleep(1)", "it calls pg_sleep"],
    ["postgres", "select public.f(1)", "it calls public.f"],
    ["postgres", "select 'x'::evil", "it casts to evil"],
    ["postgres", "select a into b from t", "it holds INTO"],
    ["postgres", "select a from t for share", "it locks rows"],
    ["postgres", "select 1 frob 2", "no parser of PostgreSQL reads it"],
    ["postgres", "select 1; drop table t", "it is more than one statement"],
    ["postgres", "drop table t", "it begins with DROP"],
    ["sqlite", "select * from pragma_optimize", "it runs pragma_optimize"],
    ["mysql", "select a from t for share", "it locks rows"],
    ["mysql", "select sleep(5)", "it calls sleep"],
    ["mysql", "select 1 # x", "it holds a comment"],
    ["sqlite", "frob", "it does not begin with SELECT"],
  ])("%s: %s", (dialect, text, said) => {
    expect(because(dialect, text)).toBe(said);
  });

  it("a statement that begins as one that acts surely acts; what is only unknown does not", async () => {
    const parse = await loadSqlParsers();
    expect(readSql(parse, ["postgres"], "delete from t").kind).toBe("acts");
    expect(readSql(parse, ["postgres"], "delete from t; select 1").kind).toBe("acts");
    expect(readSql(parse, ["postgres"], "select f(1)").kind).toBe("unread");
  });

  it("without a dialect a statement is a read only where all take it for one", async () => {
    const parse = await loadSqlParsers();
    expect(readSql(parse, sqlDialects, "select a from t").kind).toBe("reads");
    expect(readSql(parse, sqlDialects, "select to_char(a, 'x') from t").kind).toBe("unread");
  });
});
