/** Small policies with debts and tools to keep, whose rules follow no keys and whose labels are certain. */
import fc from "fast-check";
import type { KeepText, RuleText } from "../../../../src/policy/document/shapes-rules.ts";
import type { PolicyDocument } from "../../../../src/policy/canonical/policy-document.ts";
import { given, sometimes } from "../random-pattern.ts";
import { documents } from "../random-policy.ts";
import type { Named } from "./random-hazards.ts";

/** The document with no keys, and with labels that are certain: what a tool may do it does, what may be restricted is. */
function plain(document: PolicyDocument): PolicyDocument {
  const top = document.lattice?.confidentiality?.at(-1) ?? "public";
  const text = JSON.stringify(document, (name, value: unknown) => {
    if (name === "key") return undefined;
    if (name === "effects" && typeof value === "object" && value !== null && "may" in value) return value.may;
    if (value !== "unsure") return value;
    return name === "trust" ? "untrusted" : top;
  });
  return JSON.parse(text) as PolicyDocument; // what was a document is one with other words in the same places
}

export const goalDocuments: fc.Arbitrary<Named> = documents.chain(({ document, tools }) => {
  const tool = fc.constantFrom(...tools);
  const debt = fc
    .record({
      after: tool,
      owe: tool,
      within: fc.integer({ min: 1, max: 2 }),
      before: sometimes(tool, { of: 0.3 }),
    })
    .map((owed): RuleText => ({ id: "debt", tier: "must", owed: given(owed), why: "it is owed" }));
  const keep = tool.map((one): KeepText => ({ trace: [one], firm: true }));
  return fc
    .record({ debt: sometimes(debt, { of: 0.6 }), keep: sometimes(keep, { of: 0.5 }), rules: fc.nat({ max: 2 }) })
    .map((parts) => {
      const { mode: _, ...base } = plain(document);
      const rules = (base.rules ?? []).slice(0, parts.rules);
      return {
        tools,
        document: {
          ...base,
          rules: parts.debt === undefined ? rules : [...rules, parts.debt],
          ...(parts.keep === undefined ? {} : { keep: [parts.keep] }),
        },
      };
    });
});
