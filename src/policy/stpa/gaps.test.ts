import { describe, expect, it, test } from "vitest";
import {
  type Change,
  loadSmall,
  smallDocument,
  smallPolicy,
  smallText,
} from "../../../test/kit/policy/stpa-document.ts";
import type { Problem } from "../document/diagnostic.ts";
import { documentGaps } from "./gaps.ts";
import { policyGaps, proofGaps } from "./policy-gaps.ts";
import { proofResults } from "./proof-results.ts";

const said = (found: readonly Problem[]): readonly string[] =>
  found.map(({ code, severity, path, message }) => `${severity} ${code} ${path.join("/")}: ${message}`);

test("the small document has none", () => expect(documentGaps(smallDocument())).toEqual([]));

const rows: readonly (readonly [change: readonly Change[], code: string, path: string, message: string])[] = [
  [
    [["values: {", "values: {V2: quiet, "]],
    "SG-STPA-VALUE",
    "stakeholders/owner/values/V2",
    "no loss harms the value `V2`",
  ],
  [
    [["hazards:\n", "  L2: {says: x, harms: V1}\nhazards:\n"]],
    "SG-STPA-LOSS",
    "losses/L2",
    "no hazard leads to the loss `L2`",
  ],
  [
    [["control:", "  H2: {says: x, losses: L1}\ncontrol:"]],
    "SG-STPA-HAZARD",
    "hazards/H2",
    "no unsafe control action leads to the hazard `H2`",
  ],
  [
    [["  feedback:", "    A2: {by: agent, on: mail, does: waits}\n  feedback:"]],
    "SG-STPA-ACTION",
    "control/actions/A2",
    "covers the control action `A2`",
  ],
  [
    [["scenarios:", "  U2: {controller: agent, action: A1, form: not-provided, hazards: H1, context: c}\nscenarios:"]],
    "SG-STPA-UCA",
    "ucas/U2",
    "no requirement prevents `U2`",
  ],
  [
    [["  SR1:\n", "  SR2: {says: s, hazards: H1, tier: block, reason: r}\n  SR1:\n"]],
    "SG-STPA-REQUIREMENT",
    "requirements/SR2",
    "`SR2` has no property and no rule",
  ],
  [
    [["  SR1:\n", "  SR2: {says: s, tier: block, reason: r, rules: [{when: mail.send}]}\n  SR1:\n"]],
    "SG-STPA-AIMLESS",
    "requirements/SR2",
    "requirement `SR2` prevents nothing",
  ],
];

describe("a gap is", () => {
  it.each(rows)("%j", (changes, code, path, message) => {
    const [first, second] = documentGaps(smallDocument(...changes));
    expect(second).toBeUndefined();
    expect(first).toMatchObject({ code, severity: "warning", atKey: true });
    expect(first?.path.join("/")).toBe(path);
    expect(first?.message).toContain(message);
    expect(first?.remedy).not.toBe("");
  });

  it("none where another requirement makes it precise", () => {
    const wide = "  SR0: {says: s, hazards: H1, tier: block, reason: r}\n  SR1:\n    refines: SR0\n";
    expect(documentGaps(smallDocument(["  SR1:\n", wide]))).toEqual([]);
  });

  it("every later step, where only the first is done", () => {
    const bare = smallText.slice(0, smallText.indexOf("ucas:"));
    const document = smallDocument([smallText, bare]);
    expect(said(documentGaps(document)).map((line) => line.split(" ")[1])).toEqual([
      "SG-STPA-HAZARD",
      "SG-STPA-ACTION",
    ]);
  });
});

type Both = { readonly document?: readonly Change[]; readonly policy?: readonly Change[] };

function apart({ document = [], policy = [] }: Both): readonly string[] {
  const found = policyGaps(smallDocument(...document), smallPolicy(...policy), () => true);
  return [...said(found.inDocument), ...said(found.inPolicy)];
}

describe("a policy and its document", () => {
  it("agree", () => expect(apart({})).toEqual([]));

  it("agree however arguments are ordered and short forms are written", () => {
    const condition = "{tool: mail.send, arg: {to: {glob: x}, body: {glob: y}}}";
    const other = "{tool: [mail.send], arg: {body: {glob: [y]}, to: {glob: [x]}}}";
    const never = "{flow: {from: {confidentiality: private}, to: mail.send}}";
    expect(apart({ document: [[never, `{call: ${condition}}`]], policy: [[never, `{call: ${other}}`]] })).toEqual([]);
  });

  const hazard = "  H1: {loss: L1, consent: never, never: {flow: {from: {confidentiality: private}, to: mail.send}}}\n";
  const cases: readonly (readonly [name: string, both: Both, line: string])[] = [
    [
      "the loss is another",
      { policy: [["loss: L1", "loss: L2"]] },
      "SERVES hazards/H1/loss: hazard `H1` names the loss `L2`",
    ],
    [
      "a hazard serves nothing",
      { policy: [[hazard, `${hazard}  H9: {never: {call: mail.list}}\n`]] },
      "SERVES hazards/H9: hazard `H9` serves no loss",
    ],
    [
      "a rule serves what is not there",
      { policy: [["serves: SR1", "serves: [SR1, SR9, H1]"]] },
      "SERVES rules/R1/serves: rule `R1` serves `SR9`",
    ],
    [
      "the property is gone",
      { policy: [["  H1: {", "  H7: {"]] },
      "PROPERTY requirements/SR1/property: the policy has no hazard `H1`",
    ],
    [
      "the property says less",
      { policy: [["to: mail.send}}}\nrules", "to: mail.list}}}\nrules"]] },
      "PROPERTY requirements/SR1/property: the hazard `H1` of the policy says something else",
    ],
    [
      "the property may be consented to",
      { policy: [["consent: never", "consent: may"]] },
      "PROPERTY requirements/SR1/property: the hazard `H1`",
    ],
    [
      "nothing serves a requirement",
      {
        document: [
          [
            "property:\n      id: H1\n      consent: never\n      never: {flow: {from: {confidentiality: private}, to: mail.send}}\n    ",
            "",
          ],
        ],
        policy: [[", serves: SR1", ""]],
      },
      "UNSERVED requirements/SR1: no rule and no hazard of the policy serves requirement `SR1`",
    ],
    [
      "the tier is another",
      { policy: [["tier: block", "tier: confirm"]] },
      "TIER requirements/SR1/tier: requirement `SR1` chose the tier `block`",
    ],
  ];

  it.each(cases)("differ where %s", (_name, both, line) => {
    const found = apart(both);
    expect(found).toEqual([expect.stringContaining(`warning SG-STPA-${line}`)]);
  });

  it("differ only where the author of the policy wrote something", () => {
    const strange = smallPolicy(
      ["loss: L1", "loss: L2"],
      ["serves: SR1", "serves: SR9"],
      ["rules:\n", "rules:\n  - {id: R2, tier: block, when: mail.x, why: w, serves: SR1}\n"],
    );
    expect(policyGaps(smallDocument(), strange, () => false)).toEqual({ inDocument: [], inPolicy: [] });
  });

  it("a hazard with the name of one of the analysis needs no loss", () => {
    expect(apart({ policy: [["loss: L1, ", ""]] })).toEqual([]);
  });

  it("a gap in the policy has its place there", () => {
    const loaded = loadSmall(["loss: L1", "loss: L2"]);
    if (loaded.policy === undefined) throw new Error("the policy loads");
    const [first] = policyGaps(smallDocument(), loaded.policy, () => true).inPolicy.map(loaded.place);
    expect(first).toMatchObject({ file: "policy.yaml", line: 8, column: 8 });
  });

  it("documents without requirements differ in nothing", () => {
    const bare = smallDocument([smallText, smallText.slice(0, smallText.indexOf("requirements:"))]);
    expect(policyGaps(bare, smallPolicy(["serves: SR1", "serves: H1"]), () => true).inDocument).toEqual([]);
  });
});

describe("proofs", () => {
  const gapsFor = (report: object): readonly string[] => {
    const read = proofResults(JSON.parse(JSON.stringify(report)));
    return read.ok ? said(proofGaps(smallPolicy(), read.value)) : [read.error];
  };

  it.each(["proved given consent", "proved-given-consent"])("`%s` is one only where consent is possible", (verdict) => {
    const report = { properties: [{ id: "H1", verdict }] };
    expect(gapsFor(report)[0]).toContain("is prevented only by a question, and its consent is `never`");
    const read = proofResults(report);
    const asking = smallPolicy(["consent: never", "consent: may"]);
    expect(read.ok && proofGaps(asking, read.value)).toEqual([]);
  });

  it.each(["proved"])("`%s` is one", (verdict) => {
    expect(gapsFor({ properties: [{ id: "H1", verdict, enforcedBy: "rules" }] })).toEqual([]);
  });

  it.each([
    [{ properties: [] }, "the proof does not mention it"],
    [{ properties: [{ id: "H1", verdict: "refuted" }] }, "the proof says `refuted`"],
    [{ properties: [{ id: "H1", verdict: { kind: "unproved" } }] }, "the proof says `unproved`"],
    [{ properties: [{ id: "H1", verdict: "not proved" }] }, "the proof says `not proved`"],
    [{ properties: [{ id: "H1", verdict: { verdict: "vacuous" } }] }, "the proof says `vacuous`"],
    [{}, "it has no list `properties`"],
    [{ properties: [{ id: "H1", verdict: 7 }] }, "a property has no `id` or no `verdict`"],
    [{ properties: [{ verdict: "proved" }] }, "a property has no `id` or no `verdict`"],
    [{ properties: [{ id: "H1", verdict: {} }] }, "a property has no `id` or no `verdict`"],
    [{ properties: Array.from({ length: 10_001 }, () => 1) }, "it has more than 10000 properties"],
  ])("%j is none", (report, sentence) => expect(gapsFor(report)[0]).toContain(sentence));
});
