// The worked analyses: complete from stakeholders to proofs, and their own policies do what they say.
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { provenNow, provesWith, stpaFile } from "../../src/app/proof/for-stpa.ts";
import { loadFrom, sha256, shippedLoader } from "../../src/app/policy/policy-source.ts";
import { checkExpectations, judgeExpectation } from "../../src/app/policy/expectations.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { compileStpa, formalParts } from "../../src/policy/stpa/formal.ts";
import { ucaForms } from "../../src/policy/stpa/document.ts";
import { documentGaps } from "../../src/policy/stpa/gaps.ts";
import { htmlReport } from "../../src/policy/stpa/html.ts";
import { markdownReport, makeReport } from "../../src/policy/stpa/report.ts";
import { entriesOf } from "../../src/policy/stpa/names.ts";
import { policyGaps, proofGaps } from "../../src/policy/stpa/policy-gaps.ts";

const folder = resolve(import.meta.dirname, "../../examples/stpa");
const examples = readdirSync(folder).filter((name) => existsSync(join(folder, name, "stpa.yaml")));

function read(name: string) {
  const source = stpaFile(join(folder, name, "stpa.yaml"));
  if (!source.ok) throw new Error(JSON.stringify(source.error));
  const loaded = loadFrom(join(folder, name, "policy.yaml"));
  if (!loaded.ok || loaded.value.policy === undefined) throw new Error(JSON.stringify(loaded));
  return { document: source.value.document, policy: loaded.value.policy };
}

it("there are three", () => expect(examples).toEqual(["calendar", "coding", "support"]));

describe.each(examples)("%s", (name) => {
  const { document, policy } = read(name);
  const proofs = provenNow(policy, {});

  it("has no gaps, and neither has its policy", () => {
    expect(documentGaps(document)).toEqual([]);
    expect(policyGaps(document, policy, () => true)).toEqual({ inPolicy: [], inDocument: [] });
    expect(policy.policy.stpa).toBe("stpa.yaml");
  });

  it("is an analysis and no sketch", () => {
    const count = (section: object | undefined): number => Object.keys(section ?? {}).length;
    expect(count(document.losses)).toBeGreaterThanOrEqual(3);
    expect(count(document.hazards)).toBeGreaterThanOrEqual(4);
    expect(count(document.ucas)).toBeGreaterThanOrEqual(8);
    expect(count(document.requirements)).toBeGreaterThanOrEqual(6);
    expect(new Set(Object.values(document.ucas ?? {}).map(({ form }) => form))).toEqual(new Set(ucaForms));
    expect(new Set(Object.values(document.stakeholders).map(({ kind }) => kind))).toEqual(
      new Set(["direct", "indirect"]),
    );
  });

  it("is proved, without a person wherever nobody may consent, and not by itself", () => {
    expect(proofGaps(policy, proofs)).toEqual([]);
    // A hazard that no call could bring about would be proved by any policy.
    expect([...proofs.values()].filter(({ withoutRules }) => withoutRules)).toEqual([]);
  });

  it("has traces that pass, that ask and that are refused, and all hold", () => {
    const found = checkExpectations(policy);
    expect(found.filter(({ holds }) => !holds)).toEqual([]);
    expect(new Set(found.map(({ expected }) => expected))).toEqual(new Set(["allow", "confirm", "deny"]));
  });

  it("compiles to a policy that loads over its labels and keeps every promise", () => {
    const base = join(folder, name, "policy.yaml");
    const text = compileStpa(document, { file: "stpa.yaml", over: [base] });
    const made = loadPolicy({ file: join(folder, name, "made.yaml"), text }, { loader: shippedLoader, hash: sha256 });
    expect(made.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    if (made.policy === undefined) return;
    expect(proofGaps(made.policy, provenNow(made.policy, {}))).toEqual([]);
    expect(checkExpectations(made.policy).filter(({ holds }) => !holds)).toEqual([]);
    const ids = [...Object.keys(made.policy.policy.hazards), ...made.policy.policy.rules.map(({ id }) => id)];
    expect(ids.toSorted()).toEqual(
      formalParts(document)
        .map(({ id }) => id)
        .toSorted(),
    );
  });

  it("is reported whole, with the price of every tier", () => {
    const cost = { judge: judgeExpectation, proves: provesWith({}), hash: sha256 };
    const report = makeReport({ document, policy, proofs, gaps: [], cost });
    const plain = markdownReport(report).replaceAll("\\", "");
    for (const text of [plain, htmlReport(report)]) {
      for (const { id } of entriesOf(document)) {
        if (!Object.hasOwn(document.stakeholders, id) && !Object.hasOwn(document.control.controllers, id)) {
          if (!Object.hasOwn(document.control.processes ?? {}, id)) expect(text).toContain(id);
        }
      }
      for (const { id } of formalParts(document)) expect(text).toContain(id);
    }
    const tried = report.costs?.requirements ?? [];
    for (const { requirement, tiers, properties, rules } of tried) {
      const chosen = tiers.filter((tier) => tier.chosen);
      expect(chosen, requirement).toHaveLength(1);
      expect(rules.length).toBeGreaterThan(0);
      if (properties.length > 0) expect(chosen[0]?.proves, requirement).toBe(true);
    }
    // Leaving the rules out is not another way to the same promise: in each example it costs several proofs.
    const lost = tried.filter(({ tiers }) => tiers.some(({ tier, proves }) => tier === "none" && proves === false));
    expect(lost.length).toBeGreaterThanOrEqual(5);
  });
});

describe("the calendar agent of the paper", () => {
  const { policy } = read("calendar");

  it("leaks without rules and keeps quiet with them, while its safe trace passes", () => {
    const bare = loadPolicy(
      { file: "bare.yaml", document: { ...policy.policy, rules: [], expect: [] } },
      { loader: shippedLoader, hash: sha256 },
    );
    if (bare.policy === undefined) throw new Error(JSON.stringify(bare.diagnostics));
    expect(provesWith({})(bare.policy, ["H1"])).toBe(false);
    expect(provesWith({})(policy, ["H1"])).toBe(true);
    expect(provesWith({})(policy, ["nothing of this name"])).toBe(false);
    const safe = policy.policy.expect.find(
      ({ instruction }) => instruction === "move it to 3 pm and tell bob@example.com",
    );
    if (safe === undefined) throw new Error("the safe trace is there");
    expect(judgeExpectation(policy, safe)).toMatchObject({ verdict: "allow", prompts: 0 });
  });
});
