/** Small policies that have hazards and no rules, with hosts and channels that act by themselves more often than usual. */
import fc from "fast-check";
import type { HazardText } from "../../../../src/policy/document/shapes-rules.ts";
import type { HostSection } from "../../../../src/policy/sections/host.ts";
import type { PolicyDocument } from "../../../../src/policy/canonical/policy-document.ts";
import type { Subject } from "../../../../src/proof/prove/subject.ts";
import type { Names } from "../random-pattern.ts";
import { documents, hazardId, subjectOf } from "../random-policy.ts";
import { hazard, patternsOf } from "../random-rules.ts";

export type Named = { readonly document: PolicyDocument; readonly tools: readonly string[] };

function namesOf({ document, tools }: Named): Names {
  return {
    levels: document.lattice?.confidentiality ?? [],
    categories: document.lattice?.categories ?? [],
    tools,
    stores: Object.keys(document.stores ?? {}),
  };
}

function hosts(stores: readonly string[]): fc.Arbitrary<HostSection> {
  const gated = { weight: 3, arbitrary: fc.constant("gated" as const) };
  const open = { weight: 1, arbitrary: fc.constant("open" as const) };
  const some = stores.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constant({ open: stores }) }];
  return fc.record({
    send: fc.oneof(gated, open, { weight: 2, arbitrary: fc.constant({ open: "anyone" }) }),
    read: fc.oneof({ ...gated, weight: 8 }, open, ...some),
    execute: fc.oneof({ ...gated, weight: 12 }, open),
  });
}

/** Hazards that something uncontrollable can bring about, most of the time. */
function reaching(names: Names): fc.Arbitrary<HazardText> {
  const top = names.levels.at(-1) ?? "public";
  const from = fc.constantFrom<NonNullable<HazardText["never"]["flow"]>["from"]>(
    { confidentiality: top, audience: ["anyone"] },
    { confidentiality: top },
    { trust: "untrusted", audience: ["anyone"] },
    ...names.categories.map((category) => ({ categories: [category], audience: ["anyone"] })),
  );
  const to = fc.constantFrom({ effect: "write.external" }, { effect: "write.external.send" });
  const consent = fc.constantFrom("never" as const, "may" as const);
  const tool = fc.constantFrom(...names.tools);
  const within = fc.constantFrom("1m", "10m");
  const never: fc.Arbitrary<HazardText["never"]> = fc.oneof(
    { weight: 3, arbitrary: fc.record({ from, to }).map((flow) => ({ flow })) },
    // What outsiders and the host do is only fine for a while, or only until something has happened.
    { weight: 1, arbitrary: fc.record({ call: to, need: tool, within }).map((unless) => ({ unless })) },
    { weight: 1, arbitrary: fc.record({ after: tool, never: to }).map((sequence) => ({ sequence })) },
  );
  return fc.record({ consent, never });
}

/** Documents with one to three hazards, the first of which is called `h`. */
export const hazardDocuments: fc.Arbitrary<Named> = documents.chain((named) => {
  const names = namesOf(named);
  const any = patternsOf(names).chain((patterns) => hazard(names, patterns));
  const one = fc.oneof({ weight: 2, arbitrary: reaching(names) }, { weight: 3, arbitrary: any });
  return fc.record({ own: one, more: fc.array(one, { maxLength: 2 }), host: hosts(names.stores) }).map((parts) => {
    const hazards = Object.fromEntries(parts.more.map((more, index) => [`h${index + 2}`, more]));
    const { mode: _, ...document } = named.document;
    return {
      tools: named.tools,
      document: { ...document, rules: [], host: parts.host, hazards: { [hazardId]: parts.own, ...hazards } },
    };
  });
});

/** A policy whose labels are all certain: every contract says no more than its upper ends, which are then the truth. */
export function exactSubject({ document, tools }: Named): Subject | undefined {
  const subject = subjectOf(document, tools);
  if (subject === undefined) return undefined;
  const certain = <T extends { readonly hi: number; readonly lo: number }>(range: T): T => ({ ...range, lo: range.hi });
  const contracts = subject.contracts.map((one) => ({
    ...one,
    effects: { must: one.effects.may, may: one.effects.may },
    output: {
      label: certain(one.output.label),
      fields: one.output.fields.map((field) => ({ ...field, label: certain(field.label) })),
    },
    cases: one.cases.map((each) => ({
      ...each,
      ...(each.effects === undefined ? {} : { effects: { must: each.effects.may, may: each.effects.may } }),
      ...(each.output === undefined
        ? {}
        : {
            output: {
              label: certain(each.output.label),
              fields: each.output.fields.map((field) => ({ ...field, label: certain(field.label) })),
            },
          }),
    })),
  }));
  return { ...subject, contracts };
}
