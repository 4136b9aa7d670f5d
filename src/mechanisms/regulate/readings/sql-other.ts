/**
 * Trees of `sqlparser`, the parser of Apache DataFusion, for SQLite, MySQL and MariaDB. A node is `{Kind: {member: value}}`
 * or the name of a kind without members; members that are absent are left out or empty.
 */
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import type { SqlDialect } from "../../../core/reading.ts";
import { sqlFunctions, sqlTypes } from "./sql-functions.ts";
import { type Fault, type Grammar, faultOfTree, namesOf } from "./sql-tree.ts";
import { shown } from "./listing.ts";

const known = namesOf(`
  Query body Select distinct Distinct projection UnnamedExpr ExprWithAlias expr alias Identifier CompoundIdentifier value quote_style name
  from relation joins join_operator Join Inner Left LeftOuter Right RightOuter CrossJoin On Using NaturalJoin Natural constraint
  Table explicit columns args Derived subquery lateral selection group_by Expressions having named_window over window_name
  WindowSpec partition_by order_by window_frame
  units start_bound end_bound Preceding Following kind options asc nulls_first limit_clause LimitOffset limit offset rows OffsetCommaLimit
  with recursive cte_tables query materialized SetOperation op set_quantifier left right Subquery Exists negated Nested
  BinaryOp UnaryOp IsNull IsNotNull IsTrue IsNotTrue IsFalse IsNotFalse Between low high InList list InSubquery Like pattern any
  escape_char
  RLike regexp Case operand conditions condition result else_result Cast data_type Function List Unnamed Expr Wildcard Value
  SingleQuotedString
  DoubleQuotedString Number Boolean Tuple Collate collation Interval leading_field leading_precision last_field
  fractional_seconds_precision
  Extract field syntax Substring substring_from substring_for special shorthand Trim trim_where trim_what trim_characters Position in
  Ceil Floor filter duplicate_treatment null_treatment clauses OrderBy Separator QualifiedWildcard ObjectName Values IsDistinctFrom
  IsNotDistinctFrom DateTimeField Scale TypedString flavor uses_odbc_syntax parameters array format_clause Precision
  PrecisionAndScale IntegerLength
  length unit
`);

const ignored = namesOf(
  "span token select_token case_token end_token with_token closing_paren_token wildcard_token attached_token explicit_row value_keyword",
);

const empty = namesOf(`
  locks pipe_operators lateral_views connect_by cluster_by distribute_by sort_by with_hints partitions index_hints optimizer_hints
  within_group top_before_distinct window_before_qualify global with_ordinality sample limit_by explicit_row value_keyword
`);

/** A type is judged by its name; the rest of it is a length. */
const closed: ReadonlySet<string> = new Set(["data_type"]);

const words: { readonly [kind: string]: string } = {
  locks: "it locks rows",
  into: "it writes INTO something",
  Insert: "it inserts",
  Update: "it updates",
  Delete: "it deletes",
};

/** Operators, all of them of the language itself; `:=` is `Assignment` and not here. */
const operators = namesOf(`
  Plus Minus Multiply Divide Modulo StringConcat Gt Lt GtEq LtEq Spaceship Eq NotEq And Or Xor BitwiseOr BitwiseAnd BitwiseXor Not
  PGBitwiseShiftLeft PGBitwiseShiftRight PGBitwiseXor MyIntegerDivide Arrow LongArrow Match Regexp DuckIntegerDivide BitwiseNot
  PGBitwiseNot BangNot
  Union Except Intersect All None Distinct
`);

export function otherFault(dialect: SqlDialect, tree: Json): Fault {
  if (!isArray(tree) || tree.length !== 1) return "it is not one statement";
  if (member(tree[0], "Query") === undefined) return "it is no SELECT";
  return faultOfTree(grammarOf(dialect), tree);
}

function grammarOf(dialect: SqlDialect): Grammar {
  const looks = new Map<string, (value: Json) => Fault>([
    ["Function", (value) => functionFault(dialect, value)],
    ["Table", (value) => tableFault(dialect, value)],
    ["data_type", typeFault],
    [
      "op",
      (value) =>
        typeof value === "string" && operators.has(value) ? undefined : "it uses an operator that is not listed",
    ],
    ["parameters", (value) => (value === "None" ? undefined : "it gives parameters to a function")],
    ["flavor", (value) => (value === "Standard" ? undefined : "it is written in an odd order")],
    ["uses_odbc_syntax", (value) => (value === false ? undefined : "it calls a function by braces")],
  ]);
  return {
    known,
    ignored,
    empty,
    closed,
    looks,
    words: (kind) => words[kind] ?? `it holds ${shown(kind)}, which is not read`,
  };
}

/** One plain name; undefined for a quoted one, or one of several parts. */
function plainName(value: Json | undefined): string | undefined {
  if (!isArray(value) || value.length !== 1) return undefined;
  const own = member(value[0], "Identifier");
  const quote = member(own, "quote_style");
  return quote === undefined || quote === null ? stringMember(own, "value")?.toLowerCase() : undefined;
}

function functionFault(dialect: SqlDialect, value: Json): Fault {
  const name = plainName(member(value, "name"));
  if (name === undefined) return "it calls a function by a name of several parts";
  return sqlFunctions[dialect].has(name) ? undefined : `it calls ${shown(name)}`;
}

/** A table, or a listed function in its place. `pragma_x` is a table of SQLite that runs the pragma. */
function tableFault(dialect: SqlDialect, value: Json): Fault {
  const name = member(value, "name");
  const args = member(value, "args");
  if (isObject(args)) return functionFault(dialect, value);
  const parts = isArray(name) ? name.map((part) => stringMember(member(part, "Identifier"), "value")) : [undefined];
  const odd = parts.find((part) => part === undefined || /^pragma_/i.test(part));
  if (parts.length > 3 || parts.includes(undefined)) return "it reads from something that is no table";
  return odd === undefined ? undefined : `it runs ${shown(odd)}`;
}

function typeFault(value: Json): Fault {
  const [kind, ...more] = typeof value === "string" ? [value] : isObject(value) ? Object.keys(value) : [];
  const words =
    kind
      ?.replace(/(?<=[a-z])(?=[A-Z])/g, " ")
      .toLowerCase()
      .split(" ") ?? [];
  const plain = more.length === 0 && words.length > 0 && words.every((word) => sqlTypes.has(word));
  return plain ? undefined : `it casts to ${shown(kind ?? "")}`;
}
