import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "./policy-document.ts";
import type { RuleText } from "../document/shapes-rules.ts";
import { loadPolicy } from "../load.ts";
import { replaced } from "./merge.ts";

const rule = (tier: RuleText["tier"], more: Partial<RuleText> = {}): PolicyDocument => ({
  version: 1,
  rules: [{ id: "R", tier, why: "w", when: "send", ...more }],
});
const hazard = (consent: "never" | "may" | undefined, mode?: "observe"): PolicyDocument => ({
  version: 1,
  hazards: {
    H: {
      never: { call: "send" },
      ...(consent === undefined ? {} : { consent }),
      ...(mode === undefined ? {} : { mode }),
    },
  },
});

describe("what a document replaces", () => {
  it.each([
    [rule("block"), rule("allow"), "warning"],
    [rule("block"), rule("confirm"), "warning"],
    [rule("confirm"), rule("allow"), "warning"],
    [rule("block"), rule("must"), "warning"],
    // A person may answer yes; what a must rule asks for has to happen.
    [rule("must"), rule("confirm"), "warning"],
    [rule("confirm"), rule("must"), "info"],
    [rule("block"), rule("block", { mode: "observe" }), "warning"],
    [rule("block"), rule("block", { when: "other" }), "info"],
    [rule("allow"), rule("block"), "info"],
    [rule("block", { mode: "observe" }), rule("block", { mode: "observe" }), "info"],
    // What only observed has stopped nothing, so whatever asks stops more; only an allow rule takes a question away.
    [rule("block", { mode: "observe" }), rule("confirm"), "info"],
    [rule("block", { mode: "observe" }), rule("allow"), "warning"],
    [rule("allow"), rule("allow", { mode: "observe" }), "info"],
    [hazard("never"), hazard("may"), "warning"],
    [hazard("may"), hazard("may", "observe"), "warning"],
    [hazard("may"), hazard("never"), "info"],
    [hazard("never", "observe"), hazard("may"), "info"],
    [hazard(undefined), hazard("may"), "warning"],
    [hazard("never"), hazard(undefined), "info"],
  ])("%j by %j: %s", (base, next, severity) => {
    expect(replaced(base, next)).toMatchObject([{ code: "SG-POLICY-REPLACES", severity }]);
  });

  it("says nothing of what it adds", () => {
    expect(replaced({ version: 1 }, { ...rule("allow"), ...hazard("may") })).toEqual([]);
    expect(replaced({ ...rule("block"), ...hazard("never") }, { version: 1 })).toEqual([]);
  });

  it.each([
    [
      rule("block"),
      rule("allow"),
      ["rules", 0, "id"],
      "the rule `R` takes the place of one that is extended, and stops less than it",
    ],
    [rule("allow"), rule("block"), ["rules", 0, "id"], "the rule `R` takes the place of one that is extended"],
    [
      hazard("never"),
      hazard("may"),
      ["hazards", "H"],
      "the hazard `H` takes the place of one that is extended, and stops less than it",
    ],
    [hazard("may"), hazard("never"), ["hazards", "H"], "the hazard `H` takes the place of one that is extended"],
  ])("%j by %j: says what, where, and what to do", (base, next, path, message) => {
    const remedy = "rename it to have both, or leave it so";
    expect(replaced(base, next)).toMatchObject([{ path, message, remedy }]);
  });

  it("has its place in the document that does it", () => {
    const base = "version: 1\nrules: [{id: R, tier: block, why: w, when: send}]\n";
    const text = "version: 1\nextends: [base]\nrules:\n  - {id: R, tier: allow, why: w, when: send}\n";
    const options = { loader: () => ({ file: "base.yaml", text: base }), hash: () => "" };
    const { diagnostics } = loadPolicy({ file: "p.yaml", text }, options);
    expect(diagnostics).toMatchObject([{ code: "SG-POLICY-REPLACES", severity: "warning", file: "p.yaml", line: 4 }]);
  });
});
