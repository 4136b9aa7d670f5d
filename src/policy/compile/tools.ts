/** Labels of tools, packs and servers to the table that contracts are made from. */
import { given, mapped } from "../../core/given.ts";
import type { ArgumentForm, ToolLabelsForm } from "../document/long-form.ts";
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import { reportStore, splitSelector } from "../document/names.ts";
import type {
  ArgumentStatement,
  LabelEntry,
  LabelTable,
  PackTable,
  ServerFacts,
  ToolStatement,
} from "../ir/label-table.ts";
import { type DocumentPath, problem, quoted } from "../document/diagnostic.ts";
import { suggestion } from "../document/nearest.ts";
import { compileCases, compileOutput, fieldTypes } from "./cases.ts";
import { labelTies } from "./label-ties.ts";
import * as readings from "../sections/readings.ts";
import { type Scope, wantWhole } from "./patterns.ts";

export function compileTools(policy: CanonicalPolicy, scope: Scope): LabelTable {
  const entries: LabelEntry[] = Object.entries(policy.labels).map(([selector, form]) => ({
    ...splitSelector(selector),
    statement: compileStatement(form, ["labels", selector], scope),
  }));
  const ranked = Object.entries(policy.labels).map(([selector, form]) => {
    const names = splitSelector(selector);
    return { ...names, selector, form, rank: specificity(names) };
  });
  for (const tie of labelTies(ranked)) scope.report(tie);
  const packs = new Map<string, PackTable>();
  for (const [name, pack] of Object.entries(policy.packs)) {
    const tools = Object.entries(pack.labels).map(
      ([tool, form]) => [tool, compileStatement(form, ["packs", name, "labels", tool], scope)] as const,
    );
    const digests = new Map(Object.entries(pack.digests));
    packs.set(name, { name, reach: pack.reach, digests, tools: new Map(tools) });
  }
  const read = (policy.readings ?? []).map((one): readonly [string, ToolStatement] => {
    const path = ["readings", readings.readingKey(one)];
    const form = readings.believed(one, path, scope.report);
    return [readings.readingKey(one), compileStatement(form, [...path, "label"], scope)];
  });
  return {
    labels: scope.labels,
    entries: entries.toSorted((left, right) => specificity(right) - specificity(left)),
    packs,
    readings: new Map(read),
    servers: compileServers(policy, scope),
    stores: new Map(Object.entries(policy.stores).map(([name, store]) => [name, store.audience])),
    ...(policy.admission?.labels === "none" ? { unshipped: true as const } : {}),
    processes: new Map(),
  };
}

/** A literal name says more than a wildcard, and a literal tool more than a literal server. */
function specificity(entry: Pick<LabelEntry, "server" | "tool">): number {
  const literal = (name: string): number => (name.includes("*") ? 0 : 1);
  return (
    1_000 * (2 * literal(entry.tool) + literal(entry.server)) + Math.min(999, entry.tool.length + entry.server.length)
  );
}

function compileServers(policy: CanonicalPolicy, scope: Scope): ReadonlyMap<string, ServerFacts> {
  const found = new Map<string, ServerFacts>();
  for (const [name, server] of Object.entries(policy.servers)) {
    if (server.operator !== undefined) scope.labels.groupBits([server.operator], ["servers", name, "operator"]);
    if (server.pack !== undefined && !Object.hasOwn(policy.packs, server.pack)) {
      const message = `there is no label pack ${quoted(server.pack)}`;
      const remedy = suggestion(server.pack, Object.keys(policy.packs), "name a shipped pack, or leave `pack` out");
      scope.report(problem("PACK", ["servers", name, "pack"], message, remedy));
    }
    const { trust, operator, reach, pack, mode } = server;
    found.set(name, { trust, operator, reach, pack, mode: mode ?? "enforce" });
  }
  return found;
}

export function compileStatement(form: ToolLabelsForm, path: DocumentPath, scope: Scope): ToolStatement {
  const output = mapped(form.output, (text) => compileOutput(text, [...path, "output"], scope));
  const { effects } = form;
  const stores = (form.reads ?? []).flatMap((name) => scope.initial.get(name) ?? []);
  const named = Object.entries(form.args ?? {}).map(
    ([name, argument]) => [name, compileArgument(argument, [...path, "args", name], scope)] as const,
  );
  for (const store of [
    ...(form.reads ?? []),
    ...(form.writes ?? []),
    ...(form.opens ?? []).map((open) => open.store),
  ]) {
    if (scope.stores.includes(store)) continue;
    reportStore(store, path, scope);
  }
  const types = fieldTypes([form.output, ...(form.cases ?? []).map((one) => one.output)]);
  for (const open of form.opens ?? []) scope.labels.groupBits(open.audience, [...path, "opens"]);
  return given<ToolStatement>({
    arguments: new Map(named),
    effects,
    flags: mapped(form.flags, (flags) => ({
      irreversible: flags.includes("irreversible"),
      openWorld: flags.includes("open_world"),
    })),
    rest: mapped(form.rest, (rest) => compileArgument(rest, [...path, "rest"], scope)),
    output,
    cases: mapped(form.cases, (cases) => compileCases(cases, { output, effects, stores, path }, scope)),
    reads: form.reads,
    writes: form.writes,
    opens: form.opens,
    types: types.length === 0 ? undefined : types,
  });
}

function compileArgument(form: ArgumentForm, path: DocumentPath, scope: Scope): ArgumentStatement {
  const { bound, role, sink, audience, type } = form;
  const name = path.at(-1);
  if (typeof name === "string") wantWhole(name, path, scope);
  if (audience !== undefined) scope.labels.groupBits(audience, [...path, "audience"]);
  // Compiled once here so that a wrong word is reported with its place; used again for each audience.
  if (bound !== undefined) scope.labels.forbidden(bound, [], [...path, "bound"]);
  return given<ArgumentStatement>({
    role,
    sink,
    audience,
    type,
    bound: mapped(
      bound,
      (most) => (groups: readonly string[]) => scope.labels.forbidden(most, groups, [...path, "bound"]),
    ),
  });
}
