/** Arbitrary rules and hazards; most rules of a policy are made from its hazard, so that they have to do with each other. */
import fc from "fast-check";
import type { HazardText, NeverText, RuleText } from "../../../src/policy/document/shapes-rules.ts";
import type { PatternObject, PatternText } from "../../../src/policy/document/shapes-labels.ts";
import { type Names, atomLabel, dataText, given, keyText, pattern, sometimes } from "./random-pattern.ts";

const within = sometimes(fc.constantFrom("1m", "10m"), { of: 0.35 });
const key = sometimes(keyText, { of: 0.2 });

export type RuleParts = Omit<RuleText, "id" | "why">;

/** Patterns of a policy, by how they are read. Most are of a small pool, so that rules and the hazard have to do with each other. */
export type Patterns = { readonly r: fc.Arbitrary<PatternObject>; readonly p: fc.Arbitrary<PatternObject> };

export function patternsOf(names: Names): fc.Arbitrary<Patterns> {
  return fc.array(pattern(names, "permit"), { minLength: 2, maxLength: 3 }).map((pool) => {
    const own = { weight: 5, arbitrary: fc.constantFrom(...pool) };
    return {
      r: fc.oneof(own, { weight: 2, arbitrary: pattern(names, "restrict") }),
      p: fc.oneof(own, { weight: 1, arbitrary: pattern(names, "permit") }),
    };
  });
}

/** Any rule. */
export function ruleParts(names: Names, { r, p }: Patterns): fc.Arbitrary<RuleParts> {
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
        .record({ after: r, by: p, action: fc.constantFrom("hold" as const, "report" as const), key })
        .map((byEnd) => ({ tier: "must" as const, byEnd: given(byEnd) })),
    },
    {
      weight: 1,
      arbitrary: r.map((of) => ({ tier: "block" as const, budget: { of, argument: "x", limit: "10" } })),
    },
  );
}

/** Any hazard. */
export function hazard(names: Names, { r, p }: Patterns): fc.Arbitrary<HazardText> {
  const count = fc.integer({ min: 1, max: 2 });
  const never: fc.Arbitrary<NeverText> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ from: dataText(names), to: r }).map((flow) => ({ flow })) },
    { weight: 3, arbitrary: leak(names).map((flow) => ({ flow })) },
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

/** Data that others come to know: what an opened store leads to. */
function leak(names: Names): fc.Arbitrary<NonNullable<NeverText["flow"]>> {
  return fc.record({
    from: atomLabel(names).map((label) => ({ ...label, audience: ["anyone"] })),
    to: fc.constantFrom(
      { effect: "write.external" },
      { effect: "write.external.share" },
      { flags: "open_world" as const },
    ),
  });
}

/** A rule that has to do with a hazard: the hazard itself as a rule, or something near it that may not quite do. */
export function defence(names: Names, { r, p }: Patterns, { never }: HazardText): fc.Arbitrary<RuleParts> {
  const limit = fc.constantFrom("block" as const, "confirm" as const);
  const block = (when: fc.Arbitrary<PatternObject>): fc.Arbitrary<RuleParts> => fc.record({ tier: limit, when });
  const must = fc.constant("must" as const);
  const until = sometimes(p, { of: 0.3 });
  const { flow, call, sequence, unless, atMost } = never;
  if (flow !== undefined) {
    const to = objectOf(flow.to);
    const from = fc.oneof(fc.constant(flow.from), dataText(names));
    return fc.oneof(
      block(from.map((data) => ({ ...to, data }))),
      block(atomLabel(names).map((held) => ({ ...to, held }))),
      ...(names.stores.length === 0 ? [] : [block(channelGuard(names))]),
      fc.record({ before: fc.constant(to), need: p, unless: sometimes(r, { of: 0.5 }), within }).map(gate),
      fc.tuple(limit, r).map(([tier, after]) => ({ tier, absence: { after, never: to } })),
    );
  }
  if (sequence !== undefined) {
    const { after, never: second } = sequence;
    const same = sequence.key === undefined ? {} : { key: sequence.key };
    return fc.oneof(
      fc
        .record({ until, within })
        .map((more) => ({ tier: "block" as const, absence: { after, never: second, ...same, ...given(more) } })),
      fc
        .tuple(must, p, fc.integer({ min: 1, max: 2 }))
        .map(([tier, owe, n]) => ({ tier, owed: { after, owe, before: second, within: n } })),
      block(fc.constant(objectOf(second))),
    );
  }
  if (unless !== undefined) {
    const { call: before, need } = unless;
    const same = unless.key === undefined ? {} : { key: unless.key };
    const tool = fc.constantFrom(...names.tools);
    return fc.oneof(
      fc.record({ unless: sometimes(r, { of: 0.3 }), within }).map((more) => gate({ before, need, ...same, ...more })),
      must.map((tier) => ({ tier, immediately: { before, need } })),
      fc.tuple(must, tool).map(([tier, one]) => ({ tier, inject: { before, call: { tool: one } } })),
      must.map((tier) => ({ tier, byEnd: { after: before, by: need, action: "hold" as const, ...same } })),
    );
  }
  if (atMost !== undefined) {
    const { of } = atMost;
    const same = atMost.key === undefined ? {} : { key: atMost.key };
    return fc.oneof(
      fc
        .record({ count: fc.integer({ min: 1, max: 3 }), within })
        .map((more) => ({ tier: "block" as const, atMost: { of, ...same, ...given(more) } })),
      fc.constant({ tier: "block" as const, exactlyOnce: { of, ...same } }),
      fc.record({ before: fc.constant(of), need: p, unless: fc.constant(of), within }).map(gate),
      fc.tuple(limit, until).map(([tier, one]) => ({ tier, absence: given({ after: of, never: of, until: one }) })),
    );
  }
  const whole = objectOf(call ?? {});
  return fc.oneof(
    fc.record({ before: fc.constant(whole), need: p, unless: sometimes(r, { of: 0.5 }), within }).map(gate),
    block(dataText(names).map((data) => ({ ...whole, data }))),
    block(fc.constant(whole)),
  );
}

/** Against a store that holds something and is read by others: at the write, or at the grant. */
function channelGuard(names: Names): fc.Arbitrary<PatternObject> {
  const name = fc.constantFrom(...names.stores);
  const tool = fc.constantFrom(...names.tools);
  return fc.oneof(
    fc
      .record({ tool, name, data: dataText(names) })
      .map(({ name: store, ...rest }) => ({ ...rest, store: { name: store, audience: "anyone" } })),
    fc.record({ tool, name, label: atomLabel(names) }).map(({ tool: one, ...store }) => ({ tool: one, store })),
  );
}

type Gate = { readonly [K in keyof NonNullable<RuleText["gate"]>]: NonNullable<RuleText["gate"]>[K] | undefined };

function gate(parts: Gate): RuleParts {
  // What is required stands in every call of this function; only optional parts can be undefined.
  return { tier: "must", gate: given(parts) as NonNullable<RuleText["gate"]> };
}

function objectOf(text: PatternText): PatternObject {
  return typeof text === "string" ? { tool: text } : isList(text) ? { tool: text } : text;
}

function isList(text: PatternText): text is readonly string[] {
  return Array.isArray(text);
}
