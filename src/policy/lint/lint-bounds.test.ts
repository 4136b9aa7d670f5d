import { describe, expect, it } from "vitest";
import { lintPolicy } from "./lint.ts";
import { loadPolicy } from "../load.ts";

const labels = `labels:
  mail.send: {effects: write.external.send, args: {to: recipient, body: {role: content, bound: public}}}
  mail.list: {effects: read.external}
  forum.post: {effects: write.external.send, args: {text: {role: content, bound: public}}}
  forum.tag: {effects: write.external.send, args: {text: {role: content, bound: public}}}
  forum.vote: {effects: write.external.send, args: {text: {role: content, bound: public}}}
`;

/** Rules that a policy is told of because they lift bounds, with the sentence. */
function lifting(rule: string, more = ""): readonly string[] {
  const text = `version: 1\nextends: []\n${labels}${more}\nrules: [{why: w, ${rule}}]\n`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash: (one) => one });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return lintPolicy(policy, {}, () => "")
    .filter(({ code }) => code === "SG-POLICY-LIFTS-BOUND")
    .map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("allow rules that lift bounds and readers", () => {
  it("regression: are told of, with the arguments", () => {
    expect(lifting("id: A, tier: allow, when: mail.send")).toEqual([
      "rules.A: rule `A` lifts the bounds and readers of `mail.send(body, to)`",
    ]);
    expect(lifting("id: A, tier: allow, when: {effect: write.external}")[0]).toContain(" and 1 more");
    expect(lifting('id: A, tier: allow, when: {tool: "*"}')).toHaveLength(1);
  });

  it("are not told of where they name data, where they only observe, and where nothing is bound or followed", () => {
    expect(lifting("id: A, tier: allow, when: {tool: mail.send, data: {confidentiality: public}}")).toEqual([]);
    expect(lifting("id: A, tier: allow, when: {tool: mail.send, held: {trust: trusted}}")).toEqual([]);
    expect(lifting("id: A, tier: allow, mode: observe, when: mail.send")).toEqual([]);
    expect(lifting("id: A, tier: confirm, when: mail.send")).toEqual([]);
    expect(lifting("id: A, tier: must, gate: {before: mail.send, need: mail.list}")).toEqual([]);
    expect(lifting("id: A, tier: allow, when: mail.list")).toEqual([]);
    expect(lifting("id: A, tier: allow, when: mail.send", "flow: {mode: none}")).toEqual([]);
  });
});
