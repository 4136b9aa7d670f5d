import { describe, expect, it } from "vitest";
import { lintPolicy } from "./lint.ts";
import { loadPolicy } from "../load.ts";

/** What a policy with this is warned of that is about whose call it is. */
function warned(more: string): readonly string[] {
  const source = { file: "p.yaml", text: `version: 1\nextends: []\n${more}\n` };
  const { policy, diagnostics } = loadPolicy(source, { loader: () => undefined, hash: (one) => one });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return lintPolicy(policy, {}, () => "")
    .filter(({ code }) => code === "SG-POLICY-UNSCOPED")
    .map(({ path, message, remedy }) => `${path.join(".")}: ${message}; ${remedy}`);
}

const rule = (text: string): string => `rules: [{id: R, why: w, ${text}}]`;

describe("whose call it is that permits", () => {
  it("is asked where any server could offer the call under that name", () => {
    const anybody = "of any server, and each can list that name; say whose: `SERVER";
    const met = `is met by \`backup\` ${anybody}.backup\``;
    for (const text of [
      "tier: must, gate: {before: db.drop, need: backup}",
      "tier: must, immediately: {before: db.drop, need: backup}",
      "tier: must, owed: {after: db.drop, owe: backup, within: 3}",
      "tier: must, byEnd: {after: db.drop, by: backup, action: report}",
      "tier: block, absence: {after: mail.read, never: db.drop, until: backup}",
      "tier: block, exactlyOnce: {of: backup, after: db.drop}",
    ]) {
      expect(warned(rule(text)), text).toEqual([`rules.R: rule \`R\` ${met}`]);
    }
    const hazard = "hazards: {H: {loss: L, never: {unless: {call: db.drop, need: backup}}}}";
    expect(warned(hazard)).toEqual([`hazards.H: hazard \`H\` ${met}`]);
    const several = rule('tier: allow, when: {tool: ["save_*", db.read, "*.send"]}');
    expect(warned(several)).toEqual([
      `rules.R: rule \`R\` lets pass \`save_*\` ${anybody}.save_*\``,
      `rules.R: rule \`R\` lets pass \`send\` ${anybody}.send\``,
    ]);
  });

  it("is not asked of what refuses, nor where names do not matter", () => {
    for (const text of [
      "tier: block, when: drop",
      "tier: confirm, when: drop",
      "tier: must, gate: {before: drop, need: db.backup}",
      "tier: block, absence: {after: read, never: drop}",
      "tier: block, atMost: {of: drop, count: 1}",
      "tier: block, budget: {of: pay, argument: amount, limit: 9}",
      "tier: must, inject: {before: drop, call: {tool: db.backup}}",
      "tier: allow, when: {effect: read.local}",
      'tier: allow, when: {tool: "*", effect: read.local}',
    ]) {
      expect(warned(rule(text)), text).toEqual([]);
    }
    expect(
      warned(
        `servers: {db: {}}\nlabels: {db.backup: {effects: [read.local]}}\n${rule("tier: must, gate: {before: drop, need: backup}")}`,
      ),
    ).toEqual([]);
  });
});
