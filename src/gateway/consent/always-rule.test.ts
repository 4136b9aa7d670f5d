// The rule of `approve --always`: as narrow as a rule can be, or none.
import { describe, expect, it } from "vitest";
import { policyOf } from "../../../test/kit/gateway/real-policy.ts";
import type { Decision } from "../../core/decision.ts";
import { type Json, type JsonObject, member } from "../../core/json.ts";
import { alwaysRule } from "./always-rule.ts";

const policy = policyOf(
  "labels:\n  files.write: {effects: write.local, args: {path: {role: path}, mode: {role: identifier}, text: {role: content}}}\n",
);

type Asked = {
  readonly tool?: string;
  readonly server?: string;
  readonly codes?: readonly string[];
  readonly method?: string;
};

function ruleFor(given: JsonObject, { tool = "write", server = "files", codes, method = "tools/call" }: Asked = {}) {
  const contract = policy.contractOfTool(server, { name: tool });
  const reasons = (codes ?? ["SG-ASK-OUTSIDE"]).map((code) => ({
    mechanism: "x",
    code,
    verdict: "confirm",
    facts: {},
  }));
  const decision = { verdict: "confirm", reasons, obligations: [] } as unknown as Decision;
  const always = alwaysRule({ contract, arguments: given, method }, decision, () => "0123456789abcdef");
  return "rule" in always ? (JSON.parse(always.rule) as Json) : always.why;
}

describe("the narrowest rule", () => {
  it("names the tool of the server, and the value of each argument that steers the call", () => {
    expect(ruleFor({ path: "/srv/a", mode: "new", text: "hello" })).toEqual({
      id: "always-0123456789ab",
      tier: "allow",
      when: {
        tool: "files.write",
        arg: { path: { schema: { const: "/srv/a" } }, mode: { schema: { const: "new" } } },
      },
      why: "you approved this call for always",
    });
  });

  it("of an unlabelled tool fixes every argument that it was given", () => {
    const rule = ruleFor({ a: 1, b: { c: [true] } }, { tool: "do", codes: ["SG-ASK-UNLABELLED"] });
    const tests = { a: { schema: { const: 1 } }, b: { schema: { const: { c: [true] } } } };
    expect(member(member(rule as JsonObject, "when"), "arg")).toEqual(tests);
  });

  it.each<readonly [string, JsonObject, Asked]>([
    ["the question is about data", { path: "/a", mode: "x" }, { codes: ["SG-ASK-OUTSIDE", "SG-ASK-UNTRUSTED"] }],
    ["a hazard asks", { path: "/a", mode: "x" }, { codes: ["SG-HAZARD-ASK"] }],
    ["a rule of the operator asks", { path: "/a", mode: "x" }, { codes: ["SG-RULE-CONFIRM"] }],
    ["the gateway's own files are concerned", { path: "/a", mode: "x" }, { codes: ["SG-ASK-OWN"] }],
    ["nothing asks", { path: "/a", mode: "x" }, { codes: [] }],
    ["it is no call of a tool", { path: "/a", mode: "x" }, { method: "resources/read" }],
    ["the name would stand for others", {}, { tool: "do*" }],
    ["the name has blanks", {}, { tool: "do it" }],
    ["a listed argument is left out", { path: "/a" }, {}],
    ["a number is known by its digits alone", { path: JSON.rawJSON("12345678901234567890") as Json, mode: "x" }, {}],
    ["it would be too long to read", { path: "x".repeat(3_000), mode: "x" }, {}],
  ])("is not offered where %s", (_name, given, asked) => {
    expect(ruleFor(given, asked)).toMatch(/rule/i);
    expect(typeof ruleFor(given, asked)).toBe("string");
  });
});
