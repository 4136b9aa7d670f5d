import { describe, expect, it } from "vitest";
import { sha256 } from "../../app/policy/policy-source.ts";
import { smallDocument, smallPolicyText, smallText } from "../../../test/kit/policy/stpa-document.ts";
import { defaultPolicy } from "../canonical/default-policy.ts";
import { loadPolicy } from "../load.ts";
import { compileStpa } from "./formal.ts";

const loader = (name: string) => {
  if (name === "default") return { file: "default", document: { ...defaultPolicy, extends: [] } };
  return name === "labels.yaml" ? { file: name, text: smallPolicyText } : undefined;
};

function loaded(text: string) {
  const found = loadPolicy({ file: "made.yaml", text }, { loader, hash: sha256 });
  if (found.policy === undefined) throw new Error(JSON.stringify(found.diagnostics));
  return found.policy.policy;
}

describe("the compiled text", () => {
  it("loads by itself, with the built-in labels", () => {
    const policy = loaded(compileStpa(smallDocument(), { file: "stpa.yaml" }));
    expect(policy.stpa).toBe("stpa.yaml");
    expect(policy.hazards["H1"]).toMatchObject({ loss: "L1", consent: "never", why: "no secret in a mail" });
    expect(policy.rules.find(({ id }) => id === "R1")).toMatchObject({
      tier: "block",
      why: "no secret in a mail",
      serves: ["SR1"],
    });
  });

  it("loads when laid over labels, and replaces hazards and rules of the same name", () => {
    const policy = loaded(compileStpa(smallDocument(), { file: "stpa.yaml", over: ["labels.yaml"] }));
    expect(Object.keys(policy.labels)).toEqual(["mail.list", "mail.send"]);
    expect(policy.rules.map(({ id, why }) => [id, why])).toEqual([["R1", "no secret in a mail"]]);
  });

  it("names what the document leaves unnamed", () => {
    const rules = "rules: [{when: mail.send, tier: confirm, why: own words}, {when: mail.list}]";
    const policy = loaded(
      compileStpa(
        smallDocument(["      id: H1\n", ""], [smallText.slice(smallText.indexOf("rules: [")), `${rules}\n`]),
        { file: "s" },
      ),
    );
    const own = policy.rules.filter(({ serves }) => serves.includes("SR1"));
    expect(own.map(({ id, tier, why }) => [id, tier, why])).toEqual([
      ["rule-SR1-1", "confirm", "own words"],
      ["rule-SR1-2", "block", "no secret in a mail"],
    ]);
    expect(policy.hazards["never-SR1"]).toMatchObject({ loss: "L1" });
    const single = compileStpa(smallDocument(["id: R1, ", ""]), { file: "s" });
    expect(single).toContain("id: rule-SR1\n");
  });

  it("has no loss where the requirement names no hazard", () => {
    const text = compileStpa(
      smallDocument(
        ["ucas: [U1]", "refines: SR0"],
        ["id: H1", "id: P1"],
        ["  SR1:\n", "  SR0: {says: s, tier: block, reason: r}\n  SR1:\n"],
      ),
      { file: "s" },
    );
    expect(loaded(text).hazards["P1"]?.loss).toBe("");
  });

  it("brings its own lattice", () => {
    const text = compileStpa(smallDocument(["stakeholders:", "lattice: {categories: [trade]}\nstakeholders:"]), {
      file: "s",
    });
    expect(loaded(text).lattice.categories).toContain("trade");
  });

  it("is nothing but a head where nothing is required", () => {
    const bare = smallDocument([smallText, smallText.slice(0, smallText.indexOf("requirements:"))]);
    expect(compileStpa(bare, { file: "s" })).toBe(
      "version: 1\nextends:\n  - default\nstpa: s\nhazards: {}\nrules: []\n",
    );
  });
});
