/** A change of a small STPA document or its policy for each finding, and the word that its sentence must name. */
import { sha256 } from "../../src/app/policy/policy-source.ts";
import type { Diagnostic } from "../../src/policy/document/diagnostic.ts";
import { diagnose } from "../../src/policy/document/parse.ts";
import { documentGaps } from "../../src/policy/stpa/gaps.ts";
import { stpaEntriesMax } from "../../src/policy/stpa/document.ts";
import { policyGaps, proofGaps } from "../../src/policy/stpa/policy-gaps.ts";
import { readStpa } from "../../src/policy/stpa/read.ts";
import { type Change, changed, loadSmall, smallSource, smallText } from "../kit/policy/stpa-document.ts";

export type StpaRow = { readonly code: string; readonly names: string; readonly produce: () => readonly Diagnostic[] };

/** What reading says of a changed document, or checking it where it reads. */
function inDocument(...changes: readonly Change[]): readonly Diagnostic[] {
  const read = readStpa(changed(smallText, ...changes), "stpa.yaml", sha256);
  return read.ok ? documentGaps(read.value.document).map((found) => diagnose(found, read.value)) : read.error;
}

/** What checking says where the policy was changed. */
function inPolicy(...changes: readonly Change[]): readonly Diagnostic[] {
  const source = smallSource();
  const loaded = loadSmall(...changes);
  if (loaded.policy === undefined) return loaded.diagnostics;
  const apart = policyGaps(source.document, loaded.policy, () => true);
  return [
    ...apart.inDocument.map((found) => diagnose(found, source)),
    ...[...apart.inPolicy, ...proofGaps(loaded.policy, new Map())].map(loaded.place),
  ];
}

const row = (code: string, names: string, produce: StpaRow["produce"]): StpaRow => ({
  code: `SG-STPA-${code}`,
  names,
  produce,
});

const scenarios = Array.from({ length: stpaEntriesMax }, (_, index) => `  X${index}: {ucas: U1, cause: c}\n`).join("");
const property =
  "    property:\n      id: H1\n      consent: never\n      never: {flow: {from: {confidentiality: private}, to: mail.send}}\n";

export const stpaRows: readonly StpaRow[] = [
  row("REFERENCE", "L7", () => inDocument(["losses: L1", "losses: L7"])),
  row("ID", "U1", () => inDocument(["S1: {ucas", "U1: {ucas"])),
  row("CYCLE", "SR1", () => inDocument(["tier: block", "refines: SR1\n    tier: block"])),
  row("CONTROLLER", "A1", () => inDocument(["controller: agent", "controller: owner-here"])),
  row("SIZE", "scenarios", () => inDocument(["  S1: {", `${scenarios}  S1: {`])),
  row("VALUE", "V2", () => inDocument(["values: {", "values: {V2: quiet, "])),
  row("LOSS", "L2", () => inDocument(["hazards:\n", "  L2: {says: x, harms: V1}\nhazards:\n"])),
  row("HAZARD", "H2", () => inDocument(["control:", "  H2: {says: x, losses: L1}\ncontrol:"])),
  row("ACTION", "A2", () => inDocument(["  feedback:", "    A2: {by: agent, on: mail, does: waits}\n  feedback:"])),
  row("UCA", "U1", () => inDocument(["ucas: [U1]", "hazards: H1"])),
  row("AIMLESS", "SR2", () => inDocument(["  SR1:\n", "  SR2: {says: s, tier: block, reason: r}\n  SR1:\n"])),
  row("REQUIREMENT", "SR1", () =>
    inDocument(
      [property, ""],
      ["    rules: [{id: R1, when: {tool: mail.send, data: {confidentiality: private}}}]\n", ""],
    ),
  ),
  row("SERVES", "L2", () => inPolicy(["loss: L1", "loss: L2"])),
  row("PROPERTY", "H1", () => inPolicy(["  H1: {", "  H7: {"])),
  row("UNSERVED", "SR1", () => inPolicy(["  H1: {", "  H7: {"], [", serves: SR1", ""])),
  row("TIER", "SR1", () => inPolicy(["tier: block", "tier: confirm"])),
  row("PROOF", "H1", () => inPolicy()),
];
