/** Labels of tools, packs and servers to the table that contracts are made from. */
import type { ContractCase, OutputContract } from "../../core/contract.ts";
import { covers, everyEffect, mayCover } from "../../core/effect.ts";
import type { EffectRange } from "../../core/effect.ts";
import { atMost } from "../../core/label.ts";
import type {
  ArgumentForm,
  CanonicalPolicy,
  CaseForm,
  EffectsForm,
  LabelForm,
  OutputForm,
  ToolLabelsForm,
} from "../canonical/form.ts";
import { splitSelector } from "../canonical/names.ts";
import type {
  ArgumentStatement,
  LabelEntry,
  LabelTable,
  PackTable,
  ServerFacts,
  ToolStatement,
} from "../contracts/table.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { problem, quoted } from "../diagnostic.ts";
import { suggestion } from "../language/nearest.ts";
import { labelTies } from "./label-ties.ts";
import type { Polarity } from "./labels.ts";
import type { Scope } from "./patterns.ts";
import { predicateOf, wantWhole } from "./patterns.ts";

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
  return {
    labels: scope.labels,
    entries: entries.toSorted((left, right) => specificity(right) - specificity(left)),
    packs,
    servers: compileServers(policy, scope),
    stores: new Map(Object.entries(policy.stores).map(([name, store]) => [name, store.audience])),
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
      const remedy = suggestion(server.pack, Object.keys(policy.packs));
      scope.report(problem("PACK", ["servers", name, "pack"], message, remedy));
    }
    const { trust, operator, reach, pack, mode } = server;
    found.set(name, { trust, operator, reach, pack, mode: mode ?? "enforce" });
  }
  return found;
}

export function compileStatement(form: ToolLabelsForm, path: DocumentPath, scope: Scope): ToolStatement {
  const output = form.output === undefined ? undefined : compileOutput(form.output, [...path, "output"], scope);
  const effects = form.effects === undefined ? undefined : compileEffects(form.effects);
  const named = Object.entries(form.args ?? {}).map(
    ([name, argument]) => [name, compileArgument(argument, [...path, "args", name], scope)] as const,
  );
  for (const store of [
    ...(form.reads ?? []),
    ...(form.writes ?? []),
    ...(form.opens ?? []).map((open) => open.store),
  ]) {
    if (scope.stores.includes(store)) continue;
    scope.report(
      problem("STORE", path, `${quoted(store)} is no declared store`, `declare it: ${suggestion(store, scope.stores)}`),
    );
  }
  for (const open of form.opens ?? []) scope.labels.groupBits(open.audience, [...path, "opens"]);
  return {
    arguments: new Map(named),
    ...(effects === undefined ? {} : { effects }),
    ...(form.flags === undefined
      ? {}
      : { flags: { irreversible: form.flags.includes("irreversible"), openWorld: form.flags.includes("open_world") } }),
    ...(form.rest === undefined ? {} : { rest: compileArgument(form.rest, [...path, "rest"], scope) }),
    ...(output === undefined ? {} : { output }),
    ...(form.cases === undefined ? {} : { cases: compileCases(form.cases, { output, effects, path }, scope) }),
    ...(form.reads === undefined ? {} : { reads: form.reads }),
    ...(form.writes === undefined ? {} : { writes: form.writes }),
    ...(form.opens === undefined ? {} : { opens: form.opens }),
  };
}

function compileEffects(form: EffectsForm): EffectRange {
  return { must: form.must, may: form.may };
}

function compileArgument(form: ArgumentForm, path: DocumentPath, scope: Scope): ArgumentStatement {
  const { bound, role, sink, audience } = form;
  const name = path.at(-1);
  if (typeof name === "string") wantWhole(name, path, scope);
  if (audience !== undefined) scope.labels.groupBits(audience, [...path, "audience"]);
  // Compiled once here so that a wrong word is reported with its place; used again for each audience.
  if (bound !== undefined) scope.labels.forbidden(bound, [], [...path, "bound"]);
  return {
    ...(role === undefined ? {} : { role }),
    ...(sink === undefined ? {} : { sink }),
    ...(audience === undefined ? {} : { audience }),
    ...(bound === undefined
      ? {}
      : { bound: (groups: readonly string[]) => scope.labels.forbidden(bound, groups, [...path, "bound"]) }),
  };
}

export function compileOutput(form: OutputForm, path: DocumentPath, scope: Scope): OutputContract {
  const { fields, ...label } = form;
  const compiled = Object.entries(fields ?? {}).map(([pointer, field]) => {
    const { from, ...own } = field;
    const range = scope.labels.range(own, [...path, "fields", pointer]);
    return { pointer, label: range, ...(from === undefined ? {} : { from }) };
  });
  return { label: scope.labels.range(spoken(label), path), fields: compiled };
}

/** `output: {fields: ...}` alone says nothing of the rest of the result, which is then unknown. */
function spoken(label: LabelForm): LabelForm {
  return Object.keys(label).length === 0 ? { confidentiality: "unsure", trust: "unsure" } : label;
}

type Base = {
  readonly output: OutputContract | undefined;
  readonly effects: EffectRange | undefined;
  readonly path: DocumentPath;
};

/**
 * A case either raises or lowers what holds without it. One that raises holds if any leaf fits or the argument is
 * absent; one that lowers holds only if every leaf fits. So neither a mixed list nor a missing argument gets the
 * milder label.
 */
function compileCases(cases: readonly CaseForm[], base: Base, scope: Scope): readonly ContractCase[] {
  const compiled: ContractCase[] = [];
  for (const [index, form] of cases.entries()) {
    const path = [...base.path, "cases", index];
    const output = form.output === undefined ? undefined : compileOutput(form.output, [...path, "output"], scope);
    const effects = form.effects === undefined ? undefined : compileEffects(form.effects);
    const polarity = polarityOf({ output, effects }, base);
    const [first, ...others] = Object.entries(form.when.arg);
    if (first === undefined || others.length > 0) {
      scope.report(
        problem("CASE", [...path, "when"], "a case tests exactly one argument", "split it into several cases"),
      );
    } else if (polarity === undefined) {
      const message = "the case neither only raises nor only lowers the labels outside it";
      scope.report(problem("CASE", path, message, "make its output and effects both stricter, or both milder"));
    } else {
      const [argument, test] = first;
      const predicate = predicateOf(argument, test, { polarity, path: [...path, "when", "arg", argument] }, scope);
      compiled.push({
        predicate,
        ...(output === undefined ? {} : { output }),
        ...(effects === undefined ? {} : { effects }),
      });
    }
  }
  return compiled;
}

function polarityOf(
  found: { readonly output: OutputContract | undefined; readonly effects: EffectRange | undefined },
  base: Base,
): Polarity | undefined {
  const below = base.effects ?? { must: [], may: everyEffect };
  const raises =
    (found.output === undefined || base.output === undefined || isAbove(found.output, base.output)) &&
    (found.effects === undefined || within(below, found.effects));
  if (raises && !(base.output === undefined && found.output !== undefined)) return "restrict";
  const lowers =
    (found.output === undefined || base.output === undefined || isAbove(base.output, found.output)) &&
    (found.effects === undefined || within(found.effects, below));
  return lowers ? "permit" : undefined;
}

/** Whatever a pattern finds in the one it finds in the other; an effect without a reach (`write`) is all its longer forms. */
function within(left: EffectRange, right: EffectRange): boolean {
  const forms = left.may.flatMap((effect) =>
    effect.includes(".") ? [effect] : everyEffect.filter((form) => covers(effect, form)),
  );
  return forms.every((form) => mayCover(form, right.may));
}

/**
 * Every part of the one result is labelled at least as high as in the other. Where both do not name the same fields, a
 * part of the one may lie in any part of the other. Naming the arguments that reach a field excludes all others from it.
 */
function isAbove(high: OutputContract, low: OutputContract): boolean {
  const named = new Map(low.fields.map((field) => [field.pointer, field]));
  const reached = high.fields.every(({ pointer, from }) => {
    const others = named.get(pointer)?.from;
    return from === undefined || others?.every((name) => from.includes(name)) === true;
  });
  const same = high.fields.length === named.size && high.fields.every(({ pointer }) => named.has(pointer));
  const lows = [low.label, ...low.fields.map(({ label }) => label)];
  const parts = [{ pointer: undefined, label: high.label }, ...high.fields];
  return (
    reached &&
    parts.every(({ pointer, label }) => {
      const own = pointer === undefined ? low.label : named.get(pointer)?.label;
      return (same && own !== undefined ? [own] : lows).every(({ hi }) => atMost(hi, label.hi));
    })
  );
}
