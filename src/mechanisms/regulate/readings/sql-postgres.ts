/**
 * Trees of PostgreSQL's own parser (libpg_query). A node is `{KIND: {member: value}}`; members at their default are left
 * out. One SELECT is read: no other statement stands anywhere in it, `INTO` and locks are members that are not known, and
 * functions, types and operators are of the shipped lists.
 */
import { type Json, isArray, isObject, member, stringMember } from "../../../core/json.ts";
import { postgresOperators, sqlFunctions, sqlTypes } from "./sql-functions.ts";
import { type Fault, type Grammar, faultOfTree, namesOf, nodesOf, textsIn } from "./sql-tree.ts";
import { shown } from "./listing.ts";

const known = namesOf(`
  SelectStmt ResTarget ColumnRef String A_Star A_Const FuncCall TypeCast JoinExpr RangeVar RangeSubselect RangeFunction List Integer
  BoolExpr A_Expr A_ArrayExpr A_Indirection A_Indices RowExpr SQLValueFunction CoalesceExpr MinMaxExpr CaseExpr CaseWhen SubLink NullTest
  BooleanTest SortBy WindowDef CollateClause GroupingFunc GroupingSet CommonTableExpr SetToDefault
  stmt targetList val fields sval name fromClause whereClause groupClause groupDistinct havingClause sortClause limitCount limitOffset
  limitOption op all larg rarg distinctClause windowClause withClause valuesLists funcname args agg_star agg_distinct agg_filter agg_order
  agg_within_group over funcformat func_variadic arg typeName names typemod typmods arrayBounds typeOid ival fval boolval bsval isnull
  items boolop kind lexpr rexpr elements indirection uidx lidx is_slice row_format colnames typmod expr result defresult
  subLinkType testexpr
  operName subselect nulltesttype argisrow booltesttype node sortby_dir sortby_nulls partitionClause orderClause frameOptions startOffset
  endOffset refname collname content ctes recursive ctename aliascolnames ctematerialized ctequery ctetype cterecursive jointype larg rarg
  isNatural usingClause quals alias aliasname rtindex relname schemaname inh relpersistence subquery lateral functions ordinality
  is_rowsfrom
  join_using_alias multidims
`);

const ignored = namesOf("location stmt_location stmt_len rexpr_list_start rexpr_list_end list_start list_end");

const words: { readonly [kind: string]: string } = {
  intoClause: "it writes INTO a table",
  lockingClause: "it locks rows",
  InsertStmt: "it inserts",
  UpdateStmt: "it updates",
  DeleteStmt: "it deletes",
  MergeStmt: "it merges",
  coldeflist: "it names columns of a function's result",
};

const grammar = (tree: Json): Grammar => ({
  known,
  ignored,
  empty: new Set(),
  closed: new Set(),
  words: (kind) => words[kind] ?? `it holds ${shown(kind)}, which is not read`,
  looks: new Map<string, (value: Json) => Fault>([
    ["funcname", functionFault],
    ["typeName", typeFault],
    ["A_Expr", operatorFault],
    ["operName", symbolFault],
    ["indirection", indirectionFault],
    ["ColumnRef", columnFault(functionAliases(tree))],
  ]),
});

export function postgresFault(tree: Json): Fault {
  const stmts = member(tree, "stmts");
  if (!isArray(stmts) || stmts.length !== 1) return "it is not one statement";
  if (member(member(stmts[0], "stmt"), "SelectStmt") === undefined) return "it is no SELECT";
  return faultOfTree(grammar(tree), stmts);
}

/** Names of the catalogue, with its schema or without. */
function catalogued(value: Json): string | undefined {
  const parts = textsIn(value, "String", "sval");
  if (parts === undefined || parts.length > 2) return undefined;
  return parts.length === 2 && parts[0] !== "pg_catalog" ? undefined : parts.at(-1);
}

function called(value: Json): string {
  return shown((textsIn(value, "String", "sval") ?? ["a function"]).join("."));
}

function functionFault(value: Json): Fault {
  const name = catalogued(value);
  return name !== undefined && sqlFunctions.postgres.has(name) ? undefined : `it calls ${called(value)}`;
}

function typeFault(value: Json): Fault {
  const names = member(value, "names") ?? [];
  const name = catalogued(names);
  return name !== undefined && sqlTypes.has(name) ? undefined : `it casts to ${called(names)}`;
}

function operatorFault(value: Json): Fault {
  return symbolFault(member(value, "name") ?? []);
}

function symbolFault(value: Json): Fault {
  const [text, ...more] = textsIn(value, "String", "sval") ?? [];
  const plain = more.length === 0 && text?.split(" ").every((part) => postgresOperators.has(part)) === true;
  return plain ? undefined : "it uses an operator that is not listed";
}

/** `(value).name` calls the function of that name. */
function indirectionFault(value: Json): Fault {
  const plain = isArray(value) && value.every((one) => member(one, "A_Indices") !== undefined);
  return plain ? undefined : "it takes a part of a value by name";
}

/** Columns by the name of a function in FROM. Its row is a plain value where the function returns one. */
function functionAliases(tree: Json): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const range of nodesOf(tree, "RangeFunction")) {
    const alias = member(range, "alias");
    const columns = textsIn(member(alias, "colnames"), "String", "sval") ?? [];
    const own = nodesOf(member(range, "functions") ?? null, "FuncCall").flatMap(
      (call) => textsIn(member(call, "funcname"), "String", "sval")?.at(-1) ?? [],
    );
    for (const name of [stringMember(alias, "aliasname") ?? "", ...own]) found.set(name, [...columns, ...usual]);
  }
  return found;
}

/** Columns that functions of the list name themselves; none of them is a function. */
const usual = ["key", "value", "ordinality"];

/** `x.pg_sleep` of a function `x` in FROM calls `pg_sleep`. */
function columnFault(aliases: ReadonlyMap<string, readonly string[]>): (value: Json) => Fault {
  return (value) => {
    const fields = member(value, "fields");
    if (!isArray(fields) || fields.length < 2) return undefined;
    const [first, ...rest] = fields.map((field) => stringMember(member(field, "String"), "sval"));
    const columns = aliases.get(first ?? "");
    if (columns === undefined) return undefined;
    const plain = rest.length === 1 && (isObject(member(fields[1], "A_Star")) || columns.includes(rest[0] ?? ""));
    return plain ? undefined : "it takes a part of a function's value by name";
  };
}
