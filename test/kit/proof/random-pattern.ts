/** Arbitrary patterns, labels and keys for small policies; what they name must exist in the policy (`Names`). */
import fc from "fast-check";
import type {
  DataText,
  KeyText,
  LabelObject,
  PatternObject,
  StoreText,
} from "../../../src/policy/document/shapes-labels.ts";

/** What a policy declares, so that its parts can speak of it. */
export type Names = {
  readonly levels: readonly string[];
  readonly categories: readonly string[];
  /** Tools as `server.tool`. */
  readonly tools: readonly string[];
  readonly stores: readonly string[];
};

/** Arguments that tools may have and patterns may test. */
export const argumentNames = ["x", "y"] as const;

export const groups = ["me", "anyone"] as const;

/** Present with the given probability; absence comes first for shrinking. */
export function sometimes<T>(one: fc.Arbitrary<T>, { of }: { readonly of: number }): fc.Arbitrary<T | undefined> {
  const weight = Math.round(of * 100);
  return fc.oneof({ weight: 100 - weight, arbitrary: fc.constant(undefined) }, { weight, arbitrary: one });
}

/** Drops what is undefined, since a document says nothing by leaving out. */
export function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // Members without a value are gone from the object, which the type of `fromEntries` cannot say.
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

/** Label of a value: an output, a field, a store. */
export function valueLabel(names: Names): fc.Arbitrary<LabelObject> {
  const level = fc.constantFrom(...names.levels);
  return fc
    .record({
      confidentiality: fc.oneof(
        { weight: 6, arbitrary: level },
        { weight: 1, arbitrary: fc.constant("inferred") },
        { weight: 1, arbitrary: fc.constant("unsure") },
      ),
      categories: sometimes(fc.constant(names.categories), { of: 0.3 }),
      trust: fc.constantFrom("trusted", "trusted", "untrusted", "unsure"),
      readers: sometimes(fc.constantFrom<readonly string[]>(["me"], []), { of: 0.15 }),
    })
    .map(given);
}

/** Label in a pattern: one question of one side. */
export function atomLabel(names: Names): fc.Arbitrary<LabelObject> {
  const top = names.levels.at(-1) ?? "public";
  const some: fc.Arbitrary<LabelObject>[] = [
    fc.constant({ confidentiality: top }),
    fc.constant({ trust: "untrusted" }),
    fc.constantFrom<LabelObject>({ confidentiality: names.levels[0] ?? top, trust: "trusted" }, { readers: ["me"] }),
  ];
  if (names.categories.length > 0) some.push(fc.constant({ categories: names.categories }));
  return fc.oneof(...some);
}

export type Side = "restrict" | "permit";

export function dataText(names: Names): fc.Arbitrary<DataText> {
  return fc
    .record({
      label: atomLabel(names),
      where: fc.constantFrom<Omit<DataText, keyof LabelObject>>(
        {},
        {},
        { audience: ["anyone"] },
        { args: ["x"] },
        { roles: ["recipient"] },
        { roles: ["content"] },
      ),
    })
    .map(({ label, where }) => ({ ...label, ...where }));
}

function storeText(names: Names, side: Side): fc.Arbitrary<StoreText> {
  const name = fc.constantFrom(...names.stores);
  const labelled = fc.record({ name, label: atomLabel(names) });
  // Audiences only grow, so the language refuses them where something is permitted.
  return side === "permit" ? labelled : fc.oneof(labelled, fc.record({ name, audience: fc.constant("anyone") }));
}

/** A pattern: whom it is about, and mostly at most one condition more. */
export function pattern(names: Names, side: Side): fc.Arbitrary<PatternObject> {
  const tool = fc.constantFrom(...names.tools);
  const subject: fc.Arbitrary<PatternObject> = fc.oneof(
    { weight: 7, arbitrary: tool.map((one) => ({ tool: one })) },
    { weight: 1, arbitrary: fc.tuple(tool, tool).map((two) => ({ tool: two })) },
    {
      weight: 2,
      arbitrary: fc.constantFrom("write", "write.external", "read", "execute").map((effect) => ({ effect })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<PatternObject>({ flags: "irreversible" }, { flags: "open_world" }, { tool: "*" }),
    },
  );
  const conditions: fc.WeightedArbitrary<PatternObject>[] = [
    { weight: 8, arbitrary: fc.constant({}) },
    { weight: 4, arbitrary: dataText(names).map((data) => ({ data })) },
    { weight: 2, arbitrary: atomLabel(names).map((held) => ({ held })) },
    {
      weight: 2,
      arbitrary: fc.boolean().map((yes) => ({ arg: { x: yes ? { equals: "v" } : { not: { equals: "v" } } } })),
    },
    { weight: 1, arbitrary: fc.boolean().map((workspace) => ({ workspace })) },
    { weight: 1, arbitrary: atomLabel(names).map((label) => ({ arg: { y: { label } } })) },
  ];
  if (names.stores.length > 0) {
    conditions.push({ weight: 3, arbitrary: storeText(names, side).map((store) => ({ store })) });
  }
  return fc.tuple(subject, fc.oneof(...conditions)).map(([one, two]) => ({ ...one, ...two }));
}

/** The key of a rule or hazard; mostly the same one, since a rule of another key tells nothing about a hazard. */
export const keyText: fc.Arbitrary<KeyText> = fc.constantFrom<KeyText>(
  { argument: "x", form: "id", exact: true },
  { argument: "x", form: "id", exact: true },
  { argument: "x", form: "id", exact: false },
  "y",
);
