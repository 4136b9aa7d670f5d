import { describe, expect, it } from "vitest";
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { RuleForm } from "../../policy/document/long-form.ts";
import { lintQuestions, unlabelledLints } from "./lints.ts";
import type { HazardProof } from "./prove.ts";

const head = { why: "", serves: [], mode: "enforce" } as const;
const x = { tool: ["a.x"] };

function questions(...rules: readonly RuleForm[]) {
  // Only the rules are looked at.
  return lintQuestions({ rules } as unknown as CanonicalPolicy);
}

function proof(found: Partial<HazardProof>): HazardProof {
  // The members that a lint looks at; the others say what was asked.
  return { verdict: "refuted", givenConsent: false, without: { verdict: "refuted" }, ...found } as HazardProof;
}

const refusedBy = (...core: readonly string[]): HazardProof =>
  proof({ verdict: "proved", enforcedBy: "rules", givenConsent: true, core });

describe("questions about single rules", () => {
  it("a rule that no call matches is dead, one that others make pointless is shadowed", () => {
    const [asked] = questions({ ...head, id: "R", tier: "block", when: x });
    expect(asked?.without).toBe("R");
    expect(asked?.hazard.never).toEqual({ call: x });
    expect(asked?.lint(proof({ verdict: "vacuous" }))?.code).toBe("dead");
    expect(asked?.lint(proof({ verdict: "proved", without: { verdict: "proved" } }))?.code).toBe("dead");
    expect(asked?.lint(refusedBy("S"))).toMatchObject({
      code: "shadowed",
      about: "rule R",
      message: "it says nothing that S does not say",
    });
    expect(asked?.lint(proof({}))).toBeUndefined();
    expect(asked?.lint(proof({ verdict: "proved", givenConsent: false, core: ["S"] }))).toBeUndefined();
    const asking = proof({ verdict: "proved", enforcedBy: "consent", givenConsent: true, core: ["default"] });
    expect(asked?.lint(asking)).toBeUndefined();
  });

  it("of a rule that asks a program nothing can be known", () => {
    const predicate = { name: "f", source: "" };
    expect(questions({ ...head, id: "R", tier: "block", when: x, predicate })).toEqual([]);
  });

  it("a question that is always refused before is never put", () => {
    const [asked] = questions({ ...head, id: "R", tier: "confirm", when: x });
    expect(asked?.lint(refusedBy("S"))?.code).toBe("unreachable-question");
  });

  it("a demand for a call that cannot be made is locked", () => {
    const gate = { ...head, id: "G", tier: "must" as const, gate: { before: { tool: ["a.y"] }, need: x } };
    const owed = { ...head, id: "O", tier: "must" as const, owed: { after: { tool: ["a.y"] }, owe: x, within: 2 } };
    const end = {
      ...head,
      id: "E",
      tier: "must" as const,
      byEnd: { after: { tool: ["a.y"] }, by: x, action: "hold" as const },
    };
    const next = { ...head, id: "I", tier: "must" as const, immediately: { before: { tool: ["a.y"] }, need: x } };
    const [first, second, ...others] = questions(gate, owed, end, next);
    expect(others).toHaveLength(2);
    const unreachable = { ...refusedBy(), without: { verdict: "proved" } } as const;
    const messages = [proof({ verdict: "vacuous" }), unreachable, refusedBy("B", "C")].flatMap((found) =>
      [first, second].map((one) => one?.lint(found)?.message),
    );
    expect(messages).toEqual([
      "what it waits for never comes: no known tool offers it",
      "its debt can never be met: no known tool offers it",
      "what it waits for never comes: no call that can be made matches it",
      "its debt can never be met: no call that can be made matches it",
      "what it waits for never comes: it is always refused (B, C)",
      "its debt can never be met: it is always refused (B, C)",
    ]);
    expect(first?.lint(proof({}))).toBeUndefined();
    expect(first?.lint(proof({ verdict: "proved", enforcedBy: "consent", givenConsent: true }))).toBeUndefined();
  });

  it("allow rules, observed ones and limits raise no question", () => {
    expect(
      questions(
        { ...head, id: "A", tier: "allow", when: x },
        { ...head, id: "W", tier: "block", when: x, mode: "observe" },
        { ...head, id: "L", tier: "block", atMost: { of: x, count: 1 } },
      ),
    ).toEqual([]);
  });
});

describe("tools that nobody labelled", () => {
  it("are named, methods of the protocol are not", () => {
    const contract = (tool: string, source: string, toolDigest?: string) => ({ server: "s", tool, source, toolDigest });
    const contracts = [contract("a", "unknown", "d"), contract("b", "pack", "d"), contract("ping", "unknown")];
    // Only these members are looked at.
    expect(unlabelledLints({ contracts } as unknown as Parameters<typeof unlabelledLints>[0])).toEqual([
      expect.objectContaining({ code: "unlabelled", about: "tool s.a" }),
    ]);
  });
});
