import { describe, expect, it } from "vitest";
import { lintPolicy } from "./lint.ts";
import { loadPolicy } from "../load.ts";

/** What a policy of these rules, and whatever stands beside them, is warned of. */
function warned(rules: readonly string[], more = ""): readonly string[] {
  const text = `version: 1\nextends: []\n${more}\nrules:\n${rules.map((rule) => `  - {why: w, ${rule}}\n`).join("")}`;
  const { policy, diagnostics } = loadPolicy({ file: "p.yaml", text }, { loader: () => undefined, hash: (one) => one });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  const found = lintPolicy(policy, {}, () => "").filter(({ severity }) => severity === "warning");
  return found.map(({ code, path, message }) => `${code.slice(10)} ${path.join(".")}: ${message}`);
}

const gate = (id: string, before: string, need: string, rest = ""): string =>
  `id: ${id}, tier: must, gate: {before: ${before}, need: ${need}${rest}}`;

describe("gates that never open", () => {
  it("wait for a call that waits for them, alone or in a circle", () => {
    const own = "waits for a call that itself has to wait for";
    expect(warned([gate("G", "git.push", "git.push")])).toEqual([`ALWAYS-DENY rules.G: rule \`G\` ${own} it`]);
    // The call that is needed is one of those that wait.
    expect(warned([gate("G", '"git.*"', "git.test", ", key: {argument: path, form: path}")])).toHaveLength(1);
    expect(warned(["id: I, tier: must, immediately: {before: git.*, need: git.test}"])).toHaveLength(1);
    expect(warned([gate("A", "x.a", "x.b"), gate("B", "x.b", "x.c"), gate("C", "x.c", "x.a")])).toEqual([
      `ALWAYS-DENY rules.A: rule \`A\` ${own} \`B\`, and so on in a circle`,
      `ALWAYS-DENY rules.B: rule \`B\` ${own} \`C\`, and so on in a circle`,
      `ALWAYS-DENY rules.C: rule \`C\` ${own} \`A\`, and so on in a circle`,
    ]);
    const never = "hazards: {H: {loss: L, never: {unless: {call: x.a, need: x.a}}}}";
    expect(warned([gate("A", "x.b", "x.c")], never)).toEqual([`ALWAYS-DENY hazards.H: hazard \`H\` ${own} it`]);
  });

  it("are not those that open in the end, or may", () => {
    // One way in is enough for all that stand behind it.
    expect(warned([gate("A", "x.a", "x.b"), gate("B", "x.b", "x.c"), gate("C", "x.d", "x.a")])).toEqual([]);
    // Only some of the calls that are needed wait themselves.
    expect(warned([gate("G", "git.push", '"git.*"')])).toEqual([]);
    expect(warned([gate("G", "{tool: x.a, arg: {n: one}}", "x.a")])).toEqual([]);
    // What a tool does is often uncertain, and then a person may let the first call pass.
    expect(warned([gate("G", "{effect: write}", "{effect: write}")])).toEqual([]);
    expect(warned([`${gate("G", "x.a", "x.a")}, mode: observe`])).toEqual([]);
    expect(warned([gate("G", "x.a", "x.a")], "mode: observe")).toEqual([]);
    expect(warned([gate("G", "x.a", "x.a")], "servers: {y: {mode: observe}}")).toEqual([]);
    const asks = "hazards: {H: {loss: L, consent: may, never: {unless: {call: x.a, need: x.a}}}}";
    expect(warned([gate("A", "x.b", "x.c")], asks)).toEqual([]);
    // The gateway makes the call itself.
    const inject = (tool: string): string => `id: I, tier: must, inject: {before: x.b, call: {tool: ${tool}}}`;
    expect(warned([gate("G", "x.a", "x.a"), inject("x.a")])).toEqual([]);
    expect(warned([gate("G", "x.a", "x.a"), inject("x.c")])).toHaveLength(1);
    expect(warned([gate("G", "x.a", "{effect: read}"), inject("x.c")])).toEqual([]);
  });
});

describe("what another rule refuses by name", () => {
  const block = "id: B, tier: block, when: {tool: x.a}";

  it("says nothing in rules about its order and number", () => {
    for (const rule of [
      "tier: must, gate: {before: x.a, need: x.b}",
      "tier: must, immediately: {before: x.a, need: x.b}",
      "tier: must, inject: {before: x.a, call: {tool: x.b}}",
      "tier: block, absence: {after: x.b, never: x.a}",
      "tier: block, atMost: {of: x.a, count: 3}",
      "tier: block, exactlyOnce: {of: x.a, after: x.b}",
      "tier: block, budget: {of: x.a, argument: sum, limit: 9}",
      "tier: block, atMost: {of: {tool: x.a, arg: {n: one}}, count: 3}",
    ]) {
      expect(warned([block, `id: R, ${rule}`])).toEqual([
        "SHADOWED rules.R: rule `R` says nothing that `B` does not say more strictly",
      ]);
    }
  });

  it("never comes to what follows it", () => {
    for (const rule of [
      "tier: block, absence: {after: x.a, never: x.b, within: 10m}",
      "tier: must, owed: {after: x.a, owe: x.b, within: 2}",
      "tier: must, byEnd: {after: x.a, by: x.b, action: report}",
    ]) {
      expect(warned([block, `id: R, ${rule}`])).toEqual([
        "DEAD rules.R: rule `R` can never match: `B` refuses the call that it begins with",
      ]);
    }
  });

  it("but may speak where the other refuses some of them, or is unsure, or only observes", () => {
    const rule = "id: R, tier: block, absence: {after: x.a, never: x.b}";
    expect(warned([block, rule.replace("after: x.a", 'after: "x.*"')])).toEqual([]);
    expect(warned([block, `${rule}, mode: observe`])).toEqual([]);
    expect(warned([`${block}, mode: observe`, rule])).toEqual([]);
    expect(warned(["id: B, tier: confirm, when: {tool: x.a}", rule])).toEqual([]);
    expect(warned(["id: B, tier: block, when: {tool: x.a, effect: write}", rule])).toEqual([]);
    expect(warned(["id: B, tier: block, when: {tool: x.a, arg: {n: one}}", rule])).toEqual([]);
  });
});

describe("what can never be met", () => {
  it("is a call that another rule refuses", () => {
    const needs = (message: string): readonly string[] => [
      `ALWAYS-DENY rules.R: rule \`R\` needs a call that ${message}`,
    ];
    const block = "id: B, tier: block, when: {tool: x.b}";
    for (const rule of [
      "tier: must, gate: {before: x.a, need: x.b}",
      "tier: must, owed: {after: x.a, owe: x.b, within: 2}",
      "tier: must, byEnd: {after: x.a, by: x.b, action: report}",
    ])
      expect(warned([block, `id: R, ${rule}`])).toEqual(needs("`B` refuses"));
  });
});
