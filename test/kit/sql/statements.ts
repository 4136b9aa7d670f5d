/**
 * Statements for comparing a reader with a real database: queries that a user would write, with parts that act put in
 * anywhere, and texts that were changed letter by letter and word by word.
 */
import fc from "fast-check";

/** Calls, clauses and statements that do more than read in some dialect. */
const acting = [
  "act()",
  "act(1)",
  "pg_sleep(0)",
  "nextval('s')",
  "setval('s', 9)",
  "set_config('a.b', 'c', false)",
  "lo_create(0)",
  "load_extension('x')",
  "(1).act",
  "x.act",
  "g.act",
  "(select act())",
  "pg_notify('a', 'b')",
  "current_setting('port')",
  "'a'::evil",
  "(delete from t)",
  "(delete from t returning 1)",
  "pragma_optimize",
  "(pragma user_version = 7)",
];
const clauses = [
  "into v",
  "into outfile '/tmp/x'",
  "for update",
  "for share",
  "; delete from t",
  "; drop table t",
  ";",
  "-- x",
  "/* x */",
  "/*! ; drop table t */",
  "returning a",
  "union select act()",
  "union delete from t",
  "where act() is null",
  "group by act()",
  "order by act()",
  "limit act()",
  "window w as (order by act())",
  "lock in share mode",
  "\\",
  "$$",
  "$x$",
  "E'",
  "'",
  '"',
  "`",
  "\0",
  "\n",
  "#",
  "@",
  ":=",
];
const statements = [
  "delete from t",
  "update t set a = 9",
  "insert into t values (9, 9, 9)",
  "drop table t",
  "pragma user_version = 7",
  "attach 'x' as y",
  "vacuum",
  "truncate t",
  "create table v as select 1",
  "copy t to '/tmp/x'",
  "with x as (delete from t returning *) select * from x",
  "with x as (insert into t values (9, 9, 9) returning *) select * from x",
  "explain analyze delete from t",
  "do $$ begin delete from t; end $$",
  "select * into v from t",
  "replace into t values (9, 9, 9)",
];

const acts = fc.constantFrom(...acting);
const few = { depthSize: "small", withCrossShrink: true } as const;

/** Numbers, texts and conditions, so that a typed database runs most of them. */
const { value, number, text, condition } = fc.letrec<{
  value: string;
  number: string;
  text: string;
  condition: string;
}>((tie) => {
  const number = tie("number");
  const text = tie("text");
  const condition = tie("condition");
  const joined = (words: readonly string[], left: fc.Arbitrary<string>, right: fc.Arbitrary<string>) =>
    fc.tuple(left, fc.constantFrom(...words), right).map((parts) => parts.join(" "));
  return {
    number: fc.oneof(
      few,
      { weight: 12, arbitrary: fc.constantFrom("a", "c", "1", "0", "a", "c", "null", "length(b)") },
      { weight: 1, arbitrary: acts },
      { weight: 3, arbitrary: joined(["+", "-", "*"], number, number) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom("abs", "coalesce", "act", "pg_sleep"), number)
          .map(([name, one]) => `${name}(${one})`),
      },
      { weight: 2, arbitrary: number.map((one) => `(${one})`) },
      {
        weight: 2,
        arbitrary: fc.tuple(condition, number).map(([when, then]) => `case when ${when} then ${then} else 0 end`),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(number, condition).map(([one, where]) => `(select max(${one}) from t where ${where})`),
      },
    ),
    text: fc.oneof(
      few,
      { weight: 8, arbitrary: fc.constantFrom("b", "'x'", "'it''s'", '"b"') },
      { weight: 2, arbitrary: text.map((one) => `lower(${one})`) },
      { weight: 2, arbitrary: joined(["||"], text, text) },
      { weight: 1, arbitrary: number.map((one) => `cast(${one} as text)`) },
      { weight: 1, arbitrary: acts },
    ),
    condition: fc.oneof(
      few,
      { weight: 4, arbitrary: joined(["<", "=", "<>", ">="], number, number) },
      { weight: 3, arbitrary: joined(["like", "=", "not like"], text, text) },
      { weight: 2, arbitrary: number.map((one) => `${one} is not null`) },
      { weight: 2, arbitrary: joined(["and", "or"], condition, condition) },
      { weight: 1, arbitrary: condition.map((one) => `not (${one})`) },
      { weight: 1, arbitrary: number.map((one) => `exists (select ${one} from u where a = 1)`) },
      {
        weight: 1,
        arbitrary: fc.tuple(number, number).map(([one, other]) => `${one} in (select a from u where a > ${other})`),
      },
    ),
    value: fc.oneof(
      { weight: 4, arbitrary: number },
      { weight: 2, arbitrary: text },
      { weight: 2, arbitrary: condition },
      { weight: 1, arbitrary: number.map((one) => `sum(a) over (order by ${one})`) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          "*",
          "t.a",
          "count(*) over ()",
          "x.a",
          "g",
          "g.n",
          "now()",
          "a::text",
          "array[1, 2]",
        ),
      },
    ),
  };
});

const source = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("t", "u", "t join u on t.a = u.a", "t as x", "t, u", "t left join u using (a)"),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "(select * from t) as x",
      "generate_series(1, 2) as g",
      "generate_series(1, 2) as g(n)",
      "json_each('[1]') as x",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("act() as x", "pragma_optimize", "'t'", "fsdir('/')", "pragma_user_version"),
  },
);

const query = fc
  .record({
    with: fc.option(
      fc.constantFrom(
        "with x as (select 1 as a)",
        "with recursive x(a) as (select 1)",
        "with x as (delete from t returning *)",
      ),
      { freq: 6 },
    ),
    columns: fc.array(value, { minLength: 1, maxLength: 3 }),
    from: fc.option(source, { freq: 6 }),
    where: fc.option(condition),
    order: fc.option(fc.oneof(number, text), { freq: 4 }),
    tail: fc.option(fc.constantFrom(...clauses, "limit 1", "order by 1", "group by 1"), { freq: 3 }),
  })
  .map((parts) =>
    [
      parts.with,
      `select ${parts.columns.join(", ")}`,
      parts.from === null ? null : `from ${parts.from}`,
      parts.where === null ? null : `where ${parts.where}`,
      parts.order === null ? null : `order by ${parts.order}`,
      parts.tail,
    ]
      .filter((part) => part !== null)
      .join(" "),
  );

/** Words taken out, doubled, exchanged and put in. */
const changed = fc
  .tuple(
    fc.oneof(query, fc.constantFrom(...statements)),
    fc.array(
      fc.tuple(
        fc.nat(200),
        fc.nat(4),
        fc.constantFrom(...clauses, ...acting, "select", "from", "(", ")", ",", ".", "as", "x"),
      ),
      { maxLength: 3 },
    ),
  )
  .map(([text, changes]) => {
    let words = text.split(/(\s+|\b)/);
    for (const [place, kind, word] of changes) {
      const at = place % (words.length + 1);
      if (kind === 0) words.splice(at, 1);
      else if (kind === 1) words.splice(at, 0, word);
      else if (kind === 2) words.splice(at, 1, word);
      else if (kind === 3) words.splice(at, 0, words[(at * 7) % words.length] ?? "");
      else words = [...words.slice(at), ...words.slice(0, at)];
    }
    return words.join("");
  });

export const sqlStatements: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: query },
  { weight: 3, arbitrary: changed },
  { weight: 1, arbitrary: fc.constantFrom(...statements) },
);
