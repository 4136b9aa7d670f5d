import { describe, expect, it, vi } from "vitest";
import { judgeExpectation } from "../../app/policy/expectations.ts";
import { sha256 } from "../../app/policy/policy-source.ts";
import { type Change, smallDocument, smallPolicy } from "../../../test/kit/policy/stpa-document.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type Proves, requirementCosts } from "./cost.ts";
import { judgementsMax } from "./document.ts";

const noProof: Proves = () => undefined;
const options = { judge: judgeExpectation, proves: noProof, hash: sha256 };

function tiers(document: readonly Change[], policy: readonly Change[]): readonly string[] {
  const { requirements } = requirementCosts(smallDocument(...document), smallPolicy(...policy), options);
  return requirements.flatMap(({ requirement, tasks, attacks, tiers: tried }) =>
    tried.map(
      (one) =>
        `${requirement} ${one.tier}${one.chosen ? "!" : ""} ${one.autonomous}/${tasks} prompts ${one.prompts} asking ${one.asking} stopped ${one.stopped} attacks ${one.attacksStopped}+${one.attacksAsked}/${attacks}`,
    ),
  );
}

describe("what a requirement costs", () => {
  it("stands beside what it buys, for each tier", () => {
    expect(tiers([], [])).toEqual([
      "SR1 block! 1/1 prompts 0 asking 0 stopped 0 attacks 1+0/1",
      "SR1 confirm 1/1 prompts 0 asking 0 stopped 0 attacks 0+1/1",
      // Without the rule the default of every policy still asks.
      "SR1 none 1/1 prompts 0 asking 0 stopped 0 attacks 0+1/1",
    ]);
  });

  it("counts questions and tasks that are stopped", () => {
    const all: Change = ["when: {tool: mail.send, data: {confidentiality: private}}", "when: mail.send"];
    expect(
      tiers([["tier: block", "tier: confirm"]], [all, ["tier: block", "tier: confirm"], [", by: R1", ""]]).slice(0, 2),
    ).toEqual([
      "SR1 block 0/1 prompts 0 asking 0 stopped 1 attacks 1+0/1",
      "SR1 confirm! 0/1 prompts 1 asking 1 stopped 0 attacks 1+0/1",
    ]);
  });

  it("of a must is compared with nothing else than its absence", () => {
    const gate: Change = [
      "tier: block, when: {tool: mail.send, data: {confidentiality: private}}",
      "tier: must, gate: {before: mail.send, need: mail.list}",
    ];
    expect(tiers([], [gate, [", by: R1", ""]]).map((line) => line.split(" ")[1])).toEqual(["must", "none"]);
  });

  it("of several forms keeps musts and limits as they are", () => {
    const more: Change = [
      "rules:\n",
      `rules:
  - {id: R2, tier: must, gate: {before: mail.send, need: mail.list}, why: w, serves: SR1}
  - {id: R3, tier: block, atMost: {of: mail.send, count: 0}, why: w, serves: SR1}
  - {id: R4, tier: confirm, when: mail.none, why: w, serves: SR9}
`,
    ];
    const seen: string[] = [];
    const judge = (policy: CompiledPolicy) => {
      seen.push(policy.policy.rules.map(({ id, tier }) => `${id} ${tier}`).join(", "));
      return { verdict: "allow", prompts: 0 } as const;
    };
    requirementCosts(smallDocument(["tier: block", "tier: allow"]), smallPolicy(more), { ...options, judge });
    expect([...new Set(seen)]).toEqual([
      "R1 block, R2 must, R3 block, R4 confirm",
      "R1 confirm, R2 must, R3 confirm, R4 confirm",
      "R4 confirm",
    ]);
    seen.length = 0;
    requirementCosts(
      smallDocument(["tier: block", "tier: must"], ["{id: R1,", "{id: R1, tier: block,"]),
      smallPolicy(more),
      { ...options, judge },
    );
    expect(seen[2]).toBe("R1 block, R2 must, R3 block, R4 confirm");
    seen.length = 0;
    const wide: Change = [
      "tier: block, when: {tool: mail.send, data: {confidentiality: private}}",
      "tier: confirm, when: mail.send",
    ];
    requirementCosts(smallDocument(["tier: block", "tier: allow"]), smallPolicy(wide, [", by: R1", ""]), {
      ...options,
      judge,
    });
    expect(seen[0]).toBe("R1 confirm");
  });

  it("is not known of a requirement that no rule serves", () => {
    expect(tiers([], [[", serves: SR1", ""]])).toEqual([]);
  });

  it("is left out where too many traces would have to be judged", () => {
    const trace = "  - {trace: [mail.list], verdict: allow}\n";
    const many: Change = ["expect:\n", `expect:\n${trace.repeat(judgementsMax / 2)}`];
    const judge = vi.fn(() => ({ verdict: "allow", prompts: 0 }) as const);
    const found = requirementCosts(smallDocument(), smallPolicy(many), { ...options, judge });
    expect(found).toEqual({ requirements: [], notComputed: ["SR1"] });
    expect(judge).not.toHaveBeenCalled();
  });

  it("says which tiers still prove the property, under the policy with its hazard in force", () => {
    const proves: Proves = (policy, properties) => {
      expect(properties).toEqual(["H1"]);
      expect(policy.policy.hazards["H1"]?.mode).toBe("enforce");
      return policy.policy.rules.some(({ tier }) => tier === "block");
    };
    const [cost] = requirementCosts(smallDocument(), smallPolicy(), { ...options, proves }).requirements;
    expect(cost?.tiers.map(({ tier, proves: held }) => [tier, held])).toEqual([
      ["block", true],
      ["confirm", false],
      ["none", false],
    ]);
  });

  it("asks for no proof where there is no property", () => {
    const proves = vi.fn(noProof);
    const bare: Change = [
      "property:\n      id: H1\n      consent: never\n      never: {flow: {from: {confidentiality: private}, to: mail.send}}\n    ",
      "",
    ];
    requirementCosts(smallDocument(bare), smallPolicy(), { ...options, proves });
    expect(proves).not.toHaveBeenCalled();
  });
});
