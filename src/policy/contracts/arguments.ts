/**
 * The contract of one argument. The operator's word stands; the word of a pack or an accepted reading and inference are joined with what the server
 * says of its own tool, which only restricts: a control role for content, a sink for none, more readers, a lower bound.
 */
import { type ArgumentContract, isControl, mayHaveRole, type ArgumentRole, type Role } from "../../core/contract.ts";
import { join, type Label } from "../../core/label.ts";
import type { ArgumentStatement, LabelTable, ToolStatement } from "../ir/label-table.ts";
import type { Evidence, Sourced } from "./statements.ts";

/** `name` undefined: an argument without a name of its own. `seen`: the audience of an argument without a statement. */
export function argumentOf(
  table: LabelTable,
  evidence: Evidence,
  name: string | undefined,
  seen: readonly string[] | undefined,
): ArgumentContract {
  const inferred = name === undefined ? undefined : evidence.inferred.arguments.get(name);
  const said = { believed: evidence.believed, own: statementOf(evidence.shipped, name), name };
  const role = roleOf(said, inferred?.role);
  const sink = isSink(said, seen);
  const audience = sink ? audienceOf(said, role, seen) : [];
  const { labels } = table;
  const type = partOf(said, "type")?.value;
  return {
    role,
    sink,
    audience: labels.groupBits(audience, []),
    forbidden: sink ? forbiddenAt(table, said, audience) : labels.lattice.bottom,
    schemaValues: evidence.schema ? (inferred?.schemaValues ?? []) : [],
    ...(type === undefined ? {} : { type }),
  };
}

/** All statements about one argument: of the operator, the pack, the accepted reading and the server. */
type Said = {
  readonly believed: readonly Sourced[];
  readonly own: ArgumentStatement | undefined;
  readonly name: string | undefined;
};

/** `rest` is about arguments that the same statement does not name. */
function statementOf(statement: ToolStatement | undefined, name: string | undefined): ArgumentStatement | undefined {
  return (name === undefined ? undefined : statement?.arguments.get(name)) ?? statement?.rest;
}

type Part<K extends keyof ArgumentStatement> = {
  readonly value: Exclude<ArgumentStatement[K], undefined>;
  /** The server's word does not touch it. */
  readonly final: boolean;
};

/** The most authoritative statement about one part. */
function partOf<K extends keyof ArgumentStatement>({ believed, name }: Said, part: K): Part<K> | undefined {
  for (const { source, statement } of believed) {
    const value: ArgumentStatement[K] | undefined = statementOf(statement, name)?.[part];
    // Excluding undefined from a generic index needs the compiler's word for what the test says.
    if (value !== undefined)
      return { value: value as Exclude<ArgumentStatement[K], undefined>, final: source === "operator" };
  }
  return undefined;
}

/** `content` is the mildest role: a server may state a control role in its place, and never the other way round. */
function roleOf(said: Said, inferred: Role | undefined): ArgumentRole {
  const stated = partOf(said, "role");
  const own = said.own?.role;
  const stricter = own !== undefined && isControl(own) ? own : undefined;
  if (stated === undefined) return stricter ?? inferred ?? "query";
  return stated.final || isControl(stated.value) ? stated.value : (stricter ?? stated.value);
}

/** A server may say that others see an argument; that they do not is no word of its own. */
function isSink(said: Said, seen: readonly string[] | undefined): boolean {
  const stated = partOf(said, "sink");
  if (stated?.final === true) return stated.value;
  const base = stated?.value ?? (seen !== undefined || partOf(said, "audience") !== undefined);
  return base || said.own?.sink === true;
}

function audienceOf(said: Said, role: ArgumentRole, seen: readonly string[] | undefined): readonly string[] {
  const stated = partOf(said, "audience");
  if (stated?.final === true) return stated.value;
  // A URL that the agent chose reaches the operator of that host, not only the server's operator.
  const reached =
    mayHaveRole(role, "destination") && seen !== undefined ? [...new Set([...seen, "anyone"])] : (seen ?? ["anyone"]);
  return [...new Set([...(stated?.value ?? reached), ...(said.own?.audience ?? [])])];
}

/** Restrictions that must not reach the audience: of the stated bound, else of its clearance, with the server's own bound. */
function forbiddenAt({ labels }: LabelTable, said: Said, audience: readonly string[]): Label {
  const stated = partOf(said, "bound");
  const base = stated === undefined ? labels.forbidden(undefined, audience, []) : stated.value(audience);
  const own = stated?.final === true ? undefined : said.own?.bound;
  return own === undefined ? base : join(base, own(audience));
}
