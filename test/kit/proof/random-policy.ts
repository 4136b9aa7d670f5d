/**
 * Arbitrary small policies with the contracts of their tools, through the same loader and compiler as any other policy.
 * They are meant to be small enough to enumerate, and to shrink to something that a person can read.
 */
import fc from "fast-check";
import { contractOfTool } from "../../../src/policy/contracts/contracts.ts";
import type { ArgumentObject, LatticeSection, ToolLabelsText } from "../../../src/policy/document/shapes-labels.ts";
import type { HazardText } from "../../../src/policy/document/shapes-rules.ts";
import type { HostSection } from "../../../src/policy/sections/host.ts";
import type { PolicyDocument, StoreSection } from "../../../src/policy/canonical/policy-document.ts";
import { loadPolicy } from "../../../src/policy/load.ts";
import { sha256, toolDigest } from "../../../src/app/policy/policy-source.ts";
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { type Names, argumentNames, given, groups, sometimes, valueLabel } from "./random-pattern.ts";
import { type Patterns, defence, hazard, patternsOf, ruleParts } from "./random-rules.ts";

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
        .oneof(fc.constant<readonly string[]>([]), fc.constant(["x"]), fc.subarray([...argumentNames]))
        .chain((some) => fc.record(Object.fromEntries(some.map((one) => [one, argument])))),
      rest: fc.constantFrom<ArgumentObject>({ role: "content", sink: false }, { role: "query", sink: false }),
      output,
      reads: use(0.4),
      writes: use(0.4),
      opens: sometimes(fc.tuple(store, fc.constantFrom(...groups, "anyone" as const)), { of: 0.35 }),
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
  categories: fc.constantFrom<readonly string[]>([], [], [], ["medical"]),
});

/** Documents of small policies, together with the names of their tools. */
export const documents: fc.Arbitrary<{ readonly document: PolicyDocument; readonly tools: readonly string[] }> = fc
  .record({
    lattice: lattices,
    tools: fc.integer({ min: 2, max: 3 }),
    outsider: sometimes(fc.boolean(), { of: 0.1 }),
    stores: fc.constantFrom(0, 0, 0, 1, 1, 1, 1, 1, 2),
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
    const parts = ([patterns, named]: readonly [Patterns, HazardText]) => {
      const rule = fc.oneof(
        { weight: 3, arbitrary: ruleParts(names, patterns) },
        { weight: 4, arbitrary: defence(names, patterns, named) },
      );
      return fc.record({
        labels: each(names.tools, toolLabels(names)),
        stores: each(names.stores, store),
        rules: fc.array(fc.tuple(rule, sometimes(fc.constant("observe" as const), { of: 0.05 })), { maxLength: 3 }),
        hazard: fc.constant(named),
        flow: fc.constantFrom("strict" as const, "provenance" as const, "provenance" as const, "none" as const),
        host: host(names),
        mode: sometimes(fc.constant("observe" as const), { of: 0.02 }),
      });
    };
    return patternsOf(names)
      .chain((patterns) => fc.tuple(fc.constant(patterns), hazard(names, patterns)))
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
