/**
 * Arbitrary small policies with the contracts of their tools, through the same loader and compiler as any other policy.
 * They are meant to be small enough to enumerate, and to shrink to something that a person can read.
 */
import fc from "fast-check";
import { contractOfTool } from "../../../src/policy/contracts.ts";
import type {
  ArgumentObject,
  HazardText,
  HostSection,
  LatticeSection,
  NeverText,
  PatternObject,
  PolicyDocument,
  RuleText,
  StoreSection,
  ToolLabelsText,
} from "../../../src/policy/document.ts";
import { loadPolicy } from "../../../src/policy/load.ts";
import { sha256, toolDigest } from "../../../src/cli/policy-source.ts";
import type { Subject } from "../../../src/proof/subject.ts";
import type { Names } from "./random-pattern.ts";
import { argumentNames, dataText, given, groups, keyText, pattern, sometimes, valueLabel } from "./random-pattern.ts";

/** The hazard that every random policy has. */
export const hazardId = "h";

function toolLabels(names: Names): fc.Arbitrary<ToolLabelsText> {
  const effect = fc.constantFrom<ToolLabelsText["effects"]>(
    "read.local",
    "read.local",
    "read.external",
    "write.local",
    "write.local",
    "write.external.send",
    "write.external",
    "write.local.pay",
    "execute.local",
    { must: ["read.local"], may: ["read.local", "write.external"] },
  );
  const argument: fc.Arbitrary<ArgumentObject> = fc
    .record({
      role: fc.constantFrom("content", "recipient", "query", "identifier"),
      sink: sometimes(fc.boolean(), { of: 0.3 }),
      bound: sometimes(fc.constant(names.levels[0] ?? "public"), { of: 0.2 }),
      audience: sometimes(fc.constantFrom(...groups), { of: 0.2 }),
    })
    .map(given);
  const label = valueLabel(names);
  const fields = sometimes(fc.record({ "/f": label }), { of: 0.2 });
  const output = fc.tuple(label, fields).map(([whole, parts]) => given({ ...whole, fields: parts }));
  const store = names.stores.length === 0 ? fc.constant(undefined) : fc.constantFrom(...names.stores);
  const use = (of: number): fc.Arbitrary<string | undefined> => sometimes(store, { of }).map((one) => one ?? undefined);
  return fc
    .record({
      effects: effect,
      flags: sometimes(fc.constantFrom<ToolLabelsText["flags"]>(["irreversible"], ["open_world"]), { of: 0.15 }),
      args: fc
        .subarray([...argumentNames])
        .chain((some) => fc.record(Object.fromEntries(some.map((one) => [one, argument])))),
      rest: fc.constantFrom<ArgumentObject>({ role: "content", sink: false }, { role: "query", sink: false }),
      output,
      reads: use(0.35),
      writes: use(0.35),
      opens: sometimes(fc.tuple(store, fc.constantFrom(...groups)), { of: 0.2 }),
      cased: sometimes(fc.boolean(), { of: 0.15 }),
    })
    .map(({ opens, cased, ...rest }) => {
      const [opened, audience] = opens ?? [undefined, undefined];
      return given({
        ...rest,
        opens: opened === undefined || audience === undefined ? undefined : { store: opened, audience },
        cases: cased === undefined ? undefined : casesOf(names, cased),
      });
    });
}

/** Where `x` is `v`, the tool gives, or does, more than the rest of its labels say; or the label of its result is mild. */
function casesOf(names: Names, more: boolean): ToolLabelsText["cases"] {
  const when = { arg: { x: { equals: "v" } } };
  const top = { confidentiality: names.levels.at(-1) ?? "public", categories: names.categories, readers: [] };
  return more
    ? [{ when, output: { ...top, trust: "untrusted" } }]
    : [{ when, output: { confidentiality: "inferred", trust: "inferred" } }];
}

const within = sometimes(fc.constantFrom("1m", "10m"), { of: 0.35 });
const key = sometimes(keyText, { of: 0.2 });

/** Patterns of a policy, by how they are read. Most are of a small pool, so that rules and the hazard have to do with each other. */
type Patterns = { readonly r: fc.Arbitrary<PatternObject>; readonly p: fc.Arbitrary<PatternObject> };

function patternsOf(names: Names): fc.Arbitrary<Patterns> {
  return fc.array(pattern(names, "permit"), { minLength: 2, maxLength: 3 }).map((pool) => {
    const own = { weight: 5, arbitrary: fc.constantFrom(...pool) };
    return {
      r: fc.oneof(own, { weight: 2, arbitrary: pattern(names, "restrict") }),
      p: fc.oneof(own, { weight: 1, arbitrary: pattern(names, "permit") }),
    };
  });
}

function ruleParts(names: Names, { r, p }: Patterns): fc.Arbitrary<Omit<RuleText, "id" | "why">> {
  const limit = fc.constantFrom("block" as const, "confirm" as const);
  const maybe = sometimes(r, { of: 0.25 });
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ tier: limit, when: r }) },
    { weight: 2, arbitrary: fc.record({ tier: fc.constant("allow" as const), when: p }) },
    {
      weight: 3,
      arbitrary: fc
        .record({ before: r, need: p, unless: maybe, within, key })
        .map((gate) => ({ tier: "must" as const, gate: given(gate) })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(limit, fc.record({ after: r, never: r, until: sometimes(p, { of: 0.3 }), within, key }))
        .map(([tier, absence]) => ({ tier, absence: given(absence) })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(limit, fc.record({ of: r, count: fc.integer({ min: 1, max: 2 }), within, key }))
        .map(([tier, atMost]) => ({ tier, atMost: given(atMost) })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({ of: r, after: maybe, key })
        .map((exactlyOnce) => ({ tier: "block" as const, exactlyOnce: given(exactlyOnce) })),
    },
    {
      weight: 2,
      arbitrary: fc.record({ tier: fc.constant("must" as const), immediately: fc.record({ before: r, need: p }) }),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ after: r, owe: p, within: fc.integer({ min: 1, max: 3 }), before: maybe })
        .map((owed) => ({ tier: "must" as const, owed: given(owed) })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({ before: r, call: fc.constantFrom(...names.tools).map((tool) => ({ tool })) })
        .map((inject) => ({ tier: "must" as const, inject })),
    },
    {
      weight: 1,
      arbitrary: fc
        .record({ after: r, by: p, action: fc.constantFrom("hold" as const, "report" as const) })
        .map((byEnd) => ({ tier: "must" as const, byEnd })),
    },
    {
      weight: 1,
      arbitrary: r.map((of) => ({ tier: "block" as const, budget: { of, argument: "x", limit: "10" } })),
    },
  );
}

function hazard(names: Names, { r, p }: Patterns): fc.Arbitrary<HazardText> {
  const count = fc.integer({ min: 1, max: 2 });
  const never: fc.Arbitrary<NeverText> = fc.oneof(
    { weight: 5, arbitrary: fc.record({ from: dataText(names), to: r }).map((flow) => ({ flow })) },
    { weight: 2, arbitrary: r.map((call) => ({ call })) },
    {
      weight: 2,
      arbitrary: fc
        .record({ after: r, never: r, until: sometimes(p, { of: 0.3 }), within, key })
        .map((sequence) => ({ sequence: given(sequence) })),
    },
    {
      weight: 2,
      arbitrary: fc.record({ call: r, need: p, within, key }).map((unless) => ({ unless: given(unless) })),
    },
    { weight: 2, arbitrary: fc.record({ of: r, count, within, key }).map((atMost) => ({ atMost: given(atMost) })) },
  );
  return fc.record({ consent: fc.constantFrom("never" as const, "may" as const), never });
}

function host(names: Names): fc.Arbitrary<HostSection> {
  const gated = { weight: 8, arbitrary: fc.constant("gated" as const) };
  const open = { weight: 1, arbitrary: fc.constant("open" as const) };
  const stores = names.stores.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constant({ open: names.stores }) }];
  return fc.record({
    send: fc.oneof(gated, open, { weight: 1, arbitrary: fc.constant({ open: "anyone" }) }),
    read: fc.oneof(gated, open, ...stores),
    execute: fc.oneof({ ...gated, weight: 16 }, open),
  });
}

const lattices: fc.Arbitrary<LatticeSection> = fc.record({
  confidentiality: fc.constantFrom<readonly string[]>(["public", "private"], ["public", "private"], ["public"]),
  categories: fc.constantFrom<readonly string[]>([], [], ["medical"]),
});

/** Documents of small policies, together with the names of their tools. */
export const documents: fc.Arbitrary<{ readonly document: PolicyDocument; readonly tools: readonly string[] }> = fc
  .record({
    lattice: lattices,
    tools: fc.integer({ min: 2, max: 4 }),
    outsider: sometimes(fc.boolean(), { of: 0.1 }),
    stores: fc.integer({ min: 0, max: 2 }),
  })
  .chain(({ lattice, tools: count, outsider, stores: storeCount }) => {
    const own = ["a", "b", "c", "d"].slice(0, count).map((tool) => `s.${tool}`);
    const names: Names = {
      levels: lattice.confidentiality ?? [],
      categories: lattice.categories ?? [],
      tools: outsider === undefined ? own : [...own, "o.e"],
      stores: ["box", "log"].slice(0, storeCount),
    };
    const store: fc.Arbitrary<StoreSection> = fc
      .record({ audience: fc.constantFrom("me", "me", "anyone"), label: sometimes(valueLabel(names), { of: 0.7 }) })
      .map(given);
    const each = <T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
      fc.record(Object.fromEntries(keys.map((one) => [one, value])));
    const parts = (patterns: Patterns) =>
      fc.record({
        labels: each(names.tools, toolLabels(names)),
        stores: each(names.stores, store),
        rules: fc.array(fc.tuple(ruleParts(names, patterns), rarely("observe" as const, 12)), { maxLength: 4 }),
        hazard: hazard(names, patterns),
        flow: fc.constantFrom("strict" as const, "provenance" as const, "provenance" as const, "none" as const),
        host: host(names),
        mode: rarely("observe" as const, 25),
      });
    return patternsOf(names)
      .chain(parts)
      .map(({ rules, hazard: one, flow, mode, ...rest }) => ({
        tools: names.tools,
        document: {
          version: 1 as const,
          lattice,
          servers: {
            s: { trust: "trusted" as const },
            o: { mode: outsider === true ? ("observe" as const) : ("enforce" as const) },
          },
          hazards: { [hazardId]: one },
          rules: rules.map(([rule, observed], index) => ({
            ...rule,
            id: `r${index}`,
            why: "it is said so",
            ...(observed === undefined ? {} : { mode: observed }),
          })),
          flow: { mode: flow },
          ...(mode === undefined ? {} : { mode }),
          ...rest,
        },
      }));
  });

function rarely<T>(value: T, oneIn: number): fc.Arbitrary<T | undefined> {
  return fc
    .option(fc.constant(value), { nil: undefined, freq: 1 })
    .chain((found) =>
      found === undefined
        ? fc.constant(undefined)
        : fc.nat({ max: oneIn }).map((n) => (n === oneIn ? found : undefined)),
    );
}

/** Loads a document as the command line would; undefined where it is no policy. */
export function subjectOf(document: PolicyDocument, tools: readonly string[]): Subject | undefined {
  const { policy } = loadPolicy({ file: "random", document }, { loader: () => undefined, hash: sha256 });
  if (policy === undefined) return undefined;
  const contracts = tools.map((selector) => {
    const [server = "", name = ""] = selector.split(".");
    return contractOfTool(policy.table, server, { name }, toolDigest);
  });
  return { policy, contracts };
}

/** Ids that a core may have: the enforced rules that restrict, the default, and the bounds it looks at. */
export function coreOf(subject: Subject): readonly string[] {
  const enforced = subject.policy.ir.rules.filter(({ mode, tier }) => mode === "enforce" && tier !== "allow");
  return [...enforced.map(({ id }) => id), "default", "bounds"];
}
